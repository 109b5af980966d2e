import {isDeepStrictEqual} from 'node:util'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {seeded} from '../../src/base/seeded-random.ts'
import type {Hook} from '../../src/guardrails/hook.ts'
import type {JsonValue} from '../../src/guardrails/json.ts'
import {LEFT_ALONE} from '../../src/guardrails/left-alone.ts'
import {runHooks} from '../../src/guardrails/run.ts'
import {unsavedHook} from '../../src/guardrails/trial.ts'
import {viewOf} from '../../src/guardrails/view.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'
import type {Side} from '../../src/schema/guardrails.ts'
import {json} from '../support/provider.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {type RoutingSetup, startRouting} from '../support/routing.ts'
import {type BodyString, keyOf, leavesOf, withLeaf} from './every-string/leaves.ts'
import {bytesOf, pass, understood} from './every-string/pass.ts'
import {REPLIES} from './every-string/replies.ts'
import {REQUESTS} from './every-string/requests.ts'
import {type Event, type Say, STREAMS} from './every-string/streams.ts'

/** What is put into each string: an address, which no word of a dialect has, and a word, which many have. */
const CANARIES: Readonly<Record<'address' | 'word', Canary>> = {
  address: {text: 'canary.bird@mail.example', check: {id: 'default.pii', parameters: {redact: true}}, put: '<EMAIL_1>'},
  word: {
    text: 'canary7f3a9c55',
    check: {id: 'default.regexReplace', parameters: {rule: '/canary\\w+/g', redactText: '#'}},
    put: '#',
  },
}
interface Canary {
  readonly text: string
  readonly check: object
  readonly put: string
  /** The longest of what begins with `text`, where it is a beginning alone. */
  readonly longest?: string
}

const hookOf = (check: object, more: object = {}): Hook =>
  unsavedHook([check as never], {deny: true, ...more} as never)!

async function judged(endpoint: EndpointName, side: Side, body: object, check: object) {
  const view = viewOf(endpoint, side, body as JsonValue)
  const context = {
    side,
    endpoint,
    response_status: 200,
    now_ms: () => 0,
    request: view,
    response: view,
    headers: {},
    metadata: {},
  } as never
  return runHooks([hookOf(check)], view, context)
}

/** True for a string that may stay as it is: its key is on the list, and it has the form that is listed. */
function isListed(leaf: BodyString, canary: Canary): boolean {
  if (leaf.within) return false
  const key = keyOf(leaf)
  return LEFT_ALONE.some(({keys, form}) => keys.includes(key) && form.test(canary.text))
}

const BODIES = (
  [
    ['input', REQUESTS],
    ['output', REPLIES],
  ] as const
).flatMap(([side, bodies]) =>
  Object.entries(bodies).map(([endpoint, body]) => ({endpoint: endpoint as EndpointName, side, body})),
)

describe.each(BODIES)('$endpoint, $side', ({endpoint, side, body}) => {
  test('every string of a body is redacted and judged, or is on the list of those left alone; all else stays', async () => {
    const leaves = leavesOf(body)
    const faults: string[] = []
    const stays = new Set<string>()
    for (const [name, canary] of Object.entries(CANARIES)) {
      for (const leaf of leaves) {
        const held = withLeaf(body, leaf, canary.text)
        const {view} = await judged(endpoint, side, held, canary.check)
        const made = JSON.stringify(view.body)
        if (made.includes(canary.text)) {
          if (!isListed(leaf, canary)) faults.push(`${name} at ${leaf.name} stays`)
          stays.add(keyOf(leaf))
          continue
        }
        const put = keyOf(leaf) === 'name' && !leaf.within ? canary.put.replace(/[<>]/g, '') : canary.put
        if (!isDeepStrictEqual(tokenless(view.body), tokenless(withLeaf(body, leaf, put))))
          faults.push(`${name} at ${leaf.name} changes more: ${made}`)
        if (canary !== CANARIES.address || isEcho(endpoint, side, leaf)) continue
        const told = await judged(endpoint, side, held, {id: 'default.pii', parameters: {}})
        if (!told.is_denied) faults.push(`${name} at ${leaf.name} is not judged`)
      }
    }
    generated(`every string, ${endpoint} ${side}`, leaves.length * 2)
    expect(faults).toEqual([])
    // The list says nothing that is not so.
    const listed = new Set(LEFT_ALONE.flatMap(({keys}) => keys))
    expect([...stays].filter(key => !listed.has(key))).toEqual([])
  })
})

/** Without tokens: those beside a text that was changed go with it. */
function tokenless(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, each: unknown) => (key === 'logprobs' ? null : each))
}

/** What a response repeats of its request is redacted, and judged as part of the request alone. */
function isEcho(endpoint: EndpointName, side: Side, {path}: BodyString): boolean {
  return endpoint === 'createModelResponse' && side === 'output' && path[0] !== 'output'
}

