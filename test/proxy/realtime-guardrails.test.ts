import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterAll, afterEach, beforeAll, describe, expect, test, vi} from 'vitest'
import {closeFrame, frame, OPCODE} from '../../src/base/websocket/index.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import type {LogRow} from '../support/gateway.ts'
import {MODEL, OWN_KEY, type RealtimeGateway, startRealtime} from '../support/realtime.ts'
import {type Peer, rawClient} from '../support/realtime-provider.ts'

const known = vi.hoisted(() => ({services: null as unknown}))
vi.mock(import('../../src/proxy/proxy.ts'), async original => {
  const {createProxy} = await original()
  return {
    createProxy: on => {
      known.services = on
      return createProxy(on)
    },
  }
})

const CARD = '4111 1111 1111 1111'
const SECRET = 'falcon heavy'
type Event = Readonly<Record<string, unknown>>
type Hooks = Readonly<Record<string, unknown>>

const DENY = {deny: true, 'default.contains': {words: [SECRET], operator: 'none'}}
const LOG = {'default.contains': {words: [SECRET], operator: 'none'}}
const REDACT = {'default.regexReplace': {rule: '/\\b\\d{4} \\d{4} \\d{4} \\d{4}\\b/g', redactText: '[CARD]'}}
const window = (hook: object) => ({...hook, stream_mode: 'window', stream_window_chars: 100})
const buffer = (hook: object) => ({...hook, stream_mode: 'buffer'})
const USAGE = {
  total_tokens: 150,
  input_tokens: 100,
  output_tokens: 50,
  input_token_details: {text_tokens: 100, audio_tokens: 0, cached_tokens: 0},
  output_token_details: {text_tokens: 50, audio_tokens: 0},
}

let here: RealtimeGateway
/** With `UNREADABLE_BODIES=deny`. */
let strict: RealtimeGateway
/** Whose checks may call services of this machine. */
let trusting: RealtimeGateway
beforeAll(async () => {
  here = await startRealtime(() => known.services as ProxyServices)
  strict = await startRealtime(() => known.services as ProxyServices, {env: {UNREADABLE_BODIES: 'deny'}})
  trusting = await startRealtime(() => known.services as ProxyServices, {env: {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}})
})
afterAll(() => Promise.all([here.close(), strict.close(), trusting.close()]))
afterEach(() => here.provider.answer(() => undefined))

interface Session {
  readonly client: Peer
  readonly upstream: Peer
  readonly trace: string
  /** Events that the client has. */
  received(): Event[]
  /** Events that the provider has. */
  sent(): Event[]
}

async function session(hooks: Hooks, on = here): Promise<Session> {
  const next = on.provider.next()
  const config = JSON.stringify({provider: '@voice', ...hooks})
  const {peer, headers, status, body} = await rawClient(`${on.http}?model=${MODEL}`, {
    ...OWN_KEY,
    'x-gateway-config': config,
  })
  if (!peer) throw new Error(`the session was refused: ${status} ${body}`)
  const upstream = await next
  const read = ({messages}: Peer) => messages.map(each => JSON.parse(each) as Event)
  return {
    client: peer,
    upstream,
    trace: String(headers['x-gateway-trace-id'] ?? headers['x-portkey-trace-id']),
    received: () => read(peer),
    sent: () => read(upstream),
  }
}

async function rowsOf({trace}: Session, on = here): Promise<LogRow[]> {
  return (await on.gateway.logs()).filter(row => row.trace_id === trace)
}

/** A row with its bodies, and what guardrails found. */
async function wholeRow(row: LogRow): Promise<string> {
  const store = await openStore({kind: 'sqlite', folder: here.gateway.folder, role: 'operator'})
  const kept = await store.db.selectFrom('traffic.logs').select('detail').where('id', '=', String(row.id)).execute()
  await store.close()
  return JSON.stringify([
    await here.gateway.admin('GET', `/logs/${row.id}`),
    kept.map(({detail}) => JSON.parse(detail)),
  ])
}

