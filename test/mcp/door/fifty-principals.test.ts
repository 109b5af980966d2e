import {afterAll, beforeAll, expect, test} from 'vitest'
import {MARK, openPrincipals, type Principal, type PrincipalsHouse, WAYS} from '../../support/mcp/principals.ts'
import {forRing, generated, seed} from '../../support/ring.ts'

const PRINCIPALS = 50
/** Things that each principal does, two at a time. */
const DEEDS = forRing({own: 2, ci: 20, full: 150})
const CAPABILITIES = {elicitation: {form: {}}}
/** A stream is left after so long without the notice that it is open for. */
const PATIENCE_MS = 60_000

let house: PrincipalsHouse
beforeAll(async () => {
  house = await openPrincipals(PRINCIPALS)
}, 120_000)
afterAll(() => house?.close(), 120_000)

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: {readonly code: number}
}

/** Something that one principal was given, which another shows. */
interface Loot {
  readonly owner: Principal
  readonly slug: string
  readonly kind: 'cursor' | 'state' | 'session' | 'event'
  readonly value: string
  /** The session that an event is of. */
  readonly session?: string
}
const loot: Loot[] = []

test(`${PRINCIPALS} principals at once on the same servers: nothing of one is seen by another`, {
  timeout: 20 * 60_000,
}, async () => {
  const random = randomFrom(seed())
  // all seeds are drawn at once, so that each principal does the same in every run, whoever is faster
  const plans = house.principals.map(who => ({
    who,
    deeds: Array.from({length: DEEDS}, () => Math.floor(random() * 2 ** 31)),
  }))
  const halves = plans.flatMap(({who, deeds}) =>
    [0, 1].map(half =>
      act(
        who,
        deeds.filter((_, at) => at % 2 === half),
      ),
    ),
  )
  await Promise.all([...halves, ...plans.map(({who}) => answered(who, 'claims-modern'))])
  const crossed = house.principals.flatMap(({mark, received}) =>
    received.flatMap(text =>
      (text.match(MARK) ?? []).filter(found => found !== mark).map(found => `${mark}: ${found}`),
    ),
  )
  expect(crossed).toEqual([])
  expect(house.servers.flatMap(({faults}) => faults)).toEqual([])
  // each of them was answered in its own name
  for (const {mark, received} of house.principals) expect(received.join('')).toContain(mark)
  generated('fifty principals', PRINCIPALS * DEEDS)
})

async function act(who: Principal, deeds: readonly number[]): Promise<void> {
  for (const drawn of deeds) {
    const random = randomFrom(drawn)
    const way = WAYS[Math.floor(random() * WAYS.length)]!
    const era = random() < 0.5 ? 'legacy' : 'modern'
    const slug = `${way}-${era}`
    if (way === 'oauth' && !who.is_person) await refused(who, slug)
    else await DOES[Math.floor(random() * DOES.length)]!(who, slug, random)
  }
}

/** A service key has no sign-in at a server that wants one. */
async function refused(who: Principal, slug: string) {
  expect((await modern(who, slug, 'tools/call', {name: 'whoami'})).error?.code).toBe(403)
}

async function answered(who: Principal, slug: string) {
  const {result} = await modern(who, slug, 'tools/call', {name: 'whoami'}, {progressToken: 1})
  expect(result).toMatchObject({content: [{text: who.mark}]})
}

