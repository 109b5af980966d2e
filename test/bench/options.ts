import {availableParallelism} from 'node:os'
import {parseArgs} from 'node:util'
import type {PeerFiles} from './subjects/executable-peer.ts'

export const PARTS = [
  'hot',
  'sse',
  'soak',
  'routing',
  'translate',
  'image',
  'explain',
  'models',
  'pricing',
  'apply',
  'limits',
  'analytics',
  'realtime',
  'pii',
  'guardrails',
  'semantic-cache',
  'start',
  'crash',
  'journal',
  'flush',
  'usage',
  'client',
  'identity',
  'mcp',
  'telemetry',
  'beside',
] as const
/** Needs another gateway's executable (`--peer-binary`). */
const BESIDE: Part = 'beside'
export type Part = (typeof PARTS)[number]
export const SUBJECTS = ['nginx', 'hot-path', 'peer', 'before', 'ours'] as const
export type SubjectId = 'direct' | 'beside-peer' | (typeof SUBJECTS)[number]

export interface Options {
  readonly parts: ReadonlySet<Part>
  readonly subjects: ReadonlySet<SubjectId>
  /** Rounds of each scenario, and seconds of each round. */
  readonly rounds: number
  readonly seconds: number
  readonly soak_calls: number
  readonly crash_rounds: number
  readonly is_binary: boolean
  readonly is_quick: boolean
  /** The executable of an earlier version, to stand beside this one. */
  readonly before_file: string | undefined
  /** Processors of the subjects, and of clients and provider; undefined for all. */
  readonly subject_processors: string | undefined
  readonly load_processors: string | undefined
  /** Another gateway to stand beside ours in the part beside; undefined where none is named. */
  readonly peer_files: PeerFiles | undefined
  readonly json_file: string | undefined
  readonly writes_page: boolean
}

export const USAGE = `usage: npm run bench [-- OPTIONS]
  --only PARTS      of ${PARTS.join(',')}; all by default
  --subjects NAMES  beside the provider itself, of ${SUBJECTS.join(',')}; all by default
  --rounds N        rounds of each scenario (5) and of crash (20)
  --quick           a look in place of figures: 2 rounds of 1 s, a soak of 20,000 calls, 3 rounds of crash
  --binary          dist/gateway in place of bin/gateway.ts
  --before FILE     an earlier version's executable beside this one, in hot and sse
  --peer-binary FILE --peer-config FILE
                    another gateway's executable (or packed with xz) beside this one, in the part beside alone
  --pin             subjects on the first processor, clients and provider on the others
  --json FILE       writes every sample
  --write           puts the tables into docs/performance.md`

const MAX_ROUNDS = 1000

/** Reads the command line; undefined when help is asked for. Throws with a sentence that names the option. */
export function readOptions(words: readonly string[]): Options | undefined {
  const {values} = parseArgs({
    args: [...words],
    options: {
      only: {type: 'string'},
      'peer-binary': {type: 'string'},
      'peer-config': {type: 'string'},
      subjects: {type: 'string', default: SUBJECTS.join(',')},
      rounds: {type: 'string'},
      quick: {type: 'boolean', default: false},
      binary: {type: 'boolean', default: false},
      before: {type: 'string'},
      pin: {type: 'boolean', default: false},
      json: {type: 'string'},
      write: {type: 'boolean', default: false},
      help: {type: 'boolean', short: 'h', default: false},
    },
  })
  if (values.help) return undefined
  const {quick, pin} = values
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1 && rounds <= MAX_ROUNDS)) {
    throw new RangeError(`--rounds must be a whole number from 1 to ${MAX_ROUNDS}, not ${values.rounds}`)
  }
  const {'peer-binary': binary, 'peer-config': config} = values
  if ((binary === undefined) !== (config === undefined))
    throw new RangeError('--peer-binary and --peer-config go together')
  const peer_files = binary === undefined ? undefined : {binary, config: config!}
  const usual = PARTS.filter(each => each !== BESIDE || peer_files)
  const processors = availableParallelism()
  if (pin && processors < 2) throw new RangeError('--pin needs two processors')
  return {
    parts: listed('--only', values.only ?? usual.join(','), PARTS),
    subjects: listed('--subjects', values.subjects, SUBJECTS),
    rounds: rounds ?? (quick ? 2 : 5),
    seconds: quick ? 1 : 2,
    soak_calls: quick ? 20_000 : 200_000,
    crash_rounds: rounds ?? (quick ? 3 : 20),
    is_binary: values.binary,
    is_quick: quick,
    before_file: values.before,
    subject_processors: pin ? '0' : undefined,
    load_processors: pin ? `1-${processors - 1}` : undefined,
    peer_files,
    json_file: values.json,
    writes_page: values.write,
  }
}

function listed<Name extends string>(option: string, text: string, names: readonly Name[]): ReadonlySet<Name> {
  const asked = text.split(',').map(each => each.trim())
  const wrong = asked.find(each => !names.some(name => name === each))
  if (wrong !== undefined) throw new RangeError(`${option} takes ${names.join(', ')}, not "${wrong}"`)
  return new Set(names.filter(name => asked.includes(name)))
}
