import {setTimeout as sleep} from 'node:timers/promises'
import {type LoadOptions, measure, type Sample} from './load.ts'
import {cpuUs, rssMb, wakeups} from './processes.ts'
import {median} from './rounds.ts'
import {ALONE, BESIDE_EVENTS, LARGE, type Scenario, SMALL} from './scenarios.ts'
import {type PeerFiles, startExecutablePeer} from './subjects/executable-peer.ts'
import {type Gateway, startGateway} from './subjects/gateway.ts'
import {type Provider, startProvider} from './subjects/provider.ts'
import type {Subject, Surroundings} from './subjects/subject.ts'

/** One subject in one scenario: the middle of its rounds, but for `cpu_us`, which is the best. */
export interface BesideFigures {
  /** Processor time of a call until all is written, 5 s after the load. */
  readonly cpu_us: number | null
  readonly p50_ms: number | null
  readonly p99_ms: number | null
  readonly p999_ms: number | null
}

/** One subject without a call. */
export interface RestFigures {
  readonly cpu_ms_per_s: number
  readonly wakeups_per_s: number
}

export interface BesideSubject {
  readonly name: string
  /** By the name of the scenario. Of streams the times are those of the first event. */
  readonly scenarios: Readonly<Record<string, BesideFigures>>
  /** Resident after the last load. */
  readonly rss_mb: number
  readonly rest: RestFigures
}

/** Both gateways on the same processors: one, or all. */
export interface Beside {
  readonly processors: 'one' | 'all'
  readonly direct: BesideSubject
  readonly ours: BesideSubject
  readonly peer: BesideSubject
}

export const BESIDE_SCENARIOS = [SMALL, ALONE, LARGE, BESIDE_EVENTS] as const
/** Rows of a log and the like are written behind the answers: they belong to the calls. */
const WRITTEN_MS = 5_000
const REST_S = 20
/** A load leaves work behind: compilers, files, collections. */
const CALM_MS = 10_000
const WARM_UP_ROUNDS = 4

type LoadSurroundings = Omit<Surroundings, 'upstream'>

interface BesideOptions {
  readonly rounds: number
  readonly seconds: number
  readonly is_binary: boolean
  readonly peer: PeerFiles
}

/** Ours beside another gateway, in alternating rounds: on one processor, where there are two, and on all. */
export async function besidePeer(
  options: BesideOptions,
  around: LoadSurroundings,
  many: number,
): Promise<readonly Beside[]> {
  const one = {...around, processors: '0', load_processors: `1-${many - 1}`}
  const all = {...around, processors: undefined, load_processors: undefined}
  const found = many > 1 ? [await compared('one', options, one)] : []
  return [...found, await compared('all', options, all)]
}

async function compared(
  processors: Beside['processors'],
  options: BesideOptions,
  around: LoadSurroundings,
): Promise<Beside> {
  const provider = await startProvider(around)
  let ours: Gateway | undefined
  let peer: Subject | undefined
  try {
    peer = await startExecutablePeer(options.peer, {...around, upstream: provider.origin})
    ours = await startGateway(around, options.is_binary)
    const load = {folder: around.folder, processors: around.load_processors}
    const samples = await samplesOf({direct: provider, ours, peer}, options, load)
    await sleep(CALM_MS)
    const summed = async (name: Name, subject: Subject) => summary(subject, samples[name])
    return {
      processors,
      direct: await summed('direct', provider),
      ours: await summed('ours', ours),
      peer: await summed('peer', peer),
    }
  } finally {
    await ours?.stop()
    await peer?.stop()
    await provider.stop()
  }
}

type Name = 'direct' | 'ours' | 'peer'
type Samples = Record<Name, Map<string, Sample[]>>

/** Rounds in turn, so that whatever else the machine does meets all alike. */
async function samplesOf(
  subjects: {readonly direct: Provider; readonly ours: Gateway; readonly peer: Subject},
  {rounds, seconds}: BesideOptions,
  load: LoadOptions,
): Promise<Samples> {
  const names = Object.keys(subjects) as Name[]
  for (const name of names) await measure(subjects[name], SMALL, WARM_UP_ROUNDS * seconds, load)
  const samples: Samples = {direct: new Map(), ours: new Map(), peer: new Map()}
  for (const scenario of BESIDE_SCENARIOS)
    for (let round = 0; round < rounds; round++)
      for (const name of names)
        add(samples[name], scenario, await measure(subjects[name], scenario, seconds, load, WRITTEN_MS))
  return samples
}

function add(samples: Map<string, Sample[]>, {name}: Scenario, sample: Sample) {
  samples.set(name, [...(samples.get(name) ?? []), sample])
}

async function summary({name, pid}: Subject, samples: ReadonlyMap<string, readonly Sample[]>): Promise<BesideSubject> {
  const rss_mb = rssMb(pid)
  return {name, rss_mb, scenarios: figuresOf(samples), rest: await restOf(pid)}
}

function figuresOf(samples: ReadonlyMap<string, readonly Sample[]>): Record<string, BesideFigures> {
  const figures = [...samples].map(([scenario, all]) => {
    const cpus = all.flatMap(({cpu_us}) => (cpu_us === null ? [] : [cpu_us]))
    return [
      scenario,
      {
        cpu_us: cpus.length > 0 ? Math.min(...cpus) : null,
        p50_ms: median(all.map(({p50_ms}) => p50_ms)),
        p99_ms: median(all.map(({p99_ms}) => p99_ms)),
        p999_ms: median(all.map(({p999_ms}) => p999_ms)),
      },
    ] as const
  })
  return Object.fromEntries(figures)
}

async function restOf(pid: number): Promise<RestFigures> {
  const before = {cpu_us: cpuUs(pid), wakeups: wakeups(pid)}
  await sleep(REST_S * 1000)
  return {
    cpu_ms_per_s: (cpuUs(pid) - before.cpu_us) / 1000 / REST_S,
    wakeups_per_s: (wakeups(pid) - before.wakeups) / REST_S,
  }
}
