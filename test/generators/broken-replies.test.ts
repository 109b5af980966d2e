import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {chatEvents, chatReply} from '../support/provider.ts'
import {forRing, generated} from '../support/ring.ts'
import {type Fault, faultsOf} from './broken-replies/faults.ts'
import {openEvents, ROWS, type Row} from './broken-replies/rows.ts'
import {type Bytes, reply, type WireProvider, wireProvider} from './broken-replies/wire.ts'

/**
 * Every dialect with a stream × what may be wrong with an answer × whether another may be asked × the client's words.
 * What is told is always one of three things: the whole answer, the whole answer of the other, or a fault; never an end
 * that looks like a whole answer's.
 */
let gateway: TestGateway
let provider: WireProvider
let cases = 0
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await wireProvider()
})
afterAll(async () => {
  generated('broken replies', cases)
  await gateway.close()
  await provider.close()
})

const CLIENTS = {
  chat: {
    path: '/v1/chat/completions',
    last: '[DONE]',
    body: {messages: [{role: 'user', content: 'Vienna?'}], max_tokens: 50, user: 'u'},
  },
  messages: {
    path: '/v1/messages',
    last: 'message_stop',
    body: {messages: [{role: 'user', content: 'Vienna?'}], max_tokens: 50, metadata: {user_id: 'u'}},
  },
  responses: {
    path: '/v1/responses',
    last: 'response.completed',
    body: {input: 'Vienna?', max_output_tokens: 50, user: 'u'},
  },
  complete: {path: '/v1/completions', last: '[DONE]', body: {prompt: 'Vienna?', max_tokens: 50}},
} as const
const OTHER = reply(
  'text/event-stream',
  chatEvents('m', {words: ['from ', 'the ', 'other']}).map(event => Buffer.from(event)),
)
type Client = keyof typeof CLIENTS

interface Heard {
  readonly status: number
  readonly text: string
  readonly trace_id: string
  readonly is_asked_twice: boolean
  readonly ms: number
}

interface How {
  readonly stream?: boolean
  readonly falls_back?: boolean
  /** What the other answers, where it is not the usual stream. */
  readonly second?: Bytes
  readonly at?: TestGateway
}

async function ask(
  row: Row,
  client: Client,
  bytes: Bytes,
  {stream = true, falls_back = false, second, at = gateway}: How = {},
): Promise<Heard> {
  cases++
  const there = second ? provider.play(second) : provider.play(OTHER)
  const targets = [
    {provider: row.slug, custom_host: provider.play(bytes), ...row.options},
    ...(falls_back
      ? [{provider: 'cerebras', custom_host: there, api_key: 'sk-other-0123456789', override_params: {model: 'm'}}]
      : []),
  ]
  const config = {strategy: falls_back ? {mode: 'fallback', on_status_codes: [502, 408]} : {mode: 'single'}, targets}
  const {path, body} = CLIENTS[client]
  const began = performance.now()
  const answer = await at.call(path, {
    method: 'POST',
    body: JSON.stringify({model: row.model, stream, ...body}),
    headers: {'content-type': 'application/json', 'x-gateway-config': JSON.stringify(config)},
  })
  const text = await answer.text().catch(fault => `cut: ${fault}`)
  const trace_id = answer.headers.get('x-gateway-trace-id')!
  return {
    status: answer.status,
    text,
    trace_id,
    is_asked_twice: provider.asked(there) > 0,
    ms: performance.now() - began,
  }
}

