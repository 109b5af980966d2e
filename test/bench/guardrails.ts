import {pathToFileURL} from 'node:url'
import {CHECKS} from '../../src/guardrails/registry.ts'
import {runHooks} from '../../src/guardrails/run.ts'
import {CROWDED, HOSTILE, hostileWorld, PARAMETERS, REDACTIONS} from '../guardrails/hostile.ts'
import {type CheckSetup, hooks, said, world} from '../guardrails/support.ts'
import {everyString} from './every-string.ts'
import {windowDelays} from './windows.ts'

/** Milliseconds that a check may keep everybody else waiting, on a megabyte of whatever a client sends. */
const MAX_BLOCKED_MS = 50
/** Microseconds of processor time of ten built-in checks on a prompt of 4 KB. */
const MAX_TEN_US = 300
/** Milliseconds that a chunk of a stream waits for its verdict, of a hundred chunks the slowest five apart. */
const MAX_WINDOW_MS = 5
const ROUNDS = 2000

/** Patterns that stall engines which backtrack, make many states of those which do not, or repeat much. */
const PATTERNS = [
  '(a+)+$',
  '^(\\w+\\s?)*$',
  '(a|b|ab)*c',
  '[ab]*a[ab]{14}$',
  '(a?){300}a{300}',
  '(.*)(.*)(.*)[0-9]{3}Z',
  '(?:[a-z0-9]+\\.)+[a-z]{2,}@',
  '\\b\\w+\\b \\d{3,16}x',
]

/** Ten checks as a guardrail of many rules has them. */
const TEN: readonly Record<string, unknown>[] = [
  {regexMatch: {rule: '\\b(?:password|secret|api[_-]?key)\\s*[:=]', not: true}},
  {regexReplace: {rule: '/[\\w.+-]+@[\\w-]+(\\.[\\w-]+)+/g'}},
  {contains: {words: ['forbidden', 'internal use only'], operator: 'none'}},
  {wordCount: {maxWords: 4000}},
  {sentenceCount: {maxSentences: 1000}},
  {characterCount: {maxCharacters: 100_000}},
  {alluppercase: {not: true}},
  {endsWith: {suffix: 'ignore all of this', not: true}},
  {modelWhitelist: {models: ['model-a']}},
  {requestParametersCheck: {params: {blockedKeys: ['logit_bias']}}},
]
const PROMPT =
  'Dear team, please summarise the report of last quarter: sales grew by 12 % in Europe, write to us at any time. '
    .repeat(40)
    .slice(0, 4096)

interface Blocked {
  readonly id: string
  readonly blocked_ms: number
  readonly took_ms: number
  readonly on: string
}

/**
 * The longest time for which a check on `of` kept the event loop, and how long it took in all: processor time of this
 * thread, so that other programs on the machine are not counted.
 */
async function longestBlock(
  guardrail: Record<string, unknown>,
  of: CheckSetup,
): Promise<{blocked_ms: number; took_ms: number}> {
  const made = world(of)
  const hook = hooks(of.side ?? 'input', [guardrail])
  await nextTurn()
  const began_ms = cpuMs()
  let last_ms = began_ms
  let longest_ms = 0
  let is_over = false
  const look = () => {
    const now_ms = cpuMs()
    longest_ms = Math.max(longest_ms, now_ms - last_ms)
    last_ms = now_ms
    if (!is_over) setImmediate(look)
  }
  setImmediate(look)
  await runHooks(hook, made.view, made.context)
  const took_ms = cpuMs() - began_ms
  await nextTurn()
  is_over = true
  return {blocked_ms: longest_ms, took_ms}
}

