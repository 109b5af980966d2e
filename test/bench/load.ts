import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {cpuUs, rssMb, run} from './processes.ts'
import type {Scenario} from './scenarios.ts'
import {MissingFault, type Subject} from './subjects/subject.ts'

/** What one client program saw. */
interface Seen {
  readonly answers: number
  readonly took_us: number
  /** To the whole answer, or to the first event of a stream. */
  readonly p50_us: number | null
  readonly p99_us: number | null
  readonly p999_us?: number | null
  readonly failed: number
  readonly events?: number
  /** From the provider's sending of an event to its arrival. */
  readonly way_p50_us?: number | null
  readonly way_p99_us?: number | null
}

/** One measurement of one subject. What could not be measured is null. */
export interface Sample {
  readonly answers: number
  readonly failed: number
  readonly per_s: number
  readonly p50_ms: number | null
  readonly p99_ms: number | null
  readonly p999_ms: number | null
  /** Processor time of the subject for one answer. */
  readonly cpu_us: number | null
  readonly event_cpu_us: number | null
  readonly way_p50_ms: number | null
  readonly way_p99_ms: number | null
  readonly rss_mb: number
}

export interface LoadOptions {
  readonly folder: string
  /** Processors for the clients; undefined for all. */
  readonly processors: string | undefined
}

/** What a subject writes after its last answer (rows of a log) belongs to the measurement. */
const SETTLE_MS = 150

/** Puts a load on a subject for some seconds. */
export async function measure(
  subject: Subject,
  scenario: Scenario,
  seconds: number,
  options: LoadOptions,
  settle_ms = SETTLE_MS,
): Promise<Sample> {
  const before = cpuUs(subject.pid)
  const seen = await drive(subject, scenario, seconds, options)
  await sleep(settle_ms)
  const cpu = cpuUs(subject.pid) - before
  const {answers, failed, took_us, events = 0} = seen
  const good = answers - (scenario.is_stream ? 0 : failed)
  const ms = (us: number | null | undefined) => (us === null || us === undefined || good <= 0 ? null : us / 1000)
  return {
    answers,
    failed,
    per_s: (good / took_us) * 1e6,
    p50_ms: ms(seen.p50_us),
    p99_ms: ms(seen.p99_us),
    p999_ms: ms(seen.p999_us),
    cpu_us: good > 0 ? cpu / good : null,
    event_cpu_us: events > 0 ? cpu / events : null,
    way_p50_ms: ms(seen.way_p50_us),
    way_p99_ms: ms(seen.way_p99_us),
    rss_mb: rssMb(subject.pid),
  }
}

/** Runs the client program of a scenario: wrk, or `listen.ts` for streams. */
export async function drive(
  subject: Subject,
  scenario: Scenario,
  seconds: number,
  {folder, processors}: LoadOptions,
): Promise<Seen> {
  const file = join(folder, 'body.json')
  writeFileSync(file, scenario.body)
  const clients = String(scenario.clients)
  const words: [string, ...string[]] = scenario.is_stream
    ? [
        process.execPath,
        join(import.meta.dirname, 'listen.ts'),
        subject.url,
        file,
        clients,
        String(seconds),
        JSON.stringify(subject.headers),
      ]
    : wrk(subject, file, clients, seconds)
  const said = await run(words, {processors}).catch((fault: NodeJS.ErrnoException) => {
    throw fault.code === 'ENOENT' ? new MissingFault(`${words[0]} is not installed`) : fault
  })
  return JSON.parse(said.trim().split('\n').at(-1)!) as Seen
}

/** The command line of wrk; it counts whole seconds only. */
export function wrk(
  {url, headers}: Subject,
  body_file: string,
  clients: string,
  seconds: number,
): [string, ...string[]] {
  const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const time = `${Math.max(1, Math.round(seconds))}s`
  return [
    'wrk',
    '-t1',
    `-c${clients}`,
    `-d${time}`,
    '--timeout',
    '10s',
    '-s',
    join(import.meta.dirname, 'say.lua'),
    ...lines,
    url,
    '--',
    body_file,
  ]
}
