import {setImmediate as soon} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {type GuardedRoute, ROUTES} from '../support/guarded.ts'
import {type Answer, type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {type RoutingSetup, startRouting} from '../support/routing.ts'

// Streams that are redacted while they pass, over sockets, several at a time: each has to come whole, whenever its
// verdicts come and however its provider ends it.

const STREAMS = forRing({own: 80, ci: 600, full: 5_000})
const AT_A_TIME = 8
/** A stream that has not come whole by then does not come. */
const MAX_MS = 20_000
/** How a provider ends an answer that it has said all of. */
const ENDINGS = ['at once', 'later', 'broken behind its end'] as const

let routed: RoutingSetup
let service: FakeProvider
let turn = 0
/** Numbers that go round, so that no two streams next to each other are paced alike. */
function some(most: number): number {
  turn = (turn * 48_271 + seed()) % 2_147_483_647
  return turn % most
}

beforeAll(async () => {
  // the judge takes its time: now none, now as long as the provider needs for several events
  service = await fakeProvider(async (_heard, response) => {
    for (let wait = some(24); wait > 0; wait--) await soon()
    json(response, {verdict: true})
  })
  routed = await startRouting({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  for (const provider of [routed.a, routed.claude]) provider.answer(paced)
})
afterAll(async () => {
  await routed.close()
  await service.close()
})

const WORDS = [
  'Call 555-1234 ',
  'or 555',
  '-9876 now. ',
  'It is well, ',
  'and 5',
  '55-00',
  '00 too. ',
  'Nothing more of it. ',
]
const REDACTED = (words: readonly string[]) => words.join('').replace(/\d{3}-\d{4}/g, '[PHONE]')
const config = () => ({
  output_guardrails: [
    {regexReplace: {rule: '/\\d{3}-\\d{4}/g', redactText: '[PHONE]'}, stream_mode: 'window', stream_window_chars: 40},
    {
      webhook: {webhookURL: `${service.url}/judge`, failOnError: true},
      deny: true,
      stream_mode: 'window',
      stream_window_chars: 40,
    },
  ],
})

test(`${STREAMS} streams redacted in windows, ${AT_A_TIME} at a time, come whole`, {timeout: 900_000}, async () => {
  const faults: string[] = []
  let next = 0
  const lane = async () => {
    for (let index = next++; index < STREAMS; index = next++) {
      const fault = await tried(index).catch((error: Error) => String(error))
      if (fault && faults.length < 20) faults.push(`${index}: ${fault}`)
    }
  }
  await Promise.all(Array.from({length: AT_A_TIME}, lane))
  generated('whole streams', STREAMS)
  expect(faults).toEqual([])
})

/** What is wrong with one; undefined: nothing. */
async function tried(index: number): Promise<string | undefined> {
  const route = ROUTES[index % ROUTES.length]!
  // of one in other words a part may be missing that comes behind its last: breaking off is breaking off
  const endings = route.name === 'chat of another dialect' ? ENDINGS.slice(0, 2) : ENDINGS
  const ending = endings[Math.floor(index / ROUTES.length) % endings.length]!
  const words = Array.from({length: 10 + some(20)}, () => WORDS[some(WORDS.length)]!)
  const headers = {
    'content-type': 'application/json',
    'x-gateway-config': JSON.stringify({provider: `@${route.provider}`, ...config()}),
  }
  const body = JSON.stringify(
    route.ask(JSON.stringify({route: route.name, words, ending} satisfies Question), {stream: true}),
  )
  const reply = await routed.gateway.call(route.path.replace('{prompt}', routed.prompt), {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(MAX_MS),
  })
  const text = await reply.text()
  const told = `${route.name}, ${ending}, ${reply.status}: ${text.slice(-400)}`
  if (reply.status !== 200) return told
  if (route.read(text) !== REDACTED(words))
    return `the text is another: ${JSON.stringify(route.read(text))}, wanted ${JSON.stringify(REDACTED(words))}; ${told}`
  if ((text.match(ENDS) ?? []).length !== 1) return `its end is lost, or told again: ${told}`
  if (!REASONS.test(text)) return `why it ended is lost: ${told}`
  return undefined
}

const ENDS = /^data: \[DONE\]$|^event: (?:message_stop|response\.completed)$/gm
const REASONS = /"finish_reason":"stop"|"stop_reason":"end_turn"|"status":"completed"/

interface Question {
  readonly route: string
  readonly words: readonly string[]
  readonly ending: (typeof ENDINGS)[number]
}

/**
 * Answers with the words that it is asked for, in chunks of any length, at any pace. What it is to do stands in the
 * question, since several ask at once.
 */
const paced: Answer = async (received, response, request) => {
  const {route, words, ending} = questionIn(received.body)
  const bytes = await bytesOf(ROUTES.find(({name}) => name === route)!, words, received, request)
  response.writeHead(200, {'content-type': 'text/event-stream'})
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + some(900)
    response.write(bytes.subarray(at, at + length))
    at += length
    for (let wait = some(4); wait > 0; wait--) await soon()
  }
  if (ending !== 'at once') for (let wait = some(40); wait > 0; wait--) await soon()
  if (ending === 'broken behind its end') response.socket?.destroySoon()
  else response.end()
}

function questionIn(body: Buffer): Question {
  const said = JSON.parse(body.toString()) as {
    prompt?: string
    input?: string
    messages?: {content: string | {text: string}[]}[]
  }
  const content = said.prompt ?? said.input ?? said.messages![0]!.content
  return JSON.parse(typeof content === 'string' ? content : content[0]!.text) as Question
}

/** The stream that the route's provider would answer with. */
async function bytesOf(
  route: GuardedRoute,
  words: readonly string[],
  ...[received, request]: [Parameters<Answer>[0], Parameters<Answer>[2]]
) {
  const parts: Buffer[] = []
  const kept = {writeHead: () => kept, write: (part: string) => parts.push(Buffer.from(part)), end: () => undefined}
  await route.answer(words)(received, kept as never, request)
  return Buffer.concat(parts)
}
