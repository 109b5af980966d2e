import {keyFault} from '../../base/json-keys.ts'
import type {JsonObject} from '../../base/json-member.ts'
import {parsedObject} from '../../base/json-object.ts'
import {MAX_JSON_DEPTH} from '../../base/json-shape.ts'
import {printable} from '../printable.ts'
import {SignInFault, type SignInReason} from '../sign-in-fault.ts'

export interface OidcRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Record<string, string>
  readonly body?: string
  readonly max_bytes: number
  readonly timeout_ms: number
}

export interface OidcReply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Record<string, string>
  readonly text: string
}

/** Passes the egress wall, and never follows a redirect. Rejects where no whole answer within the bounds comes. */
export type OidcHttp = (url: string, init: OidcRequest) => Promise<OidcReply>

/** An answer of a provider. `what` names it for administrators. Refuses with `provider_unreachable`. */
export async function replyOf(http: OidcHttp, what: string, url: string, init: OidcRequest): Promise<OidcReply> {
  let reply: OidcReply
  try {
    reply = await http(url, init)
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault)
    throw new SignInFault('provider_unreachable', `${what} could not be reached: ${printable(reason)}`, {cause: fault})
  }
  if (reply.text.length > init.max_bytes)
    throw new SignInFault('provider_unreachable', `${what} answered with more than ${init.max_bytes} bytes`)
  return reply
}

/**
 * The object that an answer is, in the one reading that its text has: of a member that comes twice, another reader may
 * take the other one. Refuses with `reason`.
 */
export function readReply(what: string, {text}: OidcReply, reason: SignInReason): JsonObject {
  const value = parsedObject(text) as JsonObject | undefined
  if (!value) throw new SignInFault(reason, `${what} answered with something that is no JSON object`)
  if (keyFault(text, MAX_JSON_DEPTH)) throw new SignInFault(reason, `${what} answered with a member twice`)
  return value
}

/** True for `application/json` and what is made of it, as answers that hold a person or a token have to be. */
export function isJson({headers}: OidcReply): boolean {
  return /^application\/(?:[\w.-]+\+)?json[\t ]*(?:;|$)/i.test(headers['content-type'] ?? '')
}
