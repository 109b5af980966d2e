import {
  button,
  call,
  el,
  forSignedIn,
  leave,
  load,
  loopbackAddress,
  name,
  Refusal,
  show,
  showNext,
  time,
} from './common.js'

const request = new URLSearchParams(location.search).get('request')

forSignedIn(`/v2/auth/cli?${new URLSearchParams({request: request ?? ''})}`)
load(async () => {
  if (!request) throw new Refusal(0, 'This link is not complete. Start `gateway login` again.')
  ask(await call(`/v2/auth/cli/request?${new URLSearchParams({request})}`))
})

function ask({host, expires_at}) {
  const decide = decision => async () => {
    const {location} = await call('/v2/auth/cli', {method: 'POST', body: {request, decision}})
    // the command line hears of both at its own port; without one there is nothing more to do
    if (location || decision === 'approve') await leave(location, loopbackAddress)
    showNext('Refused', el('p', {}, 'The request was refused.'), el('p', {}, 'You may close this page.'))
  }
  show(
    null,
    el('p', {}, 'The command line on this machine (', name(host, 'not named'), ') asks to act as you.'),
    el('p', {class: 'faint'}, 'The request ends: ', time(expires_at, 'soon'), '.'),
    el('p', {class: 'warning'}, 'Allow it only if you started it yourself, on this machine, just now.'),
    el('div', {class: 'row'}, button('Allow', decide('approve')), button('Refuse', decide('deny'), {class: 'quiet'})),
  )
}