/** A text that comes in pieces, with a canary somewhere in it. */
interface Place {
  readonly name: string
  put(text: string, canary: string): string
}

const IN_TEXT: readonly Place[] = [
  {name: 'in the middle', put: (text, canary) => text.replace(' ', ` ${canary} `)},
  {name: 'at the end', put: (text, canary) => `${text} ${canary}`},
]
const IN_JSON: readonly Place[] = [
  {name: 'as a value', put: (text, canary) => text.replace('somebody', canary)},
  {name: 'as a key', put: (text, canary) => text.replace('"note"', JSON.stringify(canary))},
  {name: 'behind an escape', put: (text, canary) => text.replace('b c', `\\u00e9 \\"${canary}\\"`)},
]
const IN_PLACE = (text: string) => (text.startsWith('{') ? IN_JSON : IN_TEXT)[0]!
const MODES = ['window', 'buffer', 'after'] as const
const ROUNDS = forRing({own: 1, ci: 8, full: 80})
const MAX_WAIT_MS = forRing({own: 60_000, ci: 120_000, full: 600_000})

describe.each(Object.keys(STREAMS) as EndpointName[])('%s, streamed', endpoint => {
  const make = STREAMS[endpoint]!

  test.each(MODES)('%s: no string leaves as it was, however it is cut', {timeout: MAX_WAIT_MS}, async mode => {
    const names = new Map<string, string>()
    make((name, text) => {
      names.set(name, text)
      return [text]
    })
    const faults: string[] = []
    let cases = 0
    for (let round = 0; round < ROUNDS; round++) {
      const random = seeded(`${seed()} ${endpoint} ${mode} ${round}`)
      const cutting =
        (of: ReadonlyMap<string, string>): Say =>
        (name, text) =>
          pieces(of.get(name) ?? text, random)
      const window = 20 + Math.floor(random() * 100)
      const tried = async (name: string, events: readonly Event[], canary: Canary) => {
        cases++
        const fault = await wrongIn(endpoint, mode, window, events, canary, random)
        if (fault) faults.push(`${name}, round ${round}: ${fault}`)
      }
      for (const [name, text] of names) {
        for (const place of text.startsWith('{') ? IN_JSON : IN_TEXT) {
          for (const canary of Object.values(CANARIES)) {
            const events = make(cutting(new Map([[name, place.put(text, canary.text)]])))
            await tried(`${name} ${place.name}`, events, canary)
          }
        }
      }
      // Every text at once, each with another address: all are numbered, and stay so.
      const crowd = new Map(
        [...names].map(([name, text], at) => [name, IN_PLACE(text).put(text, `canary.n${at}@mail.example`)]),
      )
      await tried('all texts', make(cutting(crowd)), {
        ...CANARIES.address,
        text: 'canary.n',
        longest: `canary.n${names.size - 1}@mail.example`,
      })
      const canary = CANARIES.address
      const events = make(cutting(new Map()))
      const seen = new Set<string>()
      for (const [at, event] of events.entries()) {
        for (const leaf of leavesOf(event)) {
          const name = `${String(event.type)} ${leaf.name} ${shapeOf(event)}`
          if (seen.has(name) || isPiece(leaf, names, event) || isListed(leaf, canary) || isShape(leaf)) continue
          seen.add(name)
          await tried(name, events.with(at, withLeaf(event, leaf, canary.text)), canary)
        }
      }
    }
    generated(`every string, ${endpoint} streamed, ${mode}`, cases)
    expect(faults.slice(0, 20)).toEqual([])
  })
})

/** What members the delta of an event has. */
function shapeOf(event: Event): string {
  const [choice] = (event.choices as {delta?: object}[] | undefined) ?? []
  return Object.keys(choice?.delta ?? {}).join()
}

/** Words by which a stream is read at all: with another in their place it is another stream. */
function isShape({path}: BodyString): boolean {
  return ['type', 'object', 'role', 'stop_reason', 'finish_reason', 'status'].includes(String(path.at(-1)))
}

/** A piece, or a text that is told again when its pieces are over. */
function isPiece(leaf: BodyString, names: ReadonlyMap<string, string>, event: Event): boolean {
  if (/delta|\.done$|completed$/.test(String(event.type)) && !/annotation|citation/.test(leaf.name)) return true
  const key = String(leaf.path.at(-1))
  return (
    names.has(key) ||
    key === 'partial_json' ||
    key === 'arguments' ||
    leaf.within !== undefined ||
    key === 'text' ||
    key === 'input'
  )
}

function pieces(text: string, random: () => number): string[] {
  const cut: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + Math.floor(random() * 12)
    cut.push(text.slice(at, end))
    at = end
  }
  return cut
}

