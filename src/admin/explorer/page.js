/* global SwaggerUIBundle */
const search = document.getElementById('search')
const key = document.getElementById('key')
const contents = document.getElementById('contents')
const nothing = document.getElementById('nothing')

wearTheme()
start().catch(fault => say(`The interface could not be loaded: ${fault.message}`))

async function start() {
  const reply = await fetch('v1/openapi.json')
  if (!reply.ok) throw new Error(`the gateway answered ${reply.status}.`)
  const spec = await reply.json()
  // wherever this page is served from, a proxy's path included
  spec.servers = [{url: new URL('v1', document.baseURI).href.replace(/\/$/, '')}]
  // the document has that of the interface, which is not the gateway's
  spec.info.version = spec.info['x-gateway-version']
  const find = searchOf(spec)
  const ui = SwaggerUIBundle({
    spec,
    dom_id: '#explorer',
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [bySearch(find)],
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
  const look = searching(ui, find)
  search.addEventListener('input', () => look(search.value.trim()))
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

/** In the place of Swagger UI's own filter, which knows the names of tags alone. The closest hits come first. */
function bySearch(find) {
  const key = each => `${each.get('method')} ${each.get('path')}`
  return {
    fn: {
      opsFilter(tags, phrase) {
        const hits = find(String(phrase))
        const rank = each => hits.get(key(each)).rank
        return tags
          .map(tag =>
            tag.set(
              'operations',
              tag
                .get('operations')
                .filter(each => hits.has(key(each)))
                .sortBy(rank),
            ),
          )
          .filter(tag => tag.get('operations').size > 0)
          .sortBy(tag => rank(tag.get('operations').first()))
      },
    },
  }
}

/** Words for what the interface calls otherwise. */
const ALSO = {budget: ['budget', 'credit_limit'], spend: ['spend', 'cost'], spending: ['spend', 'cost']}

/**
 * A function from a phrase to the operations that have all of its words: in tag, path, name or summary (rank 1), or in
 * descriptions and fields too (rank 2). A text of many operations tells them not apart and counts for none; a field of
 * many is found by its whole name.
 */
function searchOf(spec) {
  const all = Object.entries(spec.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => described(spec, path, method, operation)),
  )
  const counts = new Map()
  for (const {texts} of all) for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  const entries = all.map(({texts, ...each}) => ({
    ...each,
    about: [...texts].filter(text => counts.get(text) <= all.length / 10).join('\n'),
  }))
  return phrase => {
    const words = phrase.toLowerCase().split(/\s+/).filter(Boolean)
    const hits = new Map()
    for (const {key, tags, title, about, names} of entries) {
      const has = found => words.every(word => (ALSO[word] ?? [word]).some(found))
      const rank = has(word => title.includes(word))
        ? 1
        : has(word => title.includes(word) || about.includes(word) || names.has(word))
          ? 2
          : 0
      if (rank > 0) hits.set(key, {rank, tags})
    }
    return hits
  }
}

/** An operation in small letters: its title, the texts about it, and the whole names of its fields. */
function described(spec, path, method, operation) {
  const {tags, operationId, summary = '', description = ''} = operation
  const [names, texts] = [new Set(), new Set(sentences(description))]
  const named = (name, about = '') => {
    for (const each of [name, name.replace(/^x-gateway-/, '')]) names.add(each.toLowerCase())
    for (const each of [name.toLowerCase(), ...sentences(about)]) texts.add(each)
  }
  const read = schema => {
    if (!schema || typeof schema !== 'object') return
    for (const each of sentences(schema.description)) texts.add(each)
    for (const each of schema.enum ?? []) texts.add(String(each).toLowerCase())
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      named(name)
      read(member)
    }
    for (const each of [schema.items, schema.additionalProperties]) read(each)
    for (const form of ['anyOf', 'oneOf', 'allOf']) schema[form]?.forEach(read)
  }
  for (const each of operation.parameters ?? []) {
    const {
      name,
      description: about,
      schema,
    } = each.$ref ? spec.components.parameters[each.$ref.split('/').at(-1)] : each
    named(name, about)
    read(schema)
  }
  for (const sent of [operation.requestBody, operation.responses?.[200]])
    for (const {schema} of Object.values(sent?.content ?? {})) read(schema)
  const title = [...tags, method, path, operationId, summary].join(' ').toLowerCase()
  return {key: `${method} ${path}`, tags, title, names, texts}
}

function sentences(text = '') {
  return text
    .toLowerCase()
    .split(/(?<=\.)\s+/)
    .filter(Boolean)
}

/** Shows what has the phrase, its groups open, or says that nothing has it; without a phrase all is as it was. */
function searching(ui, find) {
  const opened = new Set()
  // the action of Swagger UI would write each group into the browser's history
  const open = (tag, shown) =>
    ui.getStore().dispatch({type: 'layout_show', payload: {thing: ['operations-tag', tag], shown}})
  return phrase => {
    ui.layoutActions.updateFilter(phrase || true)
    const hits = phrase ? [...find(phrase).values()] : []
    const tags = new Set(hits.flatMap(hit => hit.tags))
    for (const tag of opened) {
      if (tags.has(tag)) continue
      open(tag, false)
      opened.delete(tag)
    }
    for (const tag of tags) {
      if (ui.layoutSelectors.isShown(['operations-tag', tag], false)) continue
      open(tag, true)
      opened.add(tag)
    }
    const is_missing = phrase !== '' && hits.length === 0
    nothing.textContent = is_missing ? `No operation has these words: ${phrase}` : ''
    document.body.classList.toggle('nothing', is_missing)
    document.body.classList.toggle('searching', phrase !== '')
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