const DOES: readonly ((who: Principal, slug: string, random: () => number) => Promise<void>)[] = [
  async function lists(who, slug, random) {
    const first = await modern(who, slug, 'tools/list', {})
    expect(first.result, slug).toHaveProperty('tools')
    const cursor = first.result!.nextCursor as string
    loot.push({owner: who, slug, kind: 'cursor', value: cursor})
    if (random() < 0.5) expect((await modern(who, slug, 'tools/list', {cursor})).result).toHaveProperty('tools')
    const method = ['resources/list', 'prompts/list', 'server/discover'][Math.floor(random() * 3)]!
    expect((await modern(who, slug, method, {})).result).toBeDefined()
    expect((await modern(who, slug, 'resources/read', {uri: 'note://x'})).result).toBeDefined()
  },

  answered,

  async function asks(who, slug, random) {
    const {result} = await modern(who, slug, 'tools/call', {name: 'ask', arguments: {}})
    const {inputRequests, requestState} = result as {inputRequests: Record<string, unknown>; requestState: string}
    loot.push({owner: who, slug, kind: 'state', value: requestState})
    if (random() < 0.2) return // it is left to be held
    const inputResponses = answersTo(inputRequests, who)
    const last = await modern(who, slug, 'tools/call', {name: 'ask', arguments: {}, requestState, inputResponses})
    expect(last.result).toMatchObject({content: [{text: who.mark}]})
  },

  async function listens(who, slug) {
    const notifications = {resourceSubscriptions: [`note://${who.mark}`], toolsListChanged: true}
    const leaving = new AbortController()
    const response = await send(
      who,
      slug,
      envelope('subscriptions/listen', {notifications}),
      modernHeaders('subscriptions/listen'),
      leaving.signal,
    )
    await until(who, response, leaving, text => text.includes('acknowledged'))
  },

  async function converses(who, slug, random) {
    const session = await begin(who, slug)
    loot.push({owner: who, slug, kind: 'session', value: session})
    const of = {'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25'}
    const leaving = new AbortController()
    const stream = await fetch(house.mcp.url(slug), {
      headers: {...credentials(who), ...of, accept: 'text/event-stream'},
      signal: leaving.signal,
    })
    let is_noticed = !slug.endsWith('-legacy')
    const streamed = until(who, stream, leaving, text => is_noticed || text.includes('note://')).then(() => {
      is_noticed = true
    })
    streamed.catch(() => undefined) // it is awaited at the end
    // a notice that comes before the stream is listened to is nobody's: the next call sends another
    do {
      const called = await legacy(who, slug, 'tools/call', {name: 'whoami', _meta: {progressToken: 1}}, of)
      expect(called.at(-1)!.result).toMatchObject({content: [{text: who.mark}]})
    } while (!is_noticed && !leaving.signal.aborted)
    await asked(who, slug, of)
    if (random() < 0.5) await cancels(who, slug, of)
    await streamed
    if (random() < 0.5)
      await fetch(house.mcp.url(slug), {method: 'DELETE', headers: {...credentials(who), ...of}}).then(read(who))
  },

  async function resumes(who, slug) {
    const session = await begin(who, slug)
    const of = {'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25'}
    const leaving = new AbortController()
    const params = {name: 'whoami', _meta: {progressToken: 1}}
    const response = await send(who, slug, {jsonrpc: '2.0', id: 1, method: 'tools/call', params}, of, leaving.signal)
    const text = await until(who, response, leaving, each => /^id: /m.test(each))
    const event = /^id: (.*)$/m.exec(text)?.[1]
    if (event === undefined) return
    loot.push({owner: who, slug, kind: 'event', value: event, session})
    const headers = {...credentials(who), ...of, accept: 'text/event-stream', 'last-event-id': event}
    const resumed = await fetch(house.mcp.url(slug), {headers})
    expect([200, 204]).toContain(resumed.status)
    await read(who)(resumed)
  },

  async function steals(who, _, random) {
    const found = loot[Math.floor(random() * loot.length)]
    if (!found || found.owner === who) return
    const {kind, slug, value, session} = found
    if (slug.startsWith('oauth') && !who.is_person) return
    const of = {'mcp-session-id': session ?? value, 'mcp-protocol-version': '2025-11-25'}
    if (kind === 'cursor') return refusedWith(await modern(who, slug, 'tools/list', {cursor: value}))
    if (kind === 'state') {
      const inputResponses = {q: {action: 'accept', content: {mark: who.mark}}}
      const params = {name: 'ask', arguments: {}, requestState: value, inputResponses}
      return refusedWith(await modern(who, slug, 'tools/call', params))
    }
    const headers = {...credentials(who), ...of, accept: 'text/event-stream'}
    const stream = {headers: kind === 'event' ? {...headers, 'last-event-id': value} : headers}
    const [got, called] = await Promise.all([
      fetch(house.mcp.url(slug), stream),
      send(who, slug, {jsonrpc: '2.0', id: 1, method: 'tools/list'}, of),
    ])
    expect([got.status, called.status]).toEqual([404, 404])
    await Promise.all([got, called].map(read(who)))
  },
]

function refusedWith({error}: Message) {
  expect(error?.code).toBe(-32602)
}

/** A question on the stream of a call, and its answer by a POST of its own. */
async function asked(who: Principal, slug: string, of: Record<string, string>) {
  const params = {name: 'ask', arguments: {}}
  const response = await send(who, slug, {jsonrpc: '2.0', id: 1, method: 'tools/call', params}, of)
  let last: Message = {}
  for await (const message of messagesOf(who, response)) {
    last = message
    if (message.method !== 'elicitation/create') continue
    const result = {action: 'accept', content: {mark: who.mark}}
    const answered = await send(who, slug, {jsonrpc: '2.0', id: message.id, result}, of)
    expect(answered.status).toBe(202)
    await read(who)(answered)
  }
  expect(last.result, JSON.stringify(last)).toMatchObject({content: [{text: who.mark}]})
}

