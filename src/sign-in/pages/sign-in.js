import {
  ACCOUNT,
  act,
  call,
  el,
  form,
  leave,
  load,
  named,
  say,
  show,
  showNext,
  showWays,
  signInAddress,
} from './common.js'

const query = new URLSearchParams(location.search)
const return_to = query.get('return_to') || ACCOUNT

/** A link may carry one of these words. A sentence in a link would be a stranger's, in this page's name. */
const ERRORS = {
  broken: 'That sign-in took too long, or began in another browser. Begin again.',
  used: 'That sign-in was finished already. Begin again.',
  denied: 'The identity provider did not let you in.',
  provider: 'The identity provider answered with an error. Try again.',
  unreachable: 'The identity provider cannot be reached now. Try again shortly.',
  credentials: 'The user name or the password is wrong.',
  too_many: 'There were too many attempts. Wait a quarter of an hour, and try again.',
  person: 'You have no access here. Ask an administrator of this gateway to let you in.',
  expired: 'Your session has ended. Sign in again.',
}

const PAGES = {'/v2/auth/ldap': directoryPage, '/v2/auth/password': passwordPage}

load(PAGES[location.pathname] ?? waysPage)
if (query.has('error')) say(ownMember(ERRORS, query.get('error')) ?? 'Signing in did not work. Try again.')

function waysPage() {
  return showWays({
    email: query.get('email'),
    organisation_id: query.get('organisation_id'),
    verb: 'Sign in with',
    absent: absent(),
    pick: (connection, email) => act(() => begin(connection, email)),
    below: ({password}) =>
      password === true &&
      el(
        'p',
        {},
        el(
          'a',
          {class: 'link', href: `/v2/auth/password?${new URLSearchParams({return_to})}`},
          'Sign in with a password',
        ),
      ),
  })
}

function absent() {
  const command = el('code', {}, 'gateway sso')
  return el('p', {}, 'Single sign-on is not set up here. An administrator sets it up with the command ', command, '.')
}

async function begin(connection, email) {
  if (connection.type === 'ldap')
    return showNext(['Sign in with ', named(connection)], directoryForm(connection.id), otherWays())
  const {location} = await call('/v2/auth/login', {
    method: 'POST',
    body: {connection: connection.id, return_to, email: email || undefined},
  })
  await leave(location)
}

function directoryPage() {
  const connection = query.get('connection')
  show('Sign in with your user name', connection && directoryForm(connection), otherWays())
  if (!connection) say('This link is not complete. Choose how to sign in.')
}

function directoryForm(connection) {
  const fields = [
    {id: 'username', label: 'User name', autocomplete: 'username', required: true, maxlength: '256'},
    passwordField(),
  ]
  return form(fields, 'Sign in', async ({username, password}) => {
    const state = query.get('state') || undefined
    const body = {connection, username, password, return_to, state}
    const {location} = await call('/v2/auth/ldap', {method: 'POST', body})
    await leave(location)
  })
}

function passwordPage() {
  const email = {id: 'email', label: 'E-mail address', inputmode: 'email', autocomplete: 'username', maxlength: '254'}
  show(
    'Sign in with a password',
    el('p', {}, 'This is for an owner of this gateway who has a password here.'),
    form([{...email, required: true, value: query.get('email')}, passwordField()], 'Sign in', async values => {
      const body = {email: values.email.trim(), password: values.password, return_to}
      const {location} = await call('/v2/auth/password', {method: 'POST', body})
      await leave(location)
    }),
    otherWays(),
  )
}

function passwordField() {
  const type = {type: 'password', autocomplete: 'current-password', maxlength: '1024'}
  return {id: 'password', label: 'Password', required: true, ...type}
}

function otherWays() {
  return el('p', {class: 'row'}, el('a', {class: 'link', href: signInAddress({return_to})}, 'Other ways to sign in'))
}

function ownMember(table, key) {
  return Object.hasOwn(table, key) ? table[key] : undefined
}
