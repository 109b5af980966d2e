import {expect, test} from 'vitest'
import {seeded} from '../../src/base/seeded-random.ts'
import type {Hook} from '../../src/guardrails/hook.ts'
import {unsavedHook} from '../../src/guardrails/trial.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {bytesOf, pass} from './every-string/pass.ts'
import type {Event} from './every-string/streams.ts'

const ENDPOINTS = ['chatComplete', 'complete', 'messages', 'createModelResponse', 'proxy'] as const
const MODES = ['window', 'buffer'] as const
const CARD = '4012888888881881'
const WORD = 'canary7f3a9c55'
const SECRETS = {
  card: {text: CARD, redacts: {id: 'default.pii', parameters: {redact: true}}, put: '<CREDIT_CARD_1>'},
  word: {
    text: WORD,
    redacts: {id: 'default.regexReplace', parameters: {rule: '/canary\\w+/g', redactText: '#'}},
    put: '#',
  },
}
type Secret = (typeof SECRETS)['card']
const CASES = forRing({own: 100, ci: 800, full: 8_000})

type Random = () => number
const pick = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)]!

/** Where a text comes in events: names of members and, for a list, the element that holds it. */
type Step = {readonly key: string} | {readonly list: 'index' | 'place'}
interface Text {
  readonly path: readonly Step[]
  readonly pieces: readonly string[]
  readonly said: string
  /** Of several texts at one place, which. */
  readonly index: number
}

const KEYS = [
  'reasoning_details',
  'thinking_blocks',
  'delta',
  'x',
  'extra',
  'content_blocks',
  'vendor',
  'p-1',
  'note',
  'text',
  'thinking',
  'blocks',
]
const LEAVES = ['text', 'thinking', 'value', 'note', 'body', 'partial_json', 'x-y', 'said']
const PROSE = [
  'It is said. ',
  'some words before ',
  'and then ',
  'a longer sentence that goes on. ',
  'é🎉 ',
  'so be it, ',
]

/** A way to a string that no dialect knows, of up to four steps. */
function pathOf(random: Random): readonly Step[] {
  const steps: Step[] = []
  for (let left = Math.floor(random() * 4); left > 0; left--) {
    steps.push({key: `${pick(KEYS, random)}_${Math.floor(random() * 3)}`})
    if (random() < 0.5) steps.push({list: random() < 0.5 ? 'index' : 'place'})
  }
  // by itself `text` is the text of the dialect
  return [...steps, {key: pick(steps.length ? LEAVES : LEAVES.slice(1), random)}]
}

function cut(text: string, most: number, random: Random): string[] {
  const pieces: string[] = []
  const is_even = random() < 0.5
  for (let at = 0; at < text.length; ) {
    const end = at + (is_even ? most : 1 + Math.floor(random() * most))
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}

function textOf(path: readonly Step[], index: number, secret: string | null, random: Random): Text {
  const prose = () => Array.from({length: Math.floor(random() * 8)}, () => pick(PROSE, random)).join('')
  const plain = `${prose()}${secret === null ? '' : ` ${secret} `}${prose()}end. `
  const is_json = 'key' in path.at(-1)! && (path.at(-1) as {key: string}).key === 'partial_json'
  const said = is_json ? JSON.stringify({query: plain}) : plain
  return {path, pieces: cut(said, 1 + Math.floor(random() * 9), random), said, index}
}

/** A value with `text` at the end of the path. */
function nested(path: readonly Step[], index: number, text: string): unknown {
  return path.reduceRight<unknown>((within, step) => {
    if ('key' in step) return {[step.key]: within}
    if (step.list === 'index') return [{index, ...(within as object)}]
    return [...Array.from({length: index}, () => ({})), within]
  }, text)
}

/** The envelope of an event in each dialect, with members of its own and of the provider's. */
function eventOf(endpoint: EndpointName, more: unknown, text: string, place: 'top' | 'delta'): Event {
  const of = more as object
  const top = place === 'top' ? of : {}
  const within = place === 'top' ? {} : of
  switch (endpoint) {
    case 'messages':
      return {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text, ...within}, ...top}
    case 'createModelResponse':
      return {
        type: 'response.output_text.delta',
        output_index: 0,
        content_index: 0,
        item_id: 'msg_1',
        delta: text,
        ...top,
        ...(place === 'top' ? {} : {vendor: of}),
      }
    case 'proxy':
      return {
        candidates: [{content: {role: 'model', parts: [{text}], ...within}, index: 0}],
        modelVersion: 'm',
        responseId: 'r',
        ...top,
      }
    case 'complete':
      return {
        id: 'c',
        object: 'text_completion',
        model: 'm',
        choices: [{index: 0, text, finish_reason: null, ...within}],
        ...top,
      }
    default:
      return {
        id: 'c',
        object: 'chat.completion.chunk',
        model: 'm',
        choices: [{index: 0, delta: {content: text, ...within}, finish_reason: null}],
        ...top,
      }
  }
}

