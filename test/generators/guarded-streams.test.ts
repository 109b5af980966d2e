import {expect, test} from 'vitest'
import {unsavedHook} from '../../src/guardrails/trial.ts'
import {
  isDone,
  isSaid,
  STREAM_TRANSITIONS,
  type Stage,
  type StageEvent,
  waits,
} from '../../src/proxy/guardrails/stream-transitions.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {type Delay, type Played, play} from './guarded-streams/play.ts'
import {ARGUMENTS, THOUGHT, type Told, understood, WIRES, type Wire} from './guarded-streams/wires.ts'

const MODES = ['after', 'window', 'buffer'] as const
const VERDICTS = ['pass', 'redact', 'deny', 'redact and deny', 'broken'] as const
const DELAYS: readonly Delay[] = ['at once', 'now and then', 'at the end']
const ENDINGS = [
  'clean',
  'no [DONE]',
  'no blank line',
  'truncated',
  'torn',
  'error',
  'reset',
  'gone',
  'text behind the end',
] as const
const STYLES = ['LF', 'CRLF', 'CR', 'comments', 'byte order mark'] as const
const CUTS = ['events', 'whole', 'bytes', 'anywhere'] as const
const TABLE = [WIRES, MODES, VERDICTS, DELAYS, ENDINGS, STYLES, CUTS] as const
const COMBINATIONS = TABLE.reduce((product, {length}) => product * length, 1)
/**
 * A step through all combinations that meets each once before any a second time, the ones beside each other far apart.
 */
const STEP = 48_611

interface Case {
  readonly wire: Wire
  readonly mode: (typeof MODES)[number]
  readonly verdict: (typeof VERDICTS)[number]
  readonly delay: Delay
  readonly ending: (typeof ENDINGS)[number]
  readonly style: (typeof STYLES)[number]
  readonly cut: (typeof CUTS)[number]
}

const FORBIDDEN = 'forbidden'
const PHONE = /\d{3}-\d{4}/g
const REDACTS = {id: 'default.regexReplace', parameters: {rule: '/\\d{3}-\\d{4}/g', redactText: '[PHONE]'}}
const redacted = (text: string) => text.replace(PHONE, '[PHONE]')

function caseAt(index: number): Case {
  let rest = (index * STEP) % COMBINATIONS
  const [wire, mode, verdict, delay, ending, style, cut] = TABLE.map(column => {
    const place = rest % column.length
    rest = Math.floor(rest / column.length)
    return column[place]
  }) as [Wire, Case['mode'], Case['verdict'], Delay, Case['ending'], Case['style'], Case['cut']]
  return {wire, mode, verdict, delay, ending, style, cut}
}

const CASES = forRing({own: 1_000, ci: 8_000, full: 80_000})

test('what a client reads of a judged stream is the whole answer judged at once, however it comes and ends', {
  timeout: 1_200_000,
}, async () => {
  const faults: string[] = []
  const from = seed() % COMBINATIONS
  for (let index = 0; index < CASES; index++) {
    const each = caseAt(from + index)
    const fault = await tried(each, seed() + index).catch((error: Error) => error.message)
    if (!fault) continue
    faults.push(`${index} ${Object.values({...each, wire: each.wire.name}).join(', ')}: ${fault}`)
    if (faults.length > 20) break
  }
  generated('streams under guard', CASES)
  expect(faults).toEqual([])
})

test('what came before an error leaves, at whatever turn the stream ends while a text is told anew', async () => {
  const words = Array.from({length: 8}, () => 'call 555-1234 or stay. ')
  const hooks = [
    unsavedHook([REDACTS] as never, {deny: true, stream_mode: 'window', stream_window_chars: 60} as never)!,
  ]
  for (const wire of WIRES.filter(({provider, is_sse}) => provider !== null && is_sse)) {
    const response = wire.told([...words, 'The end.']).filter(({text, is_end}) => !is_end && text !== 'The end.')
    const chunks = [...response.map(({bytes}) => bytes), wire.error]
    for (let turns = 0; turns < 40; turns++) {
      // three numbers a chunk: whether turns pass behind it, whether one of the event loop does, as behind all but the
      // last, how many others
      let drawn = 0
      const random = () => [0.5, drawn < 3 * chunks.length - 3 ? 0 : 0.5, turns / 24][drawn++ % 3]!
      const played = await play({wire, hooks, chunks, last: 'ends', delay: 'at once', broken_verdict: 0, random})
      const {text} = understood(wire.endpoint, played.bytes)
      expect([wire.name, turns, played.fault, text]).toEqual([
        wire.name,
        turns,
        'upstream.told',
        redacted(words.join('')),
      ])
    }
  }
})

