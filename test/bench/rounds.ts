import {type LoadOptions, measure, type Sample} from './load.ts'
import type {SubjectId} from './options.ts'
import type {Scenario} from './scenarios.ts'
import type {Subject} from './subjects/subject.ts'

/** All rounds of one subject in one scenario. */
export interface Result {
  readonly id: SubjectId
  readonly name: string
  readonly samples: readonly Sample[]
  readonly failed: number
  /** Medians over the rounds. */
  readonly median: Readonly<Record<Figure, number | null>>
  /** The round that took least: other load on the machine only ever adds. */
  readonly best_cpu_us: number | null
  /** Half of what the rounds' CPU lie apart, as a share of their median. */
  readonly spread: number | null
}

type Figure = Exclude<keyof Sample, 'answers' | 'failed'>
const FIGURES: readonly Figure[] = [
  'per_s',
  'p50_ms',
  'p99_ms',
  'cpu_us',
  'event_cpu_us',
  'way_p50_ms',
  'way_p99_ms',
  'rss_mb',
]

export interface Comparison {
  readonly scenario: Scenario
  readonly results: readonly Result[]
}

export interface RoundsOptions extends LoadOptions {
  readonly rounds: number
  readonly seconds: number
}

/** Measures all subjects in turn, round by round, so that what else happens on the machine falls on all of them. */
export async function compare(
  subjects: readonly Subject[],
  scenario: Scenario,
  options: RoundsOptions,
): Promise<Comparison> {
  const {rounds, seconds} = options
  const samples = new Map(subjects.map((subject): [Subject, Sample[]] => [subject, []]))
  for (const subject of subjects) await measure(subject, scenario, 1, options) // compiles what is hot
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < subjects.length; turn++) {
      const subject = subjects[(turn + round) % subjects.length]!
      samples.get(subject)!.push(await measure(subject, scenario, seconds, options))
    }
  }
  return {scenario, results: subjects.map(subject => summed(subject, samples.get(subject)!))}
}

function summed({id, name}: Subject, samples: readonly Sample[]): Result {
  const cpus = numbers(samples.map(sample => sample.cpu_us))
  const best_cpu_us = cpus.length ? Math.min(...cpus) : null
  const middle = median(cpus)
  return {
    id,
    name,
    samples,
    failed: samples.reduce((sum, sample) => sum + sample.failed, 0),
    median: Object.fromEntries(
      FIGURES.map(name => [name, median(samples.map(sample => sample[name]))]),
    ) as Result['median'],
    best_cpu_us,
    spread: best_cpu_us !== null && middle ? (Math.max(...cpus) - best_cpu_us) / middle / 2 : null,
  }
}

/** The middle of the numbers there are; null when there are none. */
export function median(values: readonly (number | null)[]): number | null {
  const sorted = numbers(values).sort((a, b) => a - b)
  return sorted[(sorted.length - 1) >> 1] ?? null
}

function numbers(values: readonly (number | null)[]): number[] {
  return values.filter(value => value !== null)
}
