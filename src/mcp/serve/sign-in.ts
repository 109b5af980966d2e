import {newId} from '../../base/ids.ts'
import {takesQuestion} from '../content/questions.ts'
import type {SignInNeededFault} from '../pool/source.ts'
import type {ClientSession} from '../sessions/session.ts'
import {McpFault} from '../wire/faults.ts'
import type {McpExchange} from './exchange.ts'

/** The first revision in which a legacy server sends a person to an address. */
const FIRST_WITH_ADDRESSES = '2025-11-25'

/** The question that sends a person to an address of ours; its params as JSON. */
export function signInQuestion({url}: SignInNeededFault, {server}: McpExchange) {
  const message = `${server.name} wants you to sign in there first.`
  return {method: 'elicitation/create', is_url: true, params: JSON.stringify({mode: 'url', message, url})} as const
}

/**
 * The error by which a client learns where its person signs in: -32042 for one that opens addresses, else one of ours
 * with the status 200, for 401 would begin a sign-in at the gateway.
 */
export function signInFault(fault: SignInNeededFault, exchange: McpExchange, session: ClientSession | null): McpFault {
  const {server} = exchange
  const {url} = fault
  const question = signInQuestion(fault, exchange)
  if (session && session.version >= FIRST_WITH_ADDRESSES && takesQuestion(session.capabilities, question)) {
    const elicitation = {mode: 'url', elicitationId: newId(), url, message: `${server.name} wants a sign-in.`}
    return new McpFault('url_elicitation', {reason: `sign in to ${server.slug}`}, {data: {elicitations: [elicitation]}})
  }
  return new McpFault(
    'upstream_sign_in',
    {workspace: server.workspace_slug, server: server.slug, url},
    {data: {type: 'oauth_required', authorizationUrl: url, authorization_url: url}},
  )
}