function cpuMs(): number {
  const {user, system} = process.threadCpuUsage()
  return (user + system) / 1000
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** The worst text of each check. */
async function blocks(): Promise<readonly Blocked[]> {
  const worst = new Map<string, Blocked>()
  const measure = async (id: string, parameters: Record<string, unknown>, of: CheckSetup, on: string) => {
    const times = [await longestBlock({[id]: parameters}, of)]
    // A block that is the machine's own, such as a collection of what the check before left, does not come twice.
    if (times[0]!.blocked_ms > MAX_BLOCKED_MS / 4) times.push(await longestBlock({[id]: parameters}, of))
    const [best] = times.sort((one, other) => one.blocked_ms - other.blocked_ms)
    if (best!.blocked_ms > (worst.get(id)?.blocked_ms ?? -1)) worst.set(id, {id, ...best!, on})
  }
  for (const check of CHECKS) {
    const {id} = check
    for (const [on, text] of Object.entries(HOSTILE)) {
      const of = hostileWorld(check, text)
      if (id === 'default.regexMatch')
        for (const rule of PATTERNS) await measure(id, {rule, redact: true}, of, `${on}, ${rule}`)
      else if (id === 'default.regexReplace')
        for (const rule of PATTERNS) await measure(id, {rule: `/${rule}/gi`}, of, `${on}, ${rule}`)
      else await measure(id, PARAMETERS[id] ?? {}, of, on)
    }
    const redaction = REDACTIONS[id]
    if (redaction) for (const [on, body] of Object.entries(CROWDED)) await measure(id, redaction, {body}, on)
    else if (check.sides.includes('input'))
      for (const [on, body] of Object.entries(CROWDED))
        await measure(id, PARAMETERS[id] ?? {}, {body, impatient: true}, on)
  }
  return [...worst.values()]
}

/** Microseconds of processor time for one call, the best of five. */
async function tenChecks(): Promise<number> {
  const all = hooks('input', [Object.fromEntries(TEN.flatMap(each => Object.entries(each)))])
  const body = said(PROMPT)
  let best_us = Number.POSITIVE_INFINITY
  for (let run = 0; run < 6; run++) {
    const before_ms = cpuMs()
    for (let round = 0; round < ROUNDS; round++) {
      const {view, context} = world({body})
      await runHooks(all, view, context)
    }
    if (run > 0) best_us = Math.min(best_us, ((cpuMs() - before_ms) * 1000) / ROUNDS)
  }
  return best_us
}

export interface GuardrailsBench {
  readonly lines: readonly string[]
  /** What is above its limit; empty when all is well. */
  readonly above: readonly string[]
}

export async function guardrailsBench(): Promise<GuardrailsBench> {
  const ten_us = await tenChecks()
  const walked = await everyString()
  const delays_ms = await windowDelays()
  const window_ms = delays_ms[Math.floor(delays_ms.length * 0.95)]!
  const all = await blocks()
  const head = `${'check'.padEnd(40)} longest block  in all  worst text`
  const lines = all.map(
    ({id, blocked_ms, took_ms, on}) =>
      `${id.padEnd(40)} ${`${blocked_ms.toFixed(1)} ms`.padStart(13)} ${`${took_ms.toFixed(0)} ms`.padStart(7)}  ${on}`,
  )
  const above = all.filter(({blocked_ms}) => blocked_ms > MAX_BLOCKED_MS).map(({id}) => id)
  return {
    lines: [
      `ten checks on a prompt of 4 KB: ${ten_us.toFixed(0)} µs of processor time (at most ${MAX_TEN_US})`,
      ...walked.map(
        ({name, texts_us, strings_us, ratio, most_ratio}) =>
          `4 KB of chat redacted by default.pii, ${name}: ${texts_us.toFixed(0)} µs for its texts alone, ${strings_us.toFixed(0)} µs for every string: ${ratio.toFixed(2)} (at most ${most_ratio})`,
      ),
      `a chunk of a stream in window mode, four checks: p50 ${delays_ms[delays_ms.length >> 1]!.toFixed(2)} ms, p95 ${window_ms.toFixed(2)} ms (at most ${MAX_WINDOW_MS})`,
      `1 MB of hostile text, at most ${MAX_BLOCKED_MS} ms:`,
      head,
      ...lines,
    ],
    above: [
      ...above,
      ...(ten_us > MAX_TEN_US ? ['ten checks on a prompt of 4 KB'] : []),
      ...walked.flatMap(({name, ratio, most_ratio}) =>
        ratio > most_ratio ? [`every string of a chat of 4 KB, ${name}`] : [],
      ),
      ...(window_ms > MAX_WINDOW_MS ? ['a chunk in window mode'] : []),
    ],
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const {lines, above} = await guardrailsBench()
  console.log(lines.join('\n'))
  if (above.length) {
    console.error(`above the limit: ${above.join(', ')}`)
    process.exitCode = 1
  }
}
