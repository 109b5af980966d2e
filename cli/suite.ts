import {z} from 'zod'
import {Answers, DescribedRequest, type ExplainedTarget, type Explanation} from '../src/schema/explanations.ts'
import {Time} from '../src/schema/times.ts'
import {explain} from '../src/schema/validation-message.ts'
import {usageFault} from './fault.ts'

/** A target in words: its path, its name, `@slug`, a kind of provider, or either of these with `/model`. */
const TargetWord = z.string().min(1).max(500)

/** The expected end of a case's call; an absent member may be anything. */
const Expected = z
  .strictObject({
    /** The one that answers the client. */
    target: TargetWord.optional(),
    /** All that are called, without retries. */
    order: z.array(TargetWord).min(1).optional(),
    model: z.string().optional(),
    status: z.int().optional(),
    /** True when the gateway refuses; or the status it refuses with. */
    refused: z.union([z.boolean(), z.int()]).optional(),
    /** Of the target that answers. */
    retries: z.int().min(0).optional(),
    waits_ms: z.array(z.int().min(0)).optional(),
    /** True when any target of the config has a model without a price. */
    unpriced: z.boolean().optional(),
    cache: z.enum(['DISABLED', 'MISS', 'REFRESH']).optional(),
    request_timeout_ms: z.int().nullable().optional(),
  })
  .refine(expected => Object.keys(expected).length > 0, 'expects nothing; say target, order, status or another key')
type Expected = z.output<typeof Expected>

const Config = z.union([z.string().min(1), z.record(z.string(), z.unknown())])

const Case = z.strictObject({
  name: z.string().min(1).max(500),
  request: DescribedRequest,
  /** The answers of targets, by path; 200 by default. */
  when: Answers.optional(),
  seed: z.int().min(0).optional(),
  at: Time.optional(),
  expect: Expected,
})
export type SuiteCase = z.output<typeof Case>

/**
 * Cases of one config: a file beside the suite (its name has a dot or a slash), the slug of a saved one, or the config
 * itself.
 */
const Suite = z.strictObject({config: Config, cases: z.array(Case).min(1).max(10_000)})
export type Suite = z.output<typeof Suite>

export interface SuiteDifference {
  readonly field: string
  readonly expected: string
  readonly found: string
}

export interface CaseResult {
  readonly name: string
  readonly ok: boolean
  readonly differences: readonly SuiteDifference[]
}

/** Reads a suite; what does not belong in it is refused with its path and the nearest key. */
export function readSuite(value: unknown, source: string): Suite {
  const read = Suite.safeParse(value)
  if (read.success) return read.data
  throw usageFault(`${source} is no suite: ${explain(read.error, Suite, value, {root: 'the suite'})}`)
}

/** Holds what was found against what a case expects. */
export function judge({name, expect}: SuiteCase, explanation: Explanation): CaseResult {
  const differences = (Object.keys(expect) as (keyof Expected)[]).flatMap(field =>
    difference(field, expect, explanation),
  )
  return {name, ok: !differences.length, differences}
}

/** A case that could not be run. */
export function unasked({name}: SuiteCase, why: string): CaseResult {
  return {name, ok: false, differences: [{field: 'explain', expected: 'an explanation', found: why}]}
}

function difference(field: keyof Expected, expected: Expected, {way, targets}: Explanation): SuiteDifference[] {
  const {visits, end} = way
  const named = (path: string | null) => targets.find(target => target.path === path)
  const answering = named(end.target)
  const visit = visits.findLast(({target}) => target === end.target)
  const differs = (found: unknown, is_same = same(found, expected[field])) =>
    is_same ? [] : [{field, expected: formatValue(expected[field]), found: formatValue(found)}]
  switch (field) {
    case 'target':
      return differs(
        answering ? wordOf(answering) : refusalOf(end),
        answering !== undefined && isCalled(answering, expected.target!),
      )
    case 'order': {
      const targets = visits.map(({target}) => named(target)!)
      const {order = []} = expected
      return differs(
        targets.map(wordOf),
        targets.length === order.length && targets.every((target, index) => isCalled(target, order[index]!)),
      )
    }
    case 'refused': {
      const {refused} = expected
      const is_same =
        typeof refused === 'boolean' ? refused === (end.refusal !== null) : end.refusal?.status === refused
      return differs(end.refusal ? refusalOf(end) : false, is_same)
    }
    case 'status':
      return differs(end.status)
    case 'model':
      return differs(answering?.model ?? null)
    case 'retries':
      return differs(visit ? visit.tries.length - 1 : null)
    case 'waits_ms':
      return differs(visit ? visit.tries.slice(1).map(({wait_ms}) => wait_ms) : null)
    case 'cache':
      return differs(answering?.cache.status ?? null)
    case 'request_timeout_ms':
      return differs(answering ? answering.request_timeout_ms : refusalOf(end))
    case 'unpriced': {
      const without = targets.filter(({unpriced}) => unpriced)
      return differs(without.length ? without.map(wordOf) : false, expected.unpriced === without.length > 0)
    }
  }
}

function isCalled({path, name, managed, provider, model}: ExplainedTarget, word: string): boolean {
  const places = [...(managed === null ? [] : [`@${managed}`]), ...(provider === null ? [] : [provider])]
  return word === path || word === name || places.some(place => word === place || word === `${place}/${model}`)
}

function wordOf({path, managed, provider, model}: ExplainedTarget): string {
  const place = managed === null ? provider : `@${managed}`
  return place === null ? path : `${path} (${[place, ...(model === null ? [] : [model])].join('/')})`
}

function refusalOf({refusal}: Explanation['way']['end']): string {
  return refusal ? `refused with ${refusal.status}: ${refusal.message}` : 'no target'
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.length && value.every(each => typeof each === 'string')
    ? value.join(', then ')
    : JSON.stringify(value)
}