async function close({client}: Session) {
  client.write(closeFrame('client', {code: 1000, reason: ''}))
  await client.ended
}

const message = (text: string): Event => ({
  type: 'conversation.item.create',
  event_id: 'evt_1',
  item: {type: 'message', role: 'user', content: [{type: 'input_text', text}]},
})
/** Every event of a client's that carries a text (OpenAI, Realtime API, client events). */
const CLIENT_EVENTS: readonly [string, (text: string) => Event][] = [
  ['an item', message],
  [
    'a result of a tool',
    text => ({
      type: 'conversation.item.create',
      event_id: 'evt_1',
      item: {type: 'function_call_output', call_id: 'call_1', output: text},
    }),
  ],
  [
    'a result of a tool in JSON',
    text => ({
      type: 'conversation.item.create',
      event_id: 'evt_1',
      item: {type: 'function_call_output', call_id: 'call_1', output: JSON.stringify({found: text})},
    }),
  ],
  [
    'instructions of the session',
    text => ({type: 'session.update', event_id: 'evt_1', session: {type: 'realtime', instructions: text}}),
  ],
  [
    'a tool of the session',
    text => ({
      type: 'session.update',
      event_id: 'evt_1',
      session: {
        tools: [{type: 'function', name: 'f', description: text, parameters: {type: 'object', properties: {}}}],
      },
    }),
  ],
  [
    'the prompt of a transcription',
    text => ({
      type: 'session.update',
      event_id: 'evt_1',
      session: {audio: {input: {transcription: {model: 'whisper-1', prompt: text}}}},
    }),
  ],
  [
    'the same of a beta session',
    text => ({
      type: 'session.update',
      event_id: 'evt_1',
      session: {input_audio_transcription: {model: 'whisper-1', prompt: text}},
    }),
  ],
  [
    'instructions of a response',
    text => ({type: 'response.create', event_id: 'evt_1', response: {instructions: text}}),
  ],
  [
    'the input of a response',
    text => ({
      type: 'response.create',
      event_id: 'evt_1',
      response: {conversation: 'none', input: [{type: 'message', role: 'user', content: [{type: 'input_text', text}]}]},
    }),
  ],
  [
    'metadata of a response',
    text => ({type: 'response.create', event_id: 'evt_1', response: {metadata: {topic: text}}}),
  ],
  ['a type that is not known', text => ({type: 'conversation.note', event_id: 'evt_1', note: {body: text}})],
]

