import {
  ACCOUNT,
  act,
  button,
  call,
  el,
  form,
  leave,
  load,
  name,
  note,
  Refusal,
  rowsOf,
  safeAddress,
  say,
  showNext,
  shown,
  showWays,
} from './common.js'

const token = takeToken()

// the link opened again in the same tab changes the fragment alone
addEventListener('hashchange', () => location.reload())

load(async () => {
  if (!token) throw new Refusal(0, 'This link holds no invitation. Open the link of the invitation again.')
  await showWays({
    verb: 'Accept and sign in with',
    pick: connection => act(() => acceptWith(connection)),
    above: el('p', {}, 'You were invited to use this gateway. Accept the invitation to become a member.'),
    below: acceptForm,
  })
})

/** The secret of the link. It leaves the address, and so the history and what a screen shows. */
function takeToken() {
  const found = new URLSearchParams(location.hash.slice(1)).get('token')
  history.replaceState(null, '', location.pathname + location.search)
  return found?.startsWith('gi-') ? found : null
}

async function acceptWith(connection) {
  const body = {connection: connection.id, invite_token: token, return_to: ACCOUNT}
  const {location} = await call('/v2/auth/login', {method: 'POST', body})
  await leave(location)
}

function acceptForm() {
  const fields = [
    {id: 'first_name', label: 'First name (optional)', autocomplete: 'given-name', maxlength: '100'},
    {id: 'last_name', label: 'Last name (optional)', autocomplete: 'family-name', maxlength: '100'},
  ]
  const accept = async values => {
    const names = Object.entries(values).map(([key, value]) => [key, value.trim() || undefined])
    try {
      const body = {token, ...Object.fromEntries(names)}
      showKeys(await call('/v1/invites/accept', {method: 'POST', body}))
    } catch (fault) {
      const href = safeAddress(fault.data?.login_url)
      if (!href) throw fault
      say(`${fault.message} The organisation wants its own sign-in. `, el('a', {href}, 'Sign in there'))
    }
  }
  const heading = el('h2', {id: 'without'}, 'Without single sign-on')
  return el('section', {'aria-labelledby': 'without'}, heading, form(fields, 'Accept without single sign-on', accept))
}

function showKeys({api_keys}) {
  const keys = rowsOf(api_keys)
  const few = 'These are your keys. They are shown once only: copy them now, and keep them secret.'
  showNext(
    'You are a member',
    keys.length > 0 && el('p', {class: 'warning'}, few),
    keys.map(keyField),
    el('p', {class: 'row'}, el('a', {class: 'button', href: ACCOUNT}, 'Go to my account')),
  )
}

function keyField({workspace_id, key}, at) {
  const id = `key-${at}`
  const value = typeof key === 'string' ? key : ''
  const input = el('input', {id, readonly: true, value, spellcheck: 'false', autocomplete: 'off'})
  input.addEventListener('focus', () => input.select())
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value)
      note('The key was copied.')
    } catch {
      input.focus()
      note('The browser did not let the page copy. The key is selected: copy it with the keyboard.')
    }
  }
  const label = ['Copy', el('span', {class: 'unseen'}, ` the key for workspace ${shown(workspace_id)}`)]
  return el(
    'div',
    {},
    el('label', {for: id}, 'Key for workspace ', name(workspace_id)),
    input,
    button(label, copy, {class: 'quiet'}),
  )
}
