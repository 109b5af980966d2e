/* global SwaggerUIBundle */
const search = document.getElementById('search')
const key = document.getElementById('key')
const contents = document.getElementById('contents')

wearTheme()
start().catch(fault => say(`The interface could not be loaded: ${fault.message}`))

async function start() {
  const reply = await fetch('v1/openapi.json')
  if (!reply.ok) throw new Error(`the gateway answered ${reply.status}.`)
  const spec = await reply.json()
  // wherever this page is served from, a proxy's path included
  spec.servers = [{url: new URL('v1', document.baseURI).href.replace(/\/$/, '')}]
  const ui = SwaggerUIBundle({
    spec,
    dom_id: '#explorer',
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [bySearch],
    layout: 'BaseLayout',
    deepLinking: true,
    docExpansion: 'none',
    filter: true,
    tryItOutEnabled: true,
    persistAuthorization: false,
    requestInterceptor: withKey,
    showMutatedRequest: false,
    displayRequestDuration: true,
    requestSnippetsEnabled: true,
    defaultModelsExpandDepth: -1,
    defaultModelExpandDepth: 3,
    validatorUrl: null,
    syntaxHighlight: {activated: true, theme: 'agate'},
    onComplete: () => document.body.classList.add('ready'),
  })
  list(spec, ui)
  if (!location.hash) ui.layoutActions.show(['operations-tag', spec.tags[0].name], true)
  search.addEventListener('input', () => {
    ui.layoutActions.updateFilter(search.value.trim() || true)
    document.body.classList.toggle('searching', search.value.trim() !== '')
  })
  key.addEventListener('input', () => authorize(ui, key.value.trim()))
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || event.target.closest('input, textarea, select')) return
    event.preventDefault()
    search.focus()
  })
}

/** What stands for the key in everything that is shown: examples for the command line may be copied, and seen by others. */
const MASK = 'YOUR_KEY'

/** The key lives in its field alone: no storage, no cookie, no address has it, and nothing that is shown. */
function authorize(ui, value) {
  if (value) ui.preauthorizeApiKey('ApiKey', MASK)
  else ui.authActions.logout(['ApiKey'])
  key.classList.toggle('given', value !== '')
}

/** Puts the key in just before a call is sent. */
function withKey(request) {
  if (request.headers?.['x-gateway-api-key'] !== MASK) return request
  return {...request, headers: {...request.headers, 'x-gateway-api-key': key.value.trim()}}
}

/** Finds operations by all words in their path, name and summary, where Swagger UI knows the names of tags alone. */
function bySearch() {
  const finds = (words, found) => words.every(word => found.includes(word))
  return {
    fn: {
      opsFilter(tags, phrase) {
        const words = String(phrase).toLowerCase().split(/\s+/)
        return tags
          .map((tag, name) =>
            tag.set(
              'operations',
              tag.get('operations').filter(each => {
                const operation = each.get('operation')
                const told = [
                  name,
                  each.get('method'),
                  each.get('path'),
                  operation.get('operationId'),
                  operation.get('summary'),
                ]
                return finds(words, told.join(' ').toLowerCase())
              }),
            ),
          )
          .filter(tag => tag.get('operations').size > 0)
      },
    },
  }
}

/** The contents at the side: each tag, and how many operations it has. */
function list(spec, ui) {
  const counts = new Map(spec.tags.map(({name}) => [name, 0]))
  for (const methods of Object.values(spec.paths)) {
    for (const {tags} of Object.values(methods)) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  }
  const first_of_administration = spec.tags.findIndex(({name}) => name === spec['x-administration-from'])
  contents.replaceChildren()
  for (const [at, {name}] of spec.tags.entries()) {
    if (at === 0) contents.append(heading('Calls'))
    if (at === first_of_administration) contents.append(heading('Administration'))
    const entry = document.createElement('button')
    entry.type = 'button'
    entry.className = 'entry'
    entry.append(
      name,
      Object.assign(document.createElement('span'), {className: 'count', textContent: counts.get(name)}),
    )
    entry.addEventListener('click', () => show(name, ui))
    contents.append(entry)
  }
}

function heading(text) {
  return Object.assign(document.createElement('h2'), {textContent: text})
}

function show(tag, ui) {
  search.value = ''
  search.dispatchEvent(new Event('input'))
  ui.layoutActions.show(['operations-tag', tag], true)
  requestAnimationFrame(() => {
    for (const each of document.querySelectorAll('.opblock-tag')) {
      if (each.dataset.tag === tag) each.scrollIntoView({block: 'start'})
    }
  })
}

/** As the system is set, until the button says otherwise; for this visit. */
function wearTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const wear = is_dark => document.documentElement.classList.toggle('dark-mode', is_dark)
  wear(dark.matches)
  dark.addEventListener('change', () => wear(dark.matches))
  document
    .getElementById('theme')
    .addEventListener('click', () => wear(!document.documentElement.classList.contains('dark-mode')))
}

function say(sentence) {
  document
    .getElementById('explorer')
    .replaceChildren(Object.assign(document.createElement('p'), {className: 'note', textContent: sentence}))
}
