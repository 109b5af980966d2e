// The parts that all pages of sign-in share. Texts of the server become text nodes only.

const DEADLINE_MS = 15_000
const SLOW_MS = 700
const WAITING = 'Please wait …'
const LONGEST_TEXT = 300
const LONGEST_MESSAGE = 1000
const LONGEST_ADDRESS = 32_768
const MOST_ROWS = 500
const SIGN_IN = '/v2/auth/sign-in'
export const ACCOUNT = '/v2/auth/account'
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
// they turn text around, or show nothing: a name could look like another one
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g

const content = document.getElementById('content')
const title = document.getElementById('title')
const status = document.getElementById('status')
const alert = document.getElementById('alert')

/** Set on pages for signed-in people: where they come back to after signing in. */
let own_place = null
let proof = null
let busy = false

// a page that comes back by the browser's back button shows an old state, perhaps of a person who signed out
addEventListener('pageshow', event => {
  if (event.persisted) location.reload()
})

/** An answer of the gateway that is no success, or none at all (status 0). */
export class Refusal extends Error {
  constructor(status, message, data = {}) {
    super(message)
    this.status = status
    this.data = data
  }
}

/** Every 401 of this page leads to the sign-in page, and from there back to `place`. */
export function forSignedIn(place) {
  own_place = place
}

/** Writes carry the token by which the gateway knows its own pages. */
export function proveWith(token) {
  proof = typeof token === 'string' ? token : null
}

/** The JSON object that the gateway answers. Throws a Refusal. */
export async function call(path, {method = 'GET', body} = {}) {
  const headers = {accept: 'application/json'}
  const init = {method, headers, mode: 'same-origin', credentials: 'same-origin', cache: 'no-store', redirect: 'error'}
  if (method !== 'GET') {
    headers['content-type'] = 'application/json'
    if (proof) headers['x-gateway-csrf'] = proof
    init.body = JSON.stringify(body ?? {})
  }
  let reply
  let answer
  try {
    reply = await fetch(path, {...init, signal: AbortSignal.timeout(DEADLINE_MS)})
    answer = await reply.json()
  } catch (fault) {
    if (fault.name === 'TimeoutError') throw new Refusal(0, 'The gateway did not answer in time. Try again.')
    if (!reply) throw new Refusal(0, 'The gateway could not be reached. Try again.')
  }
  const is_object = typeof answer === 'object' && answer !== null
  if (reply.ok && is_object) return answer
  const data = (is_object && answer.data) || {}
  const message = typeof data.message === 'string' && data.message ? data.message : null
  throw new Refusal(reply.status, message ?? `The gateway's answer could not be read (status ${reply.status}).`, data)
}

/** Does one thing at a time for the person; a refusal is said. */
export async function act(work) {
  if (busy) return
  say('')
  note('')
  await load(work)
}

/** As `act`, and leaves a message that is shown. */
export async function load(work) {
  busy = true
  document.body.classList.add('busy')
  const slow = setTimeout(() => note(WAITING), SLOW_MS)
  try {
    await work()
  } catch (fault) {
    if (fault.status === 401 && own_place) return leave(signInAddress({return_to: own_place}))
    say(fault instanceof Refusal ? fault.message : 'Something went wrong in this page. Load it again.')
  } finally {
    busy = false
    clearTimeout(slow)
    if (status.textContent === WAITING) note('')
    document.body.classList.remove('busy')
  }
}

/** Goes to an address; the promise stays open, so that nothing else begins. Throws where the address may not be used. */
export function leave(address, allows = safeAddress) {
  const safe = allows(address)
  if (!safe) throw new Refusal(0, 'The gateway named an address that this page does not open.')
  location.assign(safe)
  return new Promise(() => {})
}