const ENDS: Readonly<Record<(typeof ENDPOINTS)[number], readonly Event[]>> = {
  chatComplete: [{id: 'c', object: 'chat.completion.chunk', choices: [{index: 0, delta: {}, finish_reason: 'stop'}]}],
  complete: [{id: 'c', object: 'text_completion', choices: [{index: 0, text: '', finish_reason: 'stop'}]}],
  proxy: [{candidates: [{content: {role: 'model', parts: [{text: ''}]}, finishReason: 'STOP', index: 0}]}],
  messages: [{type: 'content_block_stop', index: 0}, {type: 'message_stop'}],
  createModelResponse: [
    {type: 'response.completed', response: {id: 'r', object: 'response', status: 'completed', output: []}},
  ],
}

/**
 * What a client makes of a stream by the rule: the strings at each place, one after the other; a member of a list is
 * known by its index, else by its place.
 */
function joined(text: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  const walk = (value: unknown, place: string) => {
    if (typeof value === 'string') texts.set(place, (texts.get(place) ?? '') + value)
    else if (Array.isArray(value))
      for (const [at, each] of value.entries()) walk(each, `${place}.${(each as {index?: number} | null)?.index ?? at}`)
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) walk(each, `${place}.${key}`)
  }
  for (const line of text.split('\n')) if (line.startsWith('data: {')) walk(JSON.parse(line.slice(6)), '')
  return texts
}

interface Case {
  readonly endpoint: (typeof ENDPOINTS)[number]
  readonly mode: (typeof MODES)[number]
  readonly secret: Secret
  readonly events: readonly Event[]
  readonly window: number
  readonly cuts: readonly number[]
}

function caseOf(random: Random): Case {
  const endpoint = pick(ENDPOINTS, random)
  const secret = SECRETS[pick(['card', 'word'] as const, random)] as Secret
  const place = pick(['top', 'delta'] as const, random)
  const path = pathOf(random)
  const is_listed = path.some(step => 'list' in step)
  const texts = Array.from({length: is_listed ? 1 + Math.floor(random() * 3) : 1}, (_, index) =>
    textOf(path, index, index === 0 || random() < 0.3 ? secret.text : null, random),
  )
  const words = cut(Array.from({length: Math.floor(random() * 12)}, () => pick(PROSE, random)).join(''), 6, random)
  const constants =
    random() < 0.5
      ? {provider: 'Acme AI', region: 'eu-1', citations: ['https://a.example/one', 'https://a.example/two']}
      : {}
  const left = texts.map(({pieces}) => [...pieces])
  const events: Event[] = []
  const in_turn = random() < 0.4
  while (left.some(({length}) => length > 0) || words.length > 0) {
    const which = in_turn ? left.findIndex(({length}) => length > 0) : Math.floor(random() * left.length)
    const piece = which >= 0 && random() < 0.8 ? left[which]!.shift() : undefined
    const word = piece === undefined || random() < 0.3 ? (words.shift() ?? '') : ''
    const more = piece === undefined ? {} : (nested(path, texts[which]!.index, piece) as object)
    events.push(eventOf(endpoint, place === 'top' ? {...constants, ...more} : more, word, place))
  }
  return {
    endpoint,
    mode: pick(MODES, random),
    secret,
    events: [...events, ...ENDS[endpoint]],
    window: 60 + Math.floor(random() * 200),
    cuts: Array.from({length: Math.floor(random() * 8)}, random),
  }
}

const hookOf = (check: object, of: Case): Hook =>
  unsavedHook([check as never], {deny: true, stream_mode: of.mode, stream_window_chars: of.window} as never)!

async function wrongIn(of: Case): Promise<string | undefined> {
  const {endpoint, secret, events} = of
  const bytes = bytesOf(endpoint, events)
  const cuts = of.cuts.map(part => Math.floor(part * bytes.length))
  const before = joined(bytes.toString())
  const passed = await pass(endpoint, [hookOf(secret.redacts, of)], bytes, cuts)
  const after = joined(passed.text)
  const leaks = [...after].filter(([, text]) => text.includes(secret.text)).map(([place]) => place)
  if (leaks.length) return `leaves at ${leaks.join()}`
  if (passed.fault) return `is cut off: ${passed.fault.message}`
  for (const [place, text] of before) {
    const want = text.replaceAll(secret.text, secret.put)
    // what has no text but repeats is told once where the whole answer is told anew
    if (place === '.id' || place === '.object' || place === '.model') continue
    if ((after.get(place) ?? '') !== want) return `${place} is ${after.get(place)}, not ${want}`
  }
  const denied = await pass(
    endpoint,
    [hookOf({id: 'default.regexMatch', parameters: {rule: secret.text, not: true}}, of)],
    bytes,
    cuts,
  )
  if (denied.fault?.code !== 'guardrail.denied') return 'is not denied'
  const got = [...joined(denied.text)].find(([, text]) => text.includes(secret.text))
  return got ? `leaves before it is denied, at ${got[0]}` : undefined
}

test('a text in pieces at a place that no dialect knows is redacted and denied, whatever the shape of its events', {
  timeout: 1_200_000,
}, async () => {
  const faults: string[] = []
  for (let number = 0; number < CASES; number++) {
    const of = caseOf(seeded(`copies ${seed()} ${number}`))
    const fault = await wrongIn(of).catch((error: Error) => String(error.stack))
    if (!fault) continue
    faults.push(
      `${number} ${of.endpoint} ${of.mode} ${of.window} ${of.events.length} events: ${fault} ${JSON.stringify(of.events[0])}`,
    )
    if (faults.length >= 8) break
  }
  generated('texts at unknown places of a stream', CASES)
  expect(faults).toEqual([])
})
