import type {JsonObject} from '../../base/json-member.ts'
import {edited} from '../wire/edits.ts'
import type {RpcError} from '../wire/messages.ts'
import type {Era} from '../wire/versions.ts'

/** Codes of JSON-RPC errors across the eras. Texts are never changed. */

/** "Resource not found" until 2025-11-25; -32602 since. */
const RESOURCE_NOT_FOUND = -32002
/** A sign-in at an address is needed, of 2025-11-25 alone. */
export const URL_ELICITATION_REQUIRED = -32042
const INVALID_PARAMS = -32602

/** Statuses that 2026-07-28 binds to codes; any other error of a request comes with 200. */
const STATUSES: Readonly<Record<number, number>> = {
  [-32020]: 400,
  [-32021]: 400,
  [-32022]: 400,
  [-32700]: 400,
  [-32600]: 400,
  [-32601]: 404,
}

/** The status that an upstream's error has towards a client of an era. */
export function statusOfError(code: number, client_era: Era): number {
  return client_era === 'legacy' ? 200 : (STATUSES[code] ?? 200)
}

/**
 * The text of an error for a modern client, who never sees -32002 and -32042. An error that wants a visit to an address
 * is one of a capability that the client did not declare, where it cannot be put as a question.
 */
export function errorForModern(error: RpcError, text: string): string {
  if (error.code === RESOURCE_NOT_FOUND) return edited(text, [{path: ['code'], set: String(INVALID_PARAMS)}])
  if (error.code !== URL_ELICITATION_REQUIRED) return text
  const required: JsonObject = {elicitation: {url: {}}}
  return edited(text, [
    {path: ['code'], set: '-32021'},
    {path: ['data'], set: JSON.stringify({requiredCapabilities: required})},
  ])
}