function eventIn(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** The text that a stream told, whatever its words. */
function said(text: string): string {
  let all = ''
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: {')) continue
    const event = eventIn(line.slice(6))
    const piece =
      event.choices?.[0]?.delta?.content ??
      event.choices?.[0]?.text ??
      (typeof event.delta === 'string' ? event.delta : event.delta?.text)
    if (typeof piece === 'string' && !event.type?.includes('reasoning')) all += piece
  }
  return all
}

const clientsOf = ({endpoint, clients}: Row): readonly Client[] =>
  endpoint === 'complete' ? ['complete'] : (clients ?? ['chat', 'messages', 'responses'])
/** Bytes go on as they come: what is malformed in them, or encoded oddly, the client is to see itself. */
const isExact = ({slug}: Row, client: Client) =>
  (slug === 'cerebras' && client === 'chat') || (slug === 'anthropic' && client === 'messages')
const OF_CLIENTS = /^malformed|identity, Gzip/

interface Case {
  readonly fault: Fault
  readonly client: Client
  readonly falls_back: boolean
}

/** The cases of a row: all of them, or (ring own) for each fault one of its clients, alone or with another to ask. */
function casesOf(row: Row, place: number): readonly Case[] {
  const clients = clientsOf(row)
  return faultsOf(row).flatMap((fault, at) => {
    const all = clients.flatMap(client =>
      (row.endpoint === 'complete' ? [false] : [false, true]).map(falls_back => ({fault, client, falls_back})),
    )
    const apt = all.filter(({client}) => !isExact(row, client) || !OF_CLIENTS.test(fault.name))
    return forRing({
      own: [apt[(at + place) % apt.length]!],
      ci: apt.filter(({client}, which) => client === 'chat' || (which + at) % 3 === 0),
      full: apt,
    })
  })
}

/** What is wrong with what was heard; null: nothing. */
function wrong(
  {fault, falls_back, client}: Case,
  row: Row,
  {status, text: response, is_asked_twice}: Heard,
  whole: string,
): string | null {
  const {last} = CLIENTS[client]
  const text = response.replaceAll('"error":null', '')
  const is_whole = status === 200 && text.includes(last) && !/"error"|event: error|response\.failed/.test(text)
  const its_own = is_whole && said(text) === said(whole) && !is_asked_twice
  const the_others = is_whole && said(text) === 'from the other' && is_asked_twice
  const is_told = !text.includes(last) && /"error"/.test(text) && text.includes(row.slug) && !is_asked_twice
  if (
    fault.when === 'none'
      ? its_own
      : fault.when === 'early' && falls_back
        ? the_others
        : is_told || (falls_back && the_others)
  )
    return null
  return `${row.name} as ${client}, ${fault.name}${falls_back ? ', with another to ask' : ''}: ${status} ${tail(text)}`
}

describe.each(ROWS.map((row, at) => [row.name, row, at] as const))('%s', (_, row, at) => {
  test('streams', async () => {
    const whole = new Map<Client, string>()
    for (const client of clientsOf(row)) {
      const {status, text} = await ask(row, client, reply(row.stream_type, row.events))
      expect([status, said(text) !== '', text.includes(CLIENTS[client].last)]).toEqual([200, true, true])
      whole.set(client, text)
    }
    const failed: string[] = []
    const traces: (readonly [trace_id: string, name: string])[] = []
    for (const one of casesOf(row, at)) {
      const received = await ask(row, one.client, one.fault.stream, one)
      const fault = wrong(one, row, received, whole.get(one.client)!)
      if (fault) failed.push(fault)
      else if (one.fault.when !== 'none') traces.push([received.trace_id, `${one.fault.name} as ${one.client}`])
    }
    await gateway.app.flushed()
    for (const [trace_id, name] of traces) {
      const rows = (await gateway.admin<{data: {is_success: boolean}[]}>('GET', `/logs?trace_id=${trace_id}`)).data
      if (!rows.some(({is_success}) => !is_success)) failed.push(`${name}: logged as a success`)
    }
    expect(failed).toEqual([])
  }, 120_000)

  test.runIf(!row.is_exact)(
    'whole answers',
    async () => {
      const [client] = clientsOf(row) as [Client]
      const plain = await ask(row, client, reply('application/json', [Buffer.from(JSON.stringify(row.plain))]), {
        stream: false,
      })
      expect(plain.status).toBe(200)
      const failed: string[] = []
      for (const fault of faultsOf(row)) {
        if (!fault.whole) continue
        const {status, text} = await ask(row, client, fault.whole, {stream: false})
        const same = status === 200 && answerIn(text) === answerIn(plain.text)
        const fits = fault.when === 'none' ? same : status === 502 && text.includes(row.slug)
        if (!fits) failed.push(`${row.name}, ${fault.name}: ${status} ${tail(text)}`)
      }
      const page = faultsOf(row).find(({name}) => name === 'a page')!
      if (client === 'chat') {
        const good = reply('application/json', [Buffer.from(JSON.stringify(chatReply('m', 'from the other')))])
        const {status, text} = await ask(row, client, page.whole!, {stream: false, falls_back: true, second: good})
        if (status !== 200 || !text.includes('from the other'))
          failed.push(`${row.name}: no other was asked: ${status} ${tail(text)}`)
      }
      expect(failed).toEqual([])
    },
    60_000,
  )
})

describe('a stream of comments', () => {
  const ALIVE = Buffer.from(': still here\n\n')
  const rows = ROWS.filter(({framing}, at) => framing === 'sse' && forRing({own: at % 5 === 0, ci: true, full: true}))
  /** Long beside what a busy machine makes of a pause, short beside a test's patience. */
  const FIRST_MS = 2500
  const IDLE_MS = 1000
  let patient: TestGateway
  beforeAll(async () => {
    patient = await startGateway({
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
      UPSTREAM_FIRST_BYTE_TIMEOUT_MS: String(FIRST_MS),
      UPSTREAM_IDLE_TIMEOUT_MS: String(IDLE_MS),
    })
  })
  afterAll(() => patient.close())

  test('is waited for as long as a first event is, and no longer; between events no longer than that; and puts off no idle limit for ever', async () => {
    const asked = rows.flatMap(row => {
      const [client] = clientsOf(row) as [Client]
      const open = Math.max(1, openEvents(row))
      const alone = ask(
        row,
        client,
        {...reply(row.stream_type, [ALIVE], {is_whole: false}), end: 'comments'},
        {at: patient},
      )
      const other = ask(
        row,
        client,
        {...reply(row.stream_type, [ALIVE], {is_whole: false}), end: 'comments'},
        {at: patient, falls_back: row.endpoint === 'chat'},
      )
      const begun = ask(
        row,
        client,
        {...reply(row.stream_type, row.events.slice(0, open), {is_whole: false}), end: 'comments'},
        {at: patient},
      )
      const comments = Array.from({length: 15}, () => ALIVE)
      const slow = ask(
        row,
        client,
        {...reply(row.stream_type, [...comments, ...row.events]), pause_ms: 100},
        {at: patient},
      )
      return [alone, other, begun, slow].map(async (call, which) => {
        const {status, text, ms} = await call
        const {last} = CLIENTS[client]
        const is_timeout = !text.includes(last) && text.includes('did not answer within') && ms < 2 * FIRST_MS + 3000
        const fits =
          which === 3 || (which === 1 && row.endpoint === 'chat') ? status === 200 && text.includes(last) : is_timeout
        return fits
          ? []
          : [
              `${row.name}, ${['alone', 'with another to ask', 'behind events', 'before events'][which]}: ${status} in ${ms} ms: ${tail(text)}`,
            ]
      })
    })
    expect((await Promise.all(asked)).flat()).toEqual([])
  }, 60_000)
})

const tail = (text: string) => (text.length > 500 ? `${text.slice(0, 100)} … ${text.slice(-350)}` : text)

function answerIn(text: string): string {
  const {choices, content} = JSON.parse(text) as {choices?: unknown; content?: unknown}
  return JSON.stringify([choices, content])
}
