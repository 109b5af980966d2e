import * as page from './common.js'

const {el, name, time} = page
const SIGNED_OUT = '/v2/auth/signed-out'

page.forSignedIn(page.ACCOUNT)
page.load(async () => {
  const self = await page.call('/v1/auth/self')
  page.proveWith(self.csrf_token)
  // each list is a call of its own: one that fails leaves the others
  const [sessions, keys] = await Promise.all([listOf('/v1/auth/sessions'), listOf('/v1/auth/keys')])
  page.show(
    null,
    me(self),
    organisations(self),
    workspaces(self),
    section('sessions', 'My sessions', sessionTable(sessions)),
    section('keys', 'My keys and what they have spent', keyTable(keys)),
    section('leave', 'Sign out', page.button('Sign out', signOut)),
  )
})

async function listOf(path) {
  try {
    const {data, total} = await page.call(path)
    return {rows: page.rowsOf(data), total}
  } catch (fault) {
    if (fault.status === 401) throw fault
    return {rows: [], fault}
  }
}

function section(id, heading, ...nodes) {
  return el('section', {'aria-labelledby': id}, el('h2', {id, tabindex: '-1'}, heading), nodes)
}

function me({user, organisation, session}) {
  const {first_name, last_name, email} = user ?? {}
  const facts = [
    [
      'Name',
      name(
        [first_name, last_name]
          .map(each => page.shown(each))
          .filter(Boolean)
          .join(' '),
        'not given',
      ),
    ],
    ['E-mail', name(email)],
    ['Organisation', name(organisation?.name)],
    ['Role', name(organisation?.role)],
    ['Signed in by', name(session?.method)],
    ['Until', time(session?.expires_at, 'not known')],
  ]
  const list = facts.map(([term, fact]) => [el('dt', {}, term), el('dd', {}, fact)])
  return section('me', 'Who I am', el('dl', {}, list))
}

function organisations({organisations, organisation}) {
  const act = row => (row.id === organisation?.id ? 'This one' : switchButton(row))
  const rows = page.rowsOf(organisations).map(row => [name(row.name), name(row.role), act(row)])
  return section(
    'organisations',
    'Organisations',
    table('The organisations that you belong to', ['Name', 'Role', 'Use'], rows),
  )
}

/** One that does not open with this session has a sign-in of its own: the gateway then answers with a link to it. */
function switchButton({id, name: text, opens}) {
  const label = [opens === false ? 'Sign in' : 'Switch', unseen(' to ', name(text))]
  return page.button(label, async () => {
    try {
      const {location} = await page.call('/v1/auth/switch', {method: 'POST', body: {organisation_id: id}})
      await page.leave(location)
    } catch (fault) {
      const href = page.safeAddress(fault.data?.login_url)
      if (!href) throw fault
      page.say(fault.message, ' ', el('a', {href}, 'Sign in to ', name(text)))
    }
  })
}

function workspaces({workspaces}) {
  const rows = page.rowsOf(workspaces).map(row => [name(row.name), name(row.slug), name(row.role)])
  return section(
    'workspaces',
    'My workspaces',
    table('The workspaces that you belong to', ['Name', 'Slug', 'Role'], rows),
  )
}

function sessionTable(list) {
  const heads = ['Browser or program', 'Address', 'Kind', 'Began', 'Last used', 'Ends', 'End']
  const rows = list.rows.map(row => [
    name(row.user_agent, 'not known'),
    name(row.client_ip, 'not known'),
    name(
      [row.kind, row.method]
        .map(each => page.shown(each))
        .filter(Boolean)
        .join(', '),
    ),
    time(row.created_at, 'not known'),
    time(row.last_seen_at, 'not known'),
    time(row.expires_at, 'not known'),
    row.current === true ? el('strong', {}, 'This one') : endButton(row),
  ])
  return table('The places where you are signed in', heads, rows, list)
}

function endButton({id, user_agent, client_ip}) {
  const label = ['End', unseen(' the session of ', name(user_agent, 'an unknown program'), ' at ', name(client_ip))]
  const node = page.button(label, async () => {
    await page.call(`/v1/auth/sessions/${encodeURIComponent(id)}`, {method: 'DELETE'})
    node.closest('tr').remove()
    page.note('The session was ended.')
    document.getElementById('sessions').focus()
  })
  node.classList.add('quiet')
  return node
}

function keyTable(list) {
  const heads = [
    'Name',
    'Key',
    'Workspace',
    'Status',
    'Made',
    'Expires',
    figure('Spent this month'),
    figure('Calls this month'),
  ]
  const rows = list.rows.map(row => [
    name(row.name, 'no name'),
    el('code', {}, name(row.masked)),
    name(row.workspace?.name, 'none'),
    name(row.status),
    time(row.created_at, 'not known'),
    time(row.expires_at),
    number(row.spent_usd, spent => `$${spent.toFixed(4)}`),
    number(row.calls, calls => calls.toLocaleString()),
  ])
  return table('Your own keys', heads, rows, list)
}

function number(value, spelled) {
  return figure(Number.isFinite(value) ? spelled(value) : 'not known')
}

/** Figures and their heads are at the right, so that digits are below digits. */
function figure(text) {
  return el('span', {class: 'number'}, text)
}

/** A table that scrolls by itself on narrow screens. The first cell of a row names it. */
function table(caption, heads, rows, {fault, total} = {}) {
  if (fault) return el('p', {role: 'alert'}, page.shown(fault.message, 1000))
  if (rows.length === 0) return el('p', {class: 'faint'}, 'There are none.')
  const head = el(
    'tr',
    {},
    heads.map(text => el('th', {scope: 'col'}, text)),
  )
  const cells = ([first, ...others]) =>
    el(
      'tr',
      {},
      el('th', {scope: 'row'}, first),
      others.map(each => el('td', {}, each)),
    )
  const grid = el('table', {}, el('caption', {}, caption), el('thead', {}, head), el('tbody', {}, rows.map(cells)))
  return [
    el('div', {class: 'scroll', role: 'region', tabindex: '0', 'aria-label': caption}, grid),
    total > rows.length && el('p', {class: 'faint'}, `Shown are ${rows.length} of ${total}.`),
  ]
}

function unseen(...children) {
  return el('span', {class: 'unseen'}, children)
}

async function signOut() {
  const {logout_url} = await page.call('/v1/auth/logout', {method: 'POST'})
  // signed out here in any case: an address that may not be opened is no reason to stay
  await page.leave(page.safeAddress(logout_url) ?? SIGNED_OUT)
}