async function wrongIn(
  endpoint: EndpointName,
  stream_mode: (typeof MODES)[number],
  stream_window_chars: number,
  events: readonly Event[],
  {text, check, longest = text}: Canary,
  random: () => number,
): Promise<string | undefined> {
  const bytes = bytesOf(endpoint, events)
  const cuts = Array.from({length: Math.floor(random() * 6)}, () => Math.floor(random() * bytes.length))
  const how = {stream_mode, stream_window_chars}
  const denies = {id: 'default.regexMatch', parameters: {rule: 'canary[.\\w]+', not: true}}
  const is_echo = endpoint === 'createModelResponse' && understood(bytes.toString()).includes('"instructions":"canary')
  if (stream_mode === 'after') {
    const {late} = await pass(endpoint, [hookOf(denies, how)], bytes, cuts)
    const verdict = late[0] && 'verdict' in late[0] ? late[0].verdict : undefined
    return verdict === false || is_echo || isEchoed(bytes) ? undefined : 'nothing is said of it'
  }
  const redacted = await pass(endpoint, [hookOf(check, how)], bytes, cuts)
  // What is looked for has to fit in half of a window (docs/guardrails.md): the stream is cut off in a longer one, and
  // it does not leave.
  const fits = stream_mode !== 'window' || longest.length <= stream_window_chars / 2
  if (redacted.fault && fits) return `redacted, it is cut off: ${redacted.fault.message}`
  const received = understood(redacted.text)
  if (received.includes(text))
    return `redacted, it leaves: ${received.slice(Math.max(0, received.indexOf(text) - 300), received.indexOf(text) + 60)}`
  if (isEchoed(bytes)) return undefined
  const denied = await pass(endpoint, [hookOf(denies, how)], bytes, cuts)
  if (denied.fault?.code !== 'guardrail.denied') return 'it is not denied'
  return understood(denied.text).includes(text) ? 'denied, it leaves' : undefined
}

/** True when the canary stands in what a response repeats of its request alone. */
function isEchoed(bytes: Buffer): boolean {
  const text = bytes.toString()
  return /"(?:instructions|project)":"canary|"metadata":\{"canary/.test(text)
}

describe('through a gateway', () => {
  let routed: RoutingSetup
  beforeAll(async () => {
    routed = await startRouting()
  })
  afterAll(() => routed.close())

  const ROUTES: readonly {endpoint: EndpointName; path: string; provider: 'a' | 'claude'}[] = [
    {endpoint: 'chatComplete', path: '/v1/chat/completions', provider: 'a'},
    {endpoint: 'messages', path: '/v1/messages', provider: 'claude'},
    {endpoint: 'createModelResponse', path: '/v1/responses', provider: 'a'},
    {endpoint: 'complete', path: '/v1/completions', provider: 'a'},
    {endpoint: 'embed', path: '/v1/embeddings', provider: 'a'},
    {endpoint: 'promptComplete', path: '/v1/prompts/{prompt}/completions', provider: 'a'},
  ]
  const canary = (at: number) => `canary.n${at}@mail.example`
  /** Every string that is not on the list, each with a canary of its own. */
  const crowded = (body: object) => {
    const leaves = leavesOf(body).filter(
      leaf => !isListed(leaf, CANARIES.word) && !isListed(leaf, CANARIES.address) && !leaf.is_key,
    )
    return leaves
      .filter(leaf => !leaf.within?.is_key)
      .reduce((made, leaf, at) => withLeaf(made, leaf, canary(at)), body)
  }
  const redact = [{'default.pii': {redact: true}}]

  test.each(ROUTES)(
    '$path: what is redacted of a request reaches no provider, and of an answer no client',
    async route => {
      const {endpoint, path, provider} = route
      const upstream = routed[provider]
      const config = {provider: `@${provider}`}
      const asked = {path: path.replace('{prompt}', routed.prompt), body: crowded(REQUESTS[endpoint]!)}
      routed.reset()
      const reply = REPLIES[endpoint === 'promptComplete' ? 'chatComplete' : endpoint]
      if (reply) upstream.answer((_heard, response) => json(response, crowded(reply)))
      await routed.ask({...config, input_guardrails: redact}, asked)
      expect(upstream.received.length).toBe(1)
      expect(upstream.received[0]!.body.toString()).not.toContain('canary.')
      expect(upstream.received[0]!.body.toString()).toContain('EMAIL_1')
      if (!reply) return
      const told = await routed.ask({...config, output_guardrails: redact}, {...asked, body: REQUESTS[endpoint]!})
      expect(told.status).toBe(200)
      expect([told.text.includes('canary.'), told.text.includes('EMAIL_1')]).toEqual([false, true])
    },
  )
})
