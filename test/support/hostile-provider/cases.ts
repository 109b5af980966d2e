import {ECHOES} from './echoes.ts'
import {ENCODINGS} from './encodings.ts'
import {FRAMING} from './framing.ts'
import {HEADS} from './heads.ts'
import {JSONS} from './json.ts'
import type {CaseTable, Play} from './reply.ts'
import {STATUSES} from './statuses.ts'
import {STREAM_ENDS} from './stream-ends.ts'
import {STREAMS} from './streams.ts'
import {USAGE} from './usage.ts'

/**
 * All that the provider may do, by name. A request names one by `case.NAME` in its path, its headers or its body; a
 * model's name may be that.
 */
const TABLES: readonly CaseTable[] = [FRAMING, HEADS, ENCODINGS, JSONS, USAGE, STATUSES, STREAMS, STREAM_ENDS, ECHOES]
const PLAYS: ReadonlyMap<string, Play> = new Map(TABLES.flatMap(table => Object.entries(table)))

export const CASES: readonly string[] = [...PLAYS.keys()]
/** The cases whose answer never ends: a gateway waits for them until its own limit. */
export const WAITING: ReadonlySet<string> = new Set(
  [...PLAYS].flatMap(([name, play]) =>
    play({path: '/', is_stream: true, key: 'k', head: ''}).after === 'waits' ? [name] : [],
  ),
)

if (PLAYS.size !== TABLES.reduce((sum, table) => sum + Object.keys(table).length, 0))
  throw new Error('Two cases have one name.')

const NAMED = /case\.([a-z0-9-]+)/

/** The case that a request names; undefined where it names none. One that is not there is a fault of the test. */
export function caseIn(request: string): {readonly name: string; readonly play: Play} | undefined {
  const name = NAMED.exec(request)?.[1]
  if (name === undefined) return undefined
  const play = PLAYS.get(name)
  if (!play) throw new Error(`No case has the name ${name}.`)
  return {name, play}
}