/** An address that a page may open or link to: https, http to this machine, or a path of this origin; else null. */
export function safeAddress(address) {
  if (typeof address !== 'string' || address.length > LONGEST_ADDRESS) return null
  const is_path = /^\/(?![/\\])/.test(address)
  if (!is_path && !/^https?:\/\//i.test(address)) return null
  const url = parsed(address)
  if (!url || url.username || url.password) return null
  if (url.origin === location.origin) return url.href
  if (is_path) return null
  if (url.protocol === 'https:') return url.href
  return url.protocol === 'http:' && LOOPBACK.test(url.hostname) ? url.href : null
}

function parsed(address) {
  try {
    return new URL(address, location.origin)
  } catch {
    return null
  }
}

/** The address of a program that listens on this machine; else null. */
export function loopbackAddress(address) {
  const safe = safeAddress(address)
  if (!safe) return null
  const url = new URL(safe)
  return url.protocol === 'http:' && LOOPBACK.test(url.hostname) ? safe : null
}

export function signInAddress(params) {
  const known = Object.entries(params).filter(([, value]) => value)
  return known.length > 0 ? `${SIGN_IN}?${new URLSearchParams(known)}` : SIGN_IN
}

/** Shows nodes as the page's content. A view that follows a deed of the person has a heading that gets the focus. */
export function show(heading, ...nodes) {
  if (heading) {
    title.replaceChildren(...[heading].flat())
    document.title = `${title.textContent} · Gateway`
  }
  content.replaceChildren(...nodes.flat(Infinity).filter(Boolean))
}

export function showNext(heading, ...nodes) {
  show(heading, ...nodes)
  title.focus()
}

/** Says what did not work, and puts the focus there; with '' the message goes. */
export function say(message, ...more) {
  alert.replaceChildren()
  if (!message) return
  alert.append(shown(message, LONGEST_MESSAGE), ...more)
  alert.focus()
}

/** Says what was done, without moving the focus. */
export function note(message) {
  status.textContent = message
}

/**
 * An element. A function among the properties listens to its event; an address that may not be used is left out;
 * children are nodes and texts.
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue
    const text = name === 'href' ? safeAddress(value) : value
    if (typeof value === 'function') node.addEventListener(name.replace(/^on/, ''), value)
    else if (text !== null) node.setAttribute(name, text === true ? '' : text)
  }
  node.append(...children.flat(Infinity).filter(child => child || child === 0))
  return node
}

/** A text of the server, within bounds; '' for anything else. */
export function shown(value, longest = LONGEST_TEXT) {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value : ''
  return (text.length > longest ? `${text.slice(0, longest)}…` : text).replace(CONTROLS, '\ufffd')
}

/** A text of the server whose direction does not reach the words around it. */
export function name(value, absent = '') {
  return el('bdi', {}, shown(value) || absent)
}

/** The objects of a list that the server sent. */
export function rowsOf(list) {
  return (Array.isArray(list) ? list : []).filter(row => typeof row === 'object' && row !== null).slice(0, MOST_ROWS)
}

/** A moment in the person's own zone and spelling. */
export function time(value, absent = 'never') {
  const date = new Date(typeof value === 'string' ? value : Number.NaN)
  if (Number.isNaN(date.getTime())) return absent
  const format = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'short'})
  return el('time', {datetime: date.toISOString()}, format.format(date))
}

export function button(text, onclick, props = {}) {
  return el('button', {type: 'button', ...props, onclick: () => act(onclick)}, text)
}

/** A label and its field: `{id, label, hint?, ...attributes}`. */
export function field({id, label, hint, ...attributes}) {
  const hint_id = hint && `${id}-hint`
  return [
    el('label', {for: id}, label),
    hint && el('p', {class: 'hint', id: hint_id}, hint),
    el('input', {
      id,
      name: id,
      'aria-describedby': hint_id,
      spellcheck: 'false',
      autocapitalize: 'none',
      ...attributes,
    }),
  ]
}

/** A form that hands the texts of its fields to `send`. Passwords leave it when it was refused. */
export function form(fields, text, send) {
  const node = el(
    'form',
    {
      onsubmit: event => {
        event.preventDefault()
        const values = Object.fromEntries(new FormData(node))
        act(async () => {
          try {
            await send(values)
          } catch (fault) {
            for (const each of node.querySelectorAll('[type="password"]')) each.value = ''
            throw fault
          }
        })
      },
    },
    fields.map(field),
    el('button', {type: 'submit'}, text),
  )
  return node
}

/**
 * Shows a button for each connection, after the e-mail address where that decides. `verb` begins the buttons ("Sign in
 * with"); `pick(connection, email)` makes what a button does; `above` and `below(ways)` are nodes around them,
 * and `absent` is shown where nothing is set up.
 */
export async function showWays(options) {
  const {email, organisation_id, next = false} = options
  const query = new URLSearchParams()
  if (email) query.set('email', email)
  if (organisation_id) query.set('organisation_id', organisation_id)
  const ways = await call(`/v2/auth/ways${query.size > 0 ? `?${query}` : ''}`)
  const connections = rowsOf(ways.connections)
  const around = nodes => [options.above, organisationOf(ways), ...nodes, options.below(ways)]
  const present = next ? showNext : show
  const asks = connections.length === 0 ? email || ways.asks_email === true : ways.asks_email === true && !email
  if (asks) {
    present(null, around([emailForm(options)]))
    if (email) say('No sign-in is set up for this e-mail address. Check it, or ask an administrator.')
  } else if (connections.length > 0) {
    present(null, around([buttons(connections, options), email && otherAddress(options)]))
  } else present(null, around([options.absent]))
}

function organisationOf({organisation}) {
  return organisation?.name ? el('p', {class: 'faint'}, 'Organisation: ', name(organisation.name)) : null
}

function emailForm(options) {
  const asked = {id: 'email', label: 'E-mail address', required: true, maxlength: '254', value: options.email}
  return form([{...asked, inputmode: 'email', autocomplete: 'username'}], 'Continue', ({email}) =>
    showWays({...options, email: email.trim(), next: true}),
  )
}

function buttons(connections, {verb, pick, email}) {
  const row = connection =>
    el('li', {}, el('button', {type: 'button', onclick: () => pick(connection, email)}, `${verb} `, named(connection)))
  return el('ul', {class: 'ways'}, connections.map(row))
}

export function named(connection) {
  return name(connection.name, 'your organisation')
}

function otherAddress(options) {
  const again = () => showWays({...options, email: null, next: true})
  return el('p', {}, button('Use another e-mail address', again, {class: 'quiet'}))
}
