import {button, call, el, form, forSignedIn, load, name, proveWith, Refusal, show, showNext, time} from './common.js'

/** As the gateway makes codes: without vowels, so that they spell no word. */
const CODE = /^[B-DF-HJ-NP-TV-XZ]{8}$/

forSignedIn('/v2/auth/device')
load(async () => {
  const {csrf_token, user} = await call('/v1/auth/self')
  proveWith(csrf_token)
  askForCode(user)
})

// a link cannot fill in the code: a stranger could send one with his own
function askForCode(user) {
  const code = {
    id: 'user_code',
    label: 'Code',
    hint: 'Eight letters, for example BCDF-GHJK. The command line shows them.',
    ...{class: 'code', autocomplete: 'off', autocapitalize: 'characters', required: true, maxlength: '20'},
  }
  show(
    null,
    el('p', {}, 'You are signed in as ', name(user?.email), '. Enter the code that your command line shows.'),
    form([code], 'Continue', async values => {
      const user_code = readCode(values.user_code)
      const request = await call('/v2/auth/device/lookup', {method: 'POST', body: {user_code}})
      askToAllow(user_code, request)
    }),
  )
}

function readCode(text) {
  const letters = text.toUpperCase().replace(/[^A-Z]/g, '')
  const input = document.getElementById('user_code')
  const is_code = CODE.test(letters)
  input.setAttribute('aria-invalid', String(!is_code))
  if (!is_code) throw new Refusal(0, 'A code has eight letters and no vowels, for example BCDF-GHJK.')
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}

function askToAllow(user_code, {client, host, client_ip, created_at, expires_at}) {
  const decide = decision => async () => {
    await call('/v2/auth/device', {method: 'POST', body: {user_code, decision}})
    const done = decision === 'approve' ? 'The command line may now act as you.' : 'The request was refused.'
    showNext(decision === 'approve' ? 'Allowed' : 'Refused', el('p', {}, done), el('p', {}, 'You may close this page.'))
  }
  const facts = [
    ['Code', el('code', {}, user_code)],
    ['Program', name(client, 'not known')],
    ['Machine', name(host, 'not known')],
    ['Address', name(client_ip, 'not known')],
    ['Began', time(created_at, 'not known')],
    ['Ends', time(expires_at, 'not known')],
  ]
  showNext(
    'Allow this command line?',
    el('p', {}, 'It asks to act as you, with all that you may do.'),
    el(
      'dl',
      {},
      facts.map(([term, fact]) => [el('dt', {}, term), el('dd', {}, fact)]),
    ),
    el('p', {class: 'warning'}, 'Allow it only if you started it yourself, on that machine, just now.'),
    el('div', {class: 'row'}, button('Allow', decide('approve')), button('Refuse', decide('deny'), {class: 'quiet'})),
  )
}