describe('fact 21: what a client sends is judged before it leaves', () => {
  test.each(CLIENT_EVENTS)('%s: denied, redacted, passed, noted', async (_, event) => {
    const guarded = await session({input_guardrails: [DENY, REDACT]})
    guarded.client.say(event(`about ${SECRET} ${CARD}`))
    guarded.client.say(event(`my card is ${CARD}.`))
    guarded.client.say(event('nothing of note'))
    await guarded.upstream.until(() => guarded.upstream.messages.length === 2)
    const [error] = guarded.received()
    expect(error).toMatchObject({
      type: 'error',
      error: {type: 'hooks_failed', code: '446', event_id: 'evt_1'},
      hook_results: {},
    })
    expect(guarded.sent()).toEqual([event('my card is [CARD].'), event('nothing of note')])
    await close(guarded)
    const rows = await rowsOf(guarded)
    const denied = rows.find(row => row.response_status_code === 446)!
    expect(await wholeRow(denied)).toContain('"verdict":false')
    for (const row of rows) expect(await wholeRow(row)).not.toContain(CARD)
    expect(await wholeRow(denied)).not.toContain('about falcon')

    const noting = await session({input_guardrails: [LOG]})
    noting.client.say(event(`about ${SECRET}`))
    await noting.upstream.until(() => noting.upstream.messages.length === 1)
    expect([noting.sent(), noting.received()]).toEqual([[event(`about ${SECRET}`)], []])
    await close(noting)
  })

  test('a denied event goes on with none behind it before it: order is kept, and the session goes on', async () => {
    const guarded = await session({input_guardrails: [DENY]})
    const texts = Array.from({length: 20}, (_, at) => (at % 3 === 1 ? `${SECRET} ${at}` : `word ${at}`))
    for (const text of texts) guarded.client.say(message(text))
    await guarded.upstream.until(() => guarded.upstream.messages.length === 13)
    expect(guarded.sent()).toEqual(texts.filter(text => text.startsWith('word')).map(message))
    await guarded.client.until(() => guarded.client.messages.length === 7)
    await close(guarded)
  })

  test('a message in many frames is judged as one', async () => {
    const guarded = await session({input_guardrails: [DENY]})
    const whole = Buffer.from(JSON.stringify(message(`about ${SECRET}`)))
    const cut = whole.indexOf('falcon') + 3
    guarded.client.write(frame('client', OPCODE.text, whole.subarray(0, cut), false))
    guarded.client.write(frame('client', OPCODE.ping, Buffer.from('?')))
    guarded.client.write(frame('client', OPCODE.continuation, whole.subarray(cut)))
    await guarded.client.until(() => guarded.client.messages.length === 1)
    guarded.client.say(message('fine'))
    await guarded.upstream.until(() => guarded.upstream.messages.length === 1)
    expect(guarded.sent()).toEqual([message('fine')])
    await close(guarded)
  })

  test.each<[string, Buffer]>([
    ['no JSON', Buffer.from('{"type": "response.create", ')],
    ['a key twice', Buffer.from(`{"type":"conversation.item.create","item":{"a":"${SECRET}","a":"fine"}}`)],
    [
      'no UTF-8',
      Buffer.concat([Buffer.from('{"type":"response.create","a":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    ],
  ])('%s does not leave', async (_, bytes) => {
    const guarded = await session({input_guardrails: [DENY]})
    guarded.client.write(frame('client', OPCODE.text, bytes))
    await guarded.client.until(() => guarded.client.messages.length === 1)
    expect(guarded.received()[0]).toMatchObject({type: 'error', error: {type: 'invalid_request_error'}})
    expect(guarded.sent()).toEqual([])
    await close(guarded)
  })

  test('without guardrails bytes pass as they came', async () => {
    const plain = await session({})
    const bytes = frame('client', OPCODE.text, Buffer.from(`{ "type":"x",  "a":1.0 }`))
    plain.client.write(bytes)
    await plain.upstream.until(() => plain.upstream.messages.length === 1)
    expect(plain.upstream.bytes()).toEqual(bytes)
    await close(plain)
  })
})

const APPEND = {type: 'input_audio_buffer.append', audio: Buffer.from('sound'.repeat(50)).toString('base64')}
const SPOKEN = {
  type: 'conversation.item.create',
  item: {type: 'message', role: 'user', content: [{type: 'input_audio', audio: APPEND.audio}]},
}

describe('fact 19: sound over WebSocket is an unreadable part', () => {
  test.each<[string, Event]>([
    ['of a buffer', APPEND],
    ['in an item', SPOKEN],
  ])('sound %s passes and is noted; with `deny` it does not leave', async (_, event) => {
    const allowing = await session({input_guardrails: [DENY]})
    allowing.client.say(event)
    allowing.client.say({type: 'response.create'})
    await allowing.upstream.until(() => allowing.upstream.messages.length === 2)
    expect(allowing.sent()[0]).toEqual(event)
    for (const each of answer('resp_1', [])) allowing.upstream.say(each)
    await allowing.client.until(() => allowing.received().some(each => each.type === 'response.done'))
    await close(allowing)
    const turn = (await rowsOf(allowing)).find(row => String(row.cost) !== '0' && row.response_status_code === 200)
    expect(await wholeRow(turn!)).toContain('"skipped":true,"reason":"unreadable","part":"audio"')

    const denying = await session({input_guardrails: [DENY]}, strict)
    denying.client.say(event)
    denying.client.say(message('text'))
    await denying.upstream.until(() => denying.upstream.messages.length === 1)
    expect(denying.sent()).toEqual([message('text')])
    expect(denying.received()[0]).toMatchObject({type: 'error', error: {code: '446'}})
    await close(denying)
  })

  test('sound of the model ends its response with `deny`', async () => {
    const denying = await session({output_guardrails: [window(DENY)]}, strict)
    for (const each of answer('resp_1', ['Hi'], {sound: true})) denying.upstream.say(each)
    await denying.client.until(() => denying.received().some(each => each.type === 'response.done'))
    expect(denying.received().map(each => each.type)).not.toContain('response.output_audio.delta')
    expect(denying.received()).toContainEqual(expect.objectContaining({type: 'error'}))
    await close(denying)
  })
})

interface Dialect {
  readonly name: string
  readonly delta: string
  readonly done: string
  readonly member: 'text' | 'transcript' | 'arguments'
}
/** OpenAI, Realtime API, server events; the names of the beta, which Azure still speaks. */
const DIALECTS: readonly Dialect[] = [
  {name: 'text', delta: 'response.output_text.delta', done: 'response.output_text.done', member: 'text'},
  {name: 'text of the beta', delta: 'response.text.delta', done: 'response.text.done', member: 'text'},
  {
    name: 'a transcript',
    delta: 'response.output_audio_transcript.delta',
    done: 'response.output_audio_transcript.done',
    member: 'transcript',
  },
  {
    name: 'a transcript of the beta',
    delta: 'response.audio_transcript.delta',
    done: 'response.audio_transcript.done',
    member: 'transcript',
  },
  {
    name: 'arguments',
    delta: 'response.function_call_arguments.delta',
    done: 'response.function_call_arguments.done',
    member: 'arguments',
  },
]

/** All events of a response that says these pieces. */
function answer(id: string, pieces: readonly string[], {dialect = DIALECTS[0]!, sound = false} = {}): Event[] {
  const place = {response_id: id, item_id: `item_${id}`, output_index: 0, content_index: 0}
  const whole = pieces.join('')
  const {member} = dialect
  const part =
    member === 'text'
      ? {type: 'output_text', text: whole}
      : member === 'transcript'
        ? {type: 'output_audio', transcript: whole}
        : null
  const bare = {id: `item_${id}`, object: 'realtime.item'}
  const item = part
    ? {...bare, type: 'message', role: 'assistant', content: [part]}
    : {...bare, type: 'function_call', name: 'f', call_id: 'call_1', arguments: whole}
  return [
    {type: 'response.created', response: {id, status: 'in_progress', output: []}},
    {type: 'response.output_item.added', response_id: id, output_index: 0, item: {...bare, type: item.type}},
    {type: 'conversation.item.added', item: {...bare, type: item.type}},
    ...pieces.flatMap(delta => [
      {type: dialect.delta, ...place, delta},
      ...(sound ? [{type: 'response.output_audio.delta', ...place, delta: APPEND.audio}] : []),
    ]),
    {type: dialect.done, ...place, [member]: whole},
    ...(part ? [{type: 'response.content_part.done', ...place, part}] : []),
    {type: 'response.output_item.done', response_id: id, output_index: 0, item},
    {type: 'conversation.item.done', item},
    {type: 'response.done', response: {id, status: 'completed', output: [item], usage: USAGE}},
  ]
}

const saidBy = (events: readonly Event[], {delta}: Dialect) =>
  events
    .filter(each => each.type === delta)
    .map(each => each.delta)
    .join('')

async function answered(hooks: Hooks, events: readonly Event[]): Promise<Session> {
  const opened = await session(hooks)
  opened.client.say({type: 'response.create'})
  await opened.upstream.until(() => opened.upstream.messages.length === 1)
  for (const event of events) opened.upstream.say(event)
  await opened.client.until(() => opened.received().some(each => each.type === 'response.done'))
  return opened
}

const LONG = 'This is a long sentence that says nothing of interest at all, but goes on and on. '.repeat(4)

describe('fact 21: what a model says is judged as it comes', () => {
  describe.each(DIALECTS)('$name', dialect => {
    const text = (words: string) => (dialect.member === 'arguments' ? JSON.stringify({city: words}) : words)
    const pieces = (words: string) => text(words).match(/[\s\S]{1,7}/g)!

    test.each([
      ['window', window],
      ['buffer', buffer],
    ] as const)('a denial in %s ends the response, and its tokens are counted', async (_, mode) => {
      const events = answer('resp_1', pieces(`${LONG}${SECRET} ${LONG}`), {dialect, sound: true})
      const denied = await answered({output_guardrails: [mode(DENY)]}, events)
      const received = denied.received()
      expect(JSON.stringify(received.filter(each => each.type !== 'error'))).not.toContain('falcon')
      expect(saidBy(received, dialect)).not.toContain('falcon')
      const at = received.findIndex(each => each.type === 'error')
      expect(received[at]).toMatchObject({error: {type: 'hooks_failed', code: '446'}})
      expect(received.slice(at + 1)).toEqual([
        {
          type: 'response.done',
          event_id: null,
          response: {
            id: 'resp_1',
            status: 'incomplete',
            status_details: {type: 'incomplete', reason: 'content_filter'},
            output: [],
            usage: USAGE,
          },
        },
      ])
      await close(denied)
      const rows = await rowsOf(denied)
      const turn = rows.find(row => row.response_status_code === 446)!
      expect(turn).toMatchObject({cost: 0.15})
      for (const row of rows) expect(await wholeRow(row)).not.toMatch(/falcon heavy This|on\. falcon/)
    })

    test.each([
      ['window', window],
      ['buffer', buffer],
    ] as const)('a redaction in %s leaves nothing of what it takes out', async (_, mode) => {
      const events = answer('resp_1', pieces(`${LONG}My card is ${CARD}, thanks. ${LONG}`), {dialect})
      const redacted = await answered({output_guardrails: [mode(REDACT)]}, events)
      const received = redacted.received()
      expect(saidBy(received, dialect)).toBe(text(`${LONG}My card is [CARD], thanks. ${LONG}`))
      expect(JSON.stringify(received)).not.toContain(CARD)
      expect(received.map(each => each.type)).toEqual(events.map(each => each.type))
      await close(redacted)
      for (const row of await rowsOf(redacted)) expect(await wholeRow(row)).not.toContain(CARD)
    })

    test('what passes leaves as it came, and a failure without `deny` is noted', async () => {
      const events = answer('resp_1', pieces(`${LONG}${SECRET}`), {dialect, sound: true})
      const noted = await answered({output_guardrails: [window(LOG)]}, events)
      expect(noted.received()).toEqual(events)
      await close(noted)
      const turn = (await rowsOf(noted)).find(row => row.response_status_code === 246)
      expect(await wholeRow(turn!)).toContain('"verdict":false')
    })
  })

  test('a card number is found wherever it is cut', async () => {
    const words = `Card ${CARD} it is.`
    for (let cut = 1; cut < words.length; cut++) {
      const redacted = await answered(
        {output_guardrails: [window(REDACT)]},
        answer('resp_1', [words.slice(0, cut), words.slice(cut)]),
      )
      expect([cut, saidBy(redacted.received(), DIALECTS[0]!)]).toEqual([cut, 'Card [CARD] it is.'])
      expect(JSON.stringify(redacted.received())).not.toMatch(/4111|1111/)
      await close(redacted)
    }
  })
})

describe('facts 2 and 26: models that events name are held against lists', () => {
  test.each<[string, (model: string) => Event]>([
    ['of the session', model => ({type: 'session.update', event_id: 'evt_1', session: {model}})],
    [
      'of a transcription',
      model => ({type: 'session.update', event_id: 'evt_1', session: {audio: {input: {transcription: {model}}}}}),
    ],
    [
      'of a transcription of the beta',
      model => ({type: 'session.update', event_id: 'evt_1', session: {input_audio_transcription: {model}}}),
    ],
    ['of a response', model => ({type: 'response.create', event_id: 'evt_1', response: {model}})],
    ['of a tool', model => ({type: 'session.update', event_id: 'evt_1', session: {tools: [{type: 'ask', model}]}})],
    ['of an event of no known type', model => ({type: 'session.branch', event_id: 'evt_1', branch: {model}})],
  ])('%s', async (_, event) => {
    const next = here.provider.next()
    const {peer} = await rawClient(`${here.http}?model=@voice/${MODEL}`, await keyFor({allow: [MODEL, 'whisper-1']}))
    const upstream = await next
    peer!.say(event('gpt-realtime'))
    peer!.say(event('whisper-1'))
    peer!.say(message('my {"model": "gpt-realtime"}'))
    await upstream.until(() => upstream.messages.length === 2)
    await peer!.until(() => peer!.messages.length === 1)
    expect(JSON.parse(peer!.messages[0]!)).toMatchObject({
      type: 'error',
      error: {type: 'model_not_allowed_error', event_id: 'evt_1', message: expect.stringContaining('gpt-realtime')},
    })
    expect(upstream.messages.map(each => JSON.parse(each))).toEqual([
      event('whisper-1'),
      message('my {"model": "gpt-realtime"}'),
    ])
    peer!.write(closeFrame('client', {code: 1000, reason: ''}))
    await peer!.ended
  })
})

async function keyFor(models: object): Promise<Record<string, string>> {
  const [workspace] = (await here.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const {key} = await here.gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
    name: `listed ${Math.random()}`,
    workspace_id: workspace!.id,
    scopes: ['completions.write'],
    models,
  })
  return {'x-gateway-api-key': key}
}

/** A check that waits until it is let go. */
async function slowWebhook() {
  const waiting: (() => void)[] = []
  const came: (() => void)[] = []
  const server = createServer((_, response) => {
    waiting.push(() => response.end(JSON.stringify({verdict: true})))
    for (const each of came.splice(0)) each()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    called: () => (waiting.length ? Promise.resolve() : new Promise<void>(resolve => came.push(resolve))),
    let: () => waiting.shift()?.(),
    close: () => void server.close().closeAllConnections(),
  }
}

describe('fact 21: what happens while a verdict is awaited', () => {
  test('a client that leaves: the event never leaves; an answer that was held is paid, and no word of it is kept', async () => {
    const hook = await slowWebhook()
    const judging = {webhook: {webhookURL: hook.url}, deny: true}
    const asking = await session({input_guardrails: [judging]}, trusting)
    asking.client.say(message('a question'))
    await hook.called()
    asking.client.socket.destroy()
    await asking.upstream.ended
    hook.let()
    expect(asking.sent()).toEqual([])

    const held = await session({output_guardrails: [buffer(judging)]}, trusting)
    held.client.say({type: 'response.create'})
    await held.upstream.until(() => held.upstream.messages.length === 1)
    for (const event of answer('resp_1', ['a word of it'])) held.upstream.say(event)
    await hook.called()
    expect(held.received()).toEqual([])
    held.client.socket.destroy()
    await held.upstream.ended
    hook.let()
    const turn = (await rowsOf(held, trusting)).find(row => row.cost !== 0)!
    expect(turn).toMatchObject({cost: 0.15})
    expect(JSON.stringify(await trusting.gateway.admin('GET', `/logs/${turn.id}`))).not.toContain('a word of it')
    hook.close()
  })
})