/** All bear the id 1: a cancellation ends the sender's own call, and nobody else's. */
async function cancels(who: Principal, slug: string, of: Record<string, string>) {
  const other = await begin(who, slug)
  const kept = legacy(who, slug, 'tools/call', {name: 'hold'}, {...of, 'mcp-session-id': other})
  const ended = legacy(who, slug, 'tools/call', {name: 'hold'}, of)
  const cancelled = {jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: 1}}
  await read(who)(await send(who, slug, cancelled, of))
  expect((await kept).at(-1)!.result).toMatchObject({content: [{text: `${who.mark} kept`}]})
  await ended
}

async function begin(who: Principal, slug: string): Promise<string> {
  const params = {protocolVersion: '2025-11-25', capabilities: CAPABILITIES, clientInfo: {name: 'c', version: '1'}}
  const response = await send(who, slug, {jsonrpc: '2.0', id: 0, method: 'initialize', params}, {})
  const text = await read(who)(response)
  expect([response.status, slug, text.includes(who.mark)]).toEqual([200, slug, true])
  const session = response.headers.get('mcp-session-id')!
  const of = {'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25'}
  await read(who)(await send(who, slug, {jsonrpc: '2.0', method: 'notifications/initialized'}, of))
  return session
}

async function legacy(who: Principal, slug: string, method: string, params: object, of: Record<string, string>) {
  const seen: Message[] = []
  const response = await send(who, slug, {jsonrpc: '2.0', id: 1, method, params}, of)
  for await (const message of messagesOf(who, response)) seen.push(message)
  return seen
}

async function modern(who: Principal, slug: string, method: string, params: object, meta: object = {}) {
  let last: Message = {}
  const response = await send(who, slug, envelope(method, params, meta), modernHeaders(method, params))
  for await (const message of messagesOf(who, response)) last = message
  return last
}

const envelope = (method: string, params: object, meta: object = {}) => ({
  ...{jsonrpc: '2.0', id: 1, method},
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
      'io.modelcontextprotocol/clientInfo': {name: 'c', version: '1'},
      ...meta,
    },
  },
})

function modernHeaders(method: string, params: {readonly name?: string; readonly uri?: string} = {}) {
  const name = params.name ?? params.uri
  return {'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name !== undefined && {'mcp-name': name})}
}

const credentials = ({key, mark}: Principal) => ({'x-gateway-api-key': key, 'x-mark': mark})

function send(who: Principal, slug: string, body: object, headers: Record<string, string>, signal?: AbortSignal) {
  return fetch(house.mcp.url(slug), {
    method: 'POST',
    headers: {
      ...{'content-type': 'application/json', accept: 'application/json, text/event-stream'},
      ...credentials(who),
      ...headers,
    },
    body: JSON.stringify(body),
    ...(signal && {signal}),
  })
}

/** Reads a reply to its end, headers too. */
function read(who: Principal) {
  return async (response: Response): Promise<string> => {
    const text = await response.text()
    who.received.push(JSON.stringify([...response.headers]), text)
    return text
  }
}

/** Reads a stream until it has what is meant, and leaves it. */
async function until(who: Principal, response: Response, leaving: AbortController, has: (text: string) => boolean) {
  const late = setTimeout(() => leaving.abort(), PATIENCE_MS)
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const part of response.body!) {
      text += decoder.decode(part as Uint8Array, {stream: true})
      if (has(text)) break
    }
  } catch {
    // it was left
  } finally {
    clearTimeout(late)
    leaving.abort()
    who.received.push(text)
  }
  expect(has(text), `${response.status} ${response.url}: ${text}`).toBe(true)
  return text
}

async function* messagesOf(who: Principal, response: Response): AsyncGenerator<Message> {
  who.received.push(JSON.stringify([...response.headers]))
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const text = await response.text()
    who.received.push(text)
    if (text) yield JSON.parse(text)
    return
  }
  let text = ''
  const decoder = new TextDecoder()
  for await (const part of response.body!) {
    const more = decoder.decode(part as Uint8Array, {stream: true})
    who.received.push(more)
    text += more
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = text
        .slice(0, end)
        .split('\n')
        .find(line => line.startsWith('data: '))
      text = text.slice(end + 2)
      if (data) yield JSON.parse(data.slice(6))
    }
  }
}

const answersTo = (questions: Record<string, unknown>, {mark}: Principal) =>
  Object.fromEntries(Object.keys(questions).map(key => [key, {action: 'accept', content: {mark}}]))

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
