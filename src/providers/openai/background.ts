import type {Usage} from '../../schema/usage.ts'
import {factsOf, type ReplyFacts} from './reply.ts'
import {parsed} from './scan.ts'
import {isObject, type Said} from './usage.ts'

/** A response that ended, and what it tells of itself. */
export interface EndedResponse extends ReplyFacts {
  readonly id: string
  readonly usage: Usage
}

/** States of a response (OpenAI, Responses API: the Response object, `status`). */
const UNDER_WAY: readonly string[] = ['queued', 'in_progress']
const UNDER_WAY_BYTES = UNDER_WAY.map(state => Buffer.from(`"${state}"`))
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'failed', 'incomplete', 'cancelled'])

/** The id of a response that goes on being made behind this whole answer; null for all other answers, which are not parsed. */
export function underWay(body: Buffer): string | null {
  if (!UNDER_WAY_BYTES.some(state => body.includes(state))) return null
  const response = responseIn(body)
  return response && UNDER_WAY.includes(String(response.status)) ? response.id : null
}

/** A response that ended and says what it used; null for all other answers. */
export function endedResponse(body: Buffer): EndedResponse | null {
  const response = responseIn(body)
  if (!response || !ENDED.has(response.status)) return null
  const {usage, model} = factsOf('createModelResponse', response)
  return usage && {id: response.id, usage, model}
}

function responseIn(body: Buffer): (Said & {readonly id: string}) | null {
  const said = parsed(body.toString())
  if (!isObject(said) || said.object !== 'response' || typeof said.id !== 'string' || said.id === '') return null
  return {...said, id: said.id}
}