test('the stages of a judged stream: its end is told once, from one of them, and nothing is left behind', () => {
  const stages = Object.keys(STREAM_TRANSITIONS) as Stage[]
  const events: readonly StageEvent[] = ['last_event', 'end', 'ask', 'verdict', 'left', 'refusal', 'close']
  const next = (stage: Stage, event: StageEvent) => STREAM_TRANSITIONS[stage][event] ?? stage
  for (const stage of stages) {
    // whoever is done lets nothing leave, and only the end of its attempt is told to it
    if (isDone(stage))
      expect(events.filter(event => next(stage, event) !== stage)).toEqual(stage === 'closed' ? [] : ['close'])
    else expect([next(stage, 'refusal'), next(stage, 'close')]).toEqual(['cut', 'closed'])
    // the end is told from `ended` alone: never while something is awaited, nor before the provider has ended
    expect(next(stage, 'left') === 'whole').toBe(stage === 'ended' || stage === 'whole')
    // what is awaited is awaited through everything that the provider does, and asked for once at a time
    if (!waits(stage)) continue
    expect(['last_event', 'end', 'ask', 'left'].every(event => waits(next(stage, event as StageEvent)))).toBe(true)
    expect(waits(next(stage, 'verdict'))).toBe(false)
    expect(isSaid(next(stage, 'verdict'))).toBe(isSaid(stage))
  }
  // nothing that has been said is unsaid
  for (const stage of stages)
    for (const event of events) if (isSaid(stage)) expect(isSaid(next(stage, event))).toBe(true)
})

/** What is wrong with what a client reads in this case; undefined: nothing. */
async function tried({wire, mode, verdict, delay, ending, style, cut}: Case, of: number): Promise<string | undefined> {
  const random = numbers(of)
  const words = wordsOf(verdict, random)
  const all = wire.told(words)
  const {told: response, last} = endedBy(ending, all, wire, mode, random)
  const chunks = cutBy(cut, styled(style, response, wire, ending), random)
  const checks = [{id: 'default.contains', parameters: {words: [FORBIDDEN], operator: 'none'}}, REDACTS]
  const hook = unsavedHook(
    checks as never,
    {deny: true, stream_mode: mode, stream_window_chars: 20 + Math.floor(random() * 100)} as never,
  )!
  const broken_verdict = verdict === 'broken' ? 1 + Math.floor(random() * 3) : 0
  const played = await play({wire, hooks: [hook], chunks, last, delay, broken_verdict, random})
  if (played.misdeeds.length) return played.misdeeds.join('; ')
  const said = response.map(({text}) => text).join('')
  return wrongIn(played, {wire, mode, ending, said, has_all: response.length >= all.length, broken_verdict})
}

interface Expected {
  readonly wire: Wire
  readonly mode: Case['mode']
  readonly ending: Case['ending']
  /** All the text that the provider brought as part of its answer. */
  readonly said: string
  readonly has_all: boolean
  readonly broken_verdict: number
}

function wrongIn({bytes, fault, had_left, was_settled, verdicts}: Played, of: Expected): string | undefined {
  const {wire, mode, ending, said, has_all, broken_verdict} = of
  const received = understood(wire.endpoint, bytes)
  const want = mode === 'after' ? said : redacted(said)
  const tell = (wrong: string) =>
    `${wrong}; fault ${fault}; read ${JSON.stringify(received)}, wanted ${JSON.stringify(want)}`
  if (mode !== 'after' && received.text.includes(FORBIDDEN)) return tell('what is forbidden has left')
  if (mode !== 'after' && received.text.match(PHONE)) return tell('what is redacted has left')
  if (!want.startsWith(received.text)) return tell('the text is another')
  if (received.ends > 1) return tell('it is told whole more than once')
  if (fault !== null && received.ends > 0) return tell('it is told whole, and then broken')
  if (received.again.some(text => text !== (mode === 'after' ? text : want))) return tell('it is told again otherwise')
  if (ending === 'gone') return undefined
  const is_denied = mode !== 'after' && said.includes(FORBIDDEN)
  const is_broken = mode !== 'after' && broken_verdict > 0 && broken_verdict <= verdicts
  // a provider in the client's own words may break off behind its end as it likes
  const is_said = ending === 'reset' && (received.ends > 0 || (has_all && wire.provider === null))
  const is_unfinished = ['truncated', 'torn', 'error', 'reset'].includes(ending) && !was_settled && !is_said
  if (is_unfinished) {
    if (received.ends > 0 && ending !== 'error') return tell('an answer without its end is told whole')
    // what came before it broke is told where a part of it has left; else an error is all there is
    const is_told = received.text === want && fault !== 'guardrail.denied'
    const is_refused =
      fault !== null &&
      (!had_left || is_denied || is_broken || ((ending === 'error' || ending === 'torn') && received.text === ''))
    if (!is_told && !is_refused) return tell('what came before the break is lost')
    if (!is_refused && is_denied) return tell('it is not denied')
    const may_be_silent =
      wire.provider === null &&
      (ending === 'truncated' || (ending === 'error' && received.errors === 1) || mode === 'after')
    if (fault === null && !may_be_silent && !has_all) return tell('the break is not told')
    return undefined
  }
  if (is_denied && !is_broken) return fault === 'guardrail.denied' ? undefined : tell('it is not denied')
  if (is_broken) return fault !== null ? undefined : tell('a verdict is missing, and nobody is told')
  if (fault !== null) return tell('it is cut off')
  if (received.text !== want) return tell('text is lost')
  if (!received.has_reason) return tell('why it ended is lost')
  if (received.ends !== (ending === 'no [DONE]' && wire.provider === null && hasDone(wire) ? 0 : 1))
    return tell('its end is lost')
  if (wire.name === 'chat' && (received.calls !== ARGUMENTS || received.thought !== THOUGHT))
    return tell('what stands beside the text is lost')
  return undefined
}

