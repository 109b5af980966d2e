import {setImmediate as turn} from 'node:timers/promises'
import {upperBound} from '../src/base/upper-bound.ts'
import type {GateFeatures, GateMode} from '../src/cache/semantic/gate/contract.ts'
import {differs} from '../src/cache/semantic/gate/differs.ts'
import {endOf} from '../src/cache/semantic/lifetime.ts'
import {cosine, vectorIn} from '../src/cache/semantic/vector.ts'
import type {LoggedQuestion} from '../src/schema/cache-evaluation.ts'

/** A stored answer that a call would have been given. */
export interface EvaluatedHit {
  readonly stored_log_id: string
  readonly log_id: string
  readonly similarity: number
  /** Of the stored answer and the one that the provider gave; `unknown` where they are no equal texts. */
  readonly agreement: 'equal' | 'unknown'
  readonly cost_usd: number
}

/** The outcome of a replay under one threshold. */
export interface EvaluatedThreshold {
  readonly threshold: number
  /** Calls that would have been searched: the same request before them was answered at once. */
  readonly searched: number
  readonly exact_hits: number
  readonly hits: number
  /** Of the searched calls. */
  readonly hit_share: number
  readonly equal: number
  readonly unknown: number
  /** At 95 %, if each answer that is not equal were a wrong one. */
  readonly wrong_at_most: number
  readonly saved_usd: number
}

/** The same, and the hits themselves. */
export interface EvaluatedRun {
  readonly sums: EvaluatedThreshold
  readonly hits: readonly EvaluatedHit[]
}

export interface EvaluationOptions {
  readonly thresholds: readonly number[]
  readonly gate: GateMode
  readonly max_age_ms: number
  /** Called now and then with how many questions were compared. */
  readonly onStep: (done: number) => void
}

interface Candidate {
  /** Its place among the questions. */
  readonly at: number
  readonly similarity: number
}

interface TimedQuestion extends LoggedQuestion {
  readonly at_ms: number
  readonly floats: Float32Array | null
  /** Earlier questions that pass the gate, the nearest first. */
  candidates: readonly Candidate[]
}

/** A call has more neighbours than these only if all of them ask the same. */
const MOST_CANDIDATES = 64
const AT_A_TIME = 50

/**
 * Replays questions in the order of their calls: each is answered by an earlier one as the cache would have, under
 * every threshold. Only answers of providers are stored, so that a hit under a low threshold leaves no entry.
 */
export async function evaluated(
  questions: readonly LoggedQuestion[],
  options: EvaluationOptions,
): Promise<readonly EvaluatedRun[]> {
  const ordered = questions
    .map(each => ({
      ...each,
      at_ms: Date.parse(each.created_at),
      floats: vectorIn(Buffer.from(each.vector, 'base64')),
      candidates: [] as readonly Candidate[],
    }))
    .toSorted((one, other) => one.at_ms - other.at_ms || (one.log_id < other.log_id ? -1 : 1))
  await findCandidates(ordered, options)
  return options.thresholds
    .toSorted((one, other) => one - other)
    .map(threshold => {
      const run = replayed(ordered, threshold, options.max_age_ms)
      return {sums: summed(threshold, run), hits: run.hits}
    })
}

async function findCandidates(
  ordered: readonly TimedQuestion[],
  {thresholds, gate, max_age_ms, onStep}: EvaluationOptions,
) {
  const least = Math.min(...thresholds)
  const partitions = new Map<string, number[]>()
  for (const [at, question] of ordered.entries()) {
    const before = partitions.get(question.partition) ?? []
    question.candidates = before
      .filter(each => ordered[each]!.at_ms + max_age_ms > question.at_ms)
      .flatMap(each => candidate(ordered[each]!, question, gate, each))
      .filter(({similarity}) => similarity >= least)
      .toSorted((one, other) => other.similarity - one.similarity)
      .slice(0, MOST_CANDIDATES)
    if (question.answer) before.push(at)
    partitions.set(question.partition, before)
    if (at % AT_A_TIME !== 0) continue
    onStep(at)
    await turn()
  }
}

function candidate(stored: TimedQuestion, wanted: TimedQuestion, gate: GateMode, at: number): Candidate[] {
  if (differs(gated(stored), gated(wanted), gate) !== null || !stored.floats || !wanted.floats) return []
  const similarity = cosine(stored.floats, wanted.floats)
  return Number.isNaN(similarity) ? [] : [{at, similarity}]
}

const gated = ({features}: LoggedQuestion) => features as GateFeatures

interface Run {
  readonly hits: readonly EvaluatedHit[]
  readonly searched: number
  readonly exact_hits: number
}

function replayed(ordered: readonly TimedQuestion[], threshold: number, max_age_ms: number): Run {
  /** Digest of a request → when its answer ends. */
  const kept = new Map<string, number>()
  /** Place of a question whose answer is stored → when that ends. */
  const entries = new Map<number, number>()
  const hits: EvaluatedHit[] = []
  let exact_hits = 0
  for (const [at, question] of ordered.entries()) {
    const {digest, at_ms, is_relative} = question
    if ((kept.get(digest) ?? 0) > at_ms) {
      exact_hits++
      continue
    }
    const found = question.candidates.find(
      each => each.similarity >= threshold && isLive(entries.get(each.at), ordered[each.at]!, question, max_age_ms),
    )
    if (found) {
      kept.set(digest, entries.get(found.at)!)
      hits.push(hitOf(ordered[found.at]!, question, found.similarity))
      continue
    }
    kept.set(digest, at_ms + max_age_ms)
    if (question.answer) entries.set(at, endOf(at_ms, max_age_ms, is_relative))
  }
  return {hits, exact_hits, searched: ordered.length - exact_hits}
}

function isLive(end_ms: number | undefined, stored: TimedQuestion, wanted: TimedQuestion, max_age_ms: number): boolean {
  return Math.min(end_ms ?? 0, endOf(stored.at_ms, max_age_ms, wanted.is_relative)) > wanted.at_ms
}

function hitOf(stored: TimedQuestion, {log_id, answer, cost_usd}: TimedQuestion, similarity: number): EvaluatedHit {
  const one = stored.answer
  const is_equal =
    one !== null && answer !== null && (one.text === answer.text || (one.json !== null && one.json === answer.json))
  return {stored_log_id: stored.log_id, log_id, similarity, agreement: is_equal ? 'equal' : 'unknown', cost_usd}
}

function summed(threshold: number, {searched, exact_hits, hits: all}: Run): EvaluatedThreshold {
  const equal = all.filter(({agreement}) => agreement === 'equal').length
  const hits = all.length
  return {
    threshold,
    searched,
    exact_hits,
    hits,
    hit_share: searched > 0 ? hits / searched : 0,
    equal,
    unknown: hits - equal,
    wrong_at_most: upperBound(hits - equal, hits),
    saved_usd: all.reduce((sum, {cost_usd}) => sum + cost_usd, 0),
  }
}
