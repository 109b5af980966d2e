import {type JsonObject, own} from '../../base/json-member.ts'
import {type McpTrace, traceEdits} from '../call/trace.ts'
import type {EditPath, TextEdit} from '../wire/edits.ts'
import {withoutEnvelope} from '../wire/envelope.ts'
import type {Era} from '../wire/versions.ts'
import {openedTasks} from './task-ids.ts'

/** Edits of a client's `params` for the upstream, beside those of the envelope, which the upstream's client writes. */
export interface ParamsFacts {
  readonly client_era: Era
  readonly method: string
  /** The upstream's id of a task, of one that this client has. Throws `params_invalid`. */
  readonly openTask: (id: string) => string
  readonly params: JsonObject | undefined
  readonly trace: McpTrace
  /** The upstream's own cursor; null where the request has none. */
  readonly cursor: string | null
  /** The state that the upstream gave, as its repeated call wants it; undefined of a first call. */
  readonly upstream_state?: string | null
  /** True where the upstream has seen no round yet: the answers are to a question of ours. */
  readonly is_first?: boolean
}

const ROOT: EditPath = []

export function paramsEdits(facts: ParamsFacts, upstream_era: Era): readonly TextEdit[] {
  const {client_era, method, openTask, params, trace, cursor, upstream_state, is_first} = facts
  const eras = {client: client_era, upstream: upstream_era}
  const edits: TextEdit[] = [...traceEdits(trace), ...openedTasks(method, params, eras, openTask)]
  if (client_era === 'modern' && upstream_era === 'legacy') {
    edits.push(...withoutEnvelope(ROOT))
    for (const member of ['inputResponses', 'requestState'])
      if (own(params, member) !== undefined) edits.push({path: [member], set: undefined})
  }
  if (is_first) edits.push({path: ['inputResponses'], set: undefined})
  if (cursor !== null) edits.push({path: ['cursor'], set: JSON.stringify(cursor)})
  if (upstream_state !== undefined)
    edits.push({path: ['requestState'], set: upstream_state === null ? undefined : JSON.stringify(upstream_state)})
  return edits
}
