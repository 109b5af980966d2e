import {isObject, parsed} from '../../base/json-object.ts'
import {Needles} from '../../base/needles.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Usage} from '../../schema/usage.ts'
import {factsOf, type ReplyFacts} from './reply.ts'
import type {RawObject} from './usage.ts'

/** A response or run that ended, and the facts in it. */
export interface EndedResponse extends ReplyFacts {
  readonly id: string
  readonly usage: Usage
}

/**
 * Objects that are made after the answer (OpenAI: the Response object, the Run object of Assistants), and the endpoint
 * whose format their usage has.
 */
const MADE_BEHIND: Readonly<Record<string, EndpointName>> = {
  response: 'createModelResponse',
  'thread.run': 'chatComplete',
}
/** Its states (the same pages, `status`). */
const UNDER_WAY: readonly string[] = ['queued', 'in_progress', 'requires_action', 'cancelling']
const UNDER_WAY_WORDS = new Needles(UNDER_WAY.map(state => Buffer.from(`"${state}"`)))
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'failed', 'incomplete', 'cancelled', 'expired'])

/**
 * The id of a response or run that is still being made after this whole answer; null for all other answers, which are
 * not parsed.
 */
export function underWay(body: Buffer): string | null {
  if (!UNDER_WAY_WORDS.isIn(body)) return null
  const response = responseIn(body)
  return response && UNDER_WAY.includes(String(response.status)) ? response.id : null
}

/** A response or run that ended and says what it used; null for all other answers. */
export function endedResponse(body: Buffer): EndedResponse | null {
  const response = responseIn(body)
  if (!response || !ENDED.has(response.status)) return null
  const {usage, model} = factsOf(MADE_BEHIND[response.object]!, response)
  return usage && {id: response.id, usage, model}
}

function responseIn(body: Buffer): (RawObject & {readonly id: string; readonly object: string}) | null {
  const response = parsed(body.toString())
  if (
    !isObject(response) ||
    typeof response.object !== 'string' ||
    !Object.hasOwn(MADE_BEHIND, response.object) ||
    typeof response.id !== 'string' ||
    response.id === ''
  )
    return null
  return {...response, id: response.id, object: response.object}
}
