import {type LoadOptions, measure} from './load.ts'
import type {Options, SubjectId} from './options.ts'
import {type Comparison, compare} from './rounds.ts'
import {ALONE, EVENTS, FIRST_EVENT, LARGE, SMALL} from './scenarios.ts'
import {type Soak, soak} from './soak.ts'
import {type Gateway, type Recorded, startGateway} from './subjects/gateway.ts'
import {startHotPath} from './subjects/hot-path.ts'
import {startNginx} from './subjects/nginx.ts'
import {startPeer} from './subjects/peer.ts'
import {startProvider} from './subjects/provider.ts'
import type {Subject, Surroundings} from './subjects/subject.ts'

const SCENARIOS = {hot: [SMALL, ALONE, LARGE], sse: [FIRST_EVENT, EVENTS]} as const

/** A compiler at run time is done with what is hot after some ten thousand calls. */
const WARM_UP_ROUNDS = 4

/** Puts the subjects side by side in the scenarios of the parts asked for. What cannot be started is skipped. */
export async function compareSubjects(
  options: Options,
  around: Omit<Surroundings, 'upstream'>,
  tell: (text: string) => void,
  skip: (what: string, fault: unknown) => void,
): Promise<{comparisons: Comparison[]; recorded: Recorded[]}> {
  const scenarios = [
    ...(options.parts.has('hot') ? SCENARIOS.hot : []),
    ...(options.parts.has('sse') ? SCENARIOS.sse : []),
  ]
  if (scenarios.length === 0) return {comparisons: [], recorded: []}
  const provider = await startProvider(around)
  const subjects: Subject[] = [provider]
  let ours: Gateway | undefined
  const surroundings = {...around, upstream: provider.origin}
  const start: Record<Exclude<SubjectId, 'direct' | 'beside-peer'>, () => Promise<Subject>> = {
    nginx: () => startNginx(surroundings),
    'hot-path': () => startHotPath(surroundings),
    peer: () => startPeer(surroundings),
    before: () => startGateway(around, true, options.before_file),
    ours: async () => {
      ours = await startGateway(around, options.is_binary)
      return ours
    },
  }
  try {
    for (const id of options.subjects) {
      if (id === 'direct' || id === 'beside-peer' || (id === 'before' && options.before_file === undefined)) continue
      try {
        subjects.push(await start[id]())
      } catch (fault) {
        skip(id, fault)
      }
    }
    tell('warming up')
    for (const subject of subjects) await measure(subject, SMALL, WARM_UP_ROUNDS * options.seconds, loadOptions(around))
    const comparisons: Comparison[] = []
    for (const scenario of scenarios) {
      tell(scenario.title)
      comparisons.push(await compare(subjects, scenario, {...options, ...loadOptions(around)}))
    }
    await ours?.stop()
    return {comparisons, recorded: ours ? [ours.recorded()] : []}
  } finally {
    for (const subject of subjects) await subject.stop()
  }
}

/** Soaks a gateway of its own, fresh from the start. */
export async function soakOurs(
  {soak_calls, is_binary}: Options,
  around: Omit<Surroundings, 'upstream'>,
): Promise<{soak: Soak; recorded: Recorded}> {
  const ours = await startGateway(around, is_binary)
  try {
    const soaked = await soak(ours, ours.provider, soak_calls, loadOptions(around))
    await ours.stop()
    return {soak: soaked, recorded: ours.recorded()}
  } finally {
    await ours.stop()
  }
}

const loadOptions = ({folder, load_processors}: Omit<Surroundings, 'upstream'>): LoadOptions => ({
  folder,
  processors: load_processors,
})
