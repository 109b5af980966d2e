import {parsedObject} from '../../base/json-object.ts'
import {executionOf} from '../../providers/execution.ts'
import {member} from '../inbound/body.ts'
import type {InboundRequest} from '../inbound/request.ts'
import type {JudgedFiles, ObjectModels} from '../services.ts'
import type {Target} from '../targets/target.ts'
import type {Call} from './call.ts'

type ObjectCall = Pick<Call, 'body' | 'incoming' | 'caller'>

/** Members that name an object made before; a batch runs its file, whatever model its body names beside it. */
const NAMES = ['input_file_id', 'assistant_id', 'agent_id'] as const
const RUN = /\/threads\/[^/]+\/runs\/([^/]+)\/submit_tool_outputs$/
/** Paths that make an object with an id which later calls may run: the id is in the answer. */
const MAKES = /^\/(?:assistants(?:\/[^/]+)?|agents|threads\/(?:[^/]+\/)?runs|files)$/

/** True where the call runs the rows of a file, so that a model in its body says nothing. */
export function runsFile({body, incoming}: Pick<Call, 'body' | 'incoming'>, target: Pick<Target, 'provider'>): boolean {
  return (
    /\/batches$/.test(incoming.route.path) &&
    isIndirect({body, incoming}, target) &&
    body.kind === 'json' &&
    body.members.has('input_file_id')
  )
}

/**
 * True when an object that was made before has the model: a response with a stored prompt, or one that names its model.
 */
export function isIndirect(
  {body, incoming}: Pick<Call, 'body' | 'incoming'>,
  {provider}: Pick<Target, 'provider'>,
): boolean {
  const {path} = incoming.route
  if (executionOf(provider, incoming.method, path) !== 'indirect') return false
  return !path.endsWith('/responses') || (body.kind === 'json' && body.members.has('prompt'))
}

/** A body that is read although no list covers its call: what it makes may be run by a call that one covers. */
export function makesObject({method, route}: Pick<InboundRequest, 'method' | 'route'>): boolean {
  return makes({method, route}) && !route.endpoint
}

/** The models of all objects that the call runs; null where one of them, or none at all, was seen. */
export function modelsOfObjects(
  {body, incoming, caller}: ObjectCall,
  target: Target,
  seen: ObjectModels,
): readonly string[] | null {
  const named = body.kind === 'json' ? NAMES.map(name => member(body.bytes, body.members, name)) : []
  const ids = [RUN.exec(incoming.route.path)?.[1], ...named].filter(id => typeof id === 'string')
  const models = ids.map(id => seen.modelsOf(caller.workspace_id, target, id))
  return ids.length > 0 && models.every(each => each !== undefined) ? models.flat() : null
}

/** True where the answer names what later calls may run. */
export function makes({method, route}: Pick<InboundRequest, 'method' | 'route'>): boolean {
  return method === 'POST' && MAKES.test(route.path)
}

/**
 * Remembers what a good answer says was made. `models`: those that the call named, or ran by objects that were seen.
 */
export function noteMade(
  {incoming, caller}: ObjectCall,
  target: Target,
  models: readonly string[],
  plain: Buffer,
  seen: ObjectModels,
) {
  if (models.length === 0 || !makes(incoming)) return
  const id = plain.length > MAX_ANSWER_BYTES ? undefined : parsedObject(plain.toString())?.id
  if (typeof id === 'string' && id.length <= MAX_ID_LENGTH) seen.note(caller.workspace_id, target, id, models)
}

/** The same of a file whose rows guardrails have let pass. */
export function noteJudged(
  {caller, guardrails}: Pick<Call, 'caller' | 'guardrails'>,
  target: Target,
  plain: Buffer,
  judged: JudgedFiles,
) {
  if (!guardrails?.rows_passed || plain.length > MAX_ANSWER_BYTES) return
  const id = parsedObject(plain.toString())?.id
  if (typeof id === 'string' && id.length <= MAX_ID_LENGTH)
    judged.note(caller.workspace_id, target, id, guardrails.guards.input_digest)
}

const MAX_ANSWER_BYTES = 1 << 20
const MAX_ID_LENGTH = 512