const hasDone = ({endpoint}: Wire) => endpoint === 'chatComplete' || endpoint === 'complete'

const PIECES = [
  'good ',
  'plain ',
  'for',
  'bid',
  ' and',
  ' 55',
  '-12',
  '. ',
  'é🎉 ',
  'A longer piece of text that goes on for a while. ',
  '\n',
]
const CALLS = ['Call 555-1234. ', 'or 5', '55-98', '76 now ', 'at 555-', '0000']

/** Words of a text that the verdict fits, whatever pieces it falls into. */
function wordsOf(verdict: Case['verdict'], random: () => number): readonly string[] {
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)]!
  const plain = () => Array.from({length: Math.floor(random() * 12)}, () => pick(PIECES))
  const calls = verdict.includes('redact') ? Array.from({length: 6}, () => [...CALLS, ...plain()]).flat() : []
  const denied = verdict.includes('deny') ? [...plain(), ' forb', 'idd', 'en ', ...plain()] : []
  const words = [...plain(), ...calls, ...denied, ...plain(), 'The end.']
  // the pieces may make up what they are not to
  const is_meant = words.join('').includes(FORBIDDEN) === verdict.includes('deny')
  return is_meant ? words : ['It is well. ', 'The end.']
}

interface Ended {
  readonly told: readonly Told[]
  readonly last: 'ends' | 'breaks' | 'left'
}

function endedBy(
  ending: Case['ending'],
  all: readonly Told[],
  wire: Wire,
  mode: Case['mode'],
  random: () => number,
): Ended {
  const last_text = all.findLastIndex(({text, is_end}) => text !== '' && !is_end)
  const some = () => all.slice(0, 1 + Math.floor(random() * (last_text + 1)))
  const bytesOf = (bytes: Buffer): Told => ({bytes, text: '', is_end: false})
  switch (ending) {
    case 'no [DONE]':
      return {told: all.filter(({bytes}) => !bytes.includes('[DONE]')), last: 'ends'}
    case 'truncated':
      return {told: some(), last: 'ends'}
    case 'torn': {
      const response = some()
      const next = all[response.length]!.bytes
      const at = Math.max(next.indexOf('data: ') + 8, Math.floor(next.length * (0.3 + random() * 0.4)))
      return {told: [...response, bytesOf(next.subarray(0, at))], last: 'ends'}
    }
    case 'error':
      return {told: [...some(), bytesOf(wire.error)], last: 'ends'}
    case 'reset':
      return {told: random() < 0.3 ? all : some(), last: 'breaks'}
    case 'gone':
      return {told: random() < 0.3 ? all : some(), last: 'left'}
    case 'text behind the end': {
      // A provider that says why it ends with its only piece of text has none before its end.
      if (wire.provider !== null || mode === 'after') return {told: all, last: 'ends'}
      const again = all[last_text]!
      const forbidden = Buffer.from(again.bytes.toString().replace('The end.', ` ${FORBIDDEN}`))
      return {told: [...all, bytesOf(forbidden)], last: 'ends'}
    }
    default:
      return {told: all, last: 'ends'}
  }
}

/** The bytes of each event, in another spelling of the same. */
function styled(
  style: Case['style'],
  response: readonly Told[],
  {is_sse}: Wire,
  ending: Case['ending'],
): readonly Buffer[] {
  const events = response.map(({bytes}) => bytes)
  if (!is_sse) return events
  const eol = style === 'CRLF' ? '\r\n' : style === 'CR' ? '\r' : '\n'
  const texts = events.map(bytes => bytes.toString())
  const noted =
    style === 'comments' ? texts.flatMap((each, at) => (at % 3 === 1 ? [': keep-alive\n\n', each] : [each])) : texts
  if (ending === 'no blank line') noted[noted.length - 1] = noted.at(-1)!.replace(/\n+$/, '')
  if (style === 'byte order mark') noted[0] = `\uFEFF${noted[0]}`
  return noted.map(each => Buffer.from(each.replaceAll('\n', eol)))
}

function cutBy(cut: Case['cut'], events: readonly Buffer[], random: () => number): readonly Buffer[] {
  if (cut === 'events') return events
  const whole = Buffer.concat(events)
  if (cut === 'whole') return [whole]
  const most = cut === 'bytes' ? 3 : 400
  const chunks: Buffer[] = []
  for (let at = 0; at < whole.length; ) {
    const length = 1 + Math.floor(random() * most)
    chunks.push(whole.subarray(at, at + length))
    at += length
  }
  return chunks
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
function numbers(of: number): () => number {
  let state = of >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
