import {findMcpTarget, type McpTargetRow} from '../../store/mcp-connections.ts'
import {findMcpSignIn, stepMcpSignIn} from '../../store/mcp-sign-ins.ts'
import type {McpSignInsTable} from '../../store/tables/mcp-connections.ts'
import {McpFault, printable} from '../wire/faults.ts'
import {AuthServerFault} from './auth-server-fault.ts'
import {openedConfiguration} from './configuration.ts'
import {isSameIssuer} from './oauth-upstream/issuers.ts'
import {forgetClient} from './oauth-upstream/registration.ts'
import {
  exchangedCode,
  hashOfState,
  openedSignIn,
  type SentSignIn,
  sentToServer,
  signInLink,
} from './oauth-upstream/sign-in.ts'
import {refusedWith} from './oauth-upstream/token-endpoint.ts'
import type {CredentialServices} from './services.ts'
import {type BrowserReply, pageReply, redirectReply} from './sign-in-page.ts'

/** The person whose session a browser holds. */
export interface SignedInPerson {
  readonly user_id: string
}

interface FoundSignIn {
  readonly row: McpSignInsTable
  readonly target: McpTargetRow
}

const NOT_CONNECTED = 'Not connected'
const LONGEST_CODE = 4096
/** Once for a client that the authorization server forgot. */
const MOST_REGISTRATIONS = 2

/** `GET /oauth/upstream-auth?state=`: sends a person to the authorization server of an upstream. */
export async function upstreamAuth(
  services: CredentialServices,
  query: URLSearchParams,
  person: SignedInPerson,
): Promise<BrowserReply> {
  const found = await foundSignIn(services, query, person, 'issued')
  if ('html' in found) return found
  return sentOn(services, found)
}

/** `GET /oauth/upstream-callback`: ends the sign-in of a person who comes back from there. */
export async function upstreamCallbackReply(
  services: CredentialServices,
  query: URLSearchParams,
  person: SignedInPerson,
): Promise<BrowserReply> {
  const found = await foundSignIn(services, query, person, 'sent')
  if ('html' in found) return found
  const sent = openedSignIn(services, found.row)
  if (!sent) return refusedPage(400, 'This sign-in is over.')
  const {row} = found
  const fault = issuerFault(query, sent)
  if (fault !== null) return refusedPage(400, fault, {onward: onwardOf(row)})
  const is_ours = await services.store.write(db => stepMcpSignIn(db, row, {step: 'used', secrets: null}))
  if (!is_ours) return refusedPage(400, 'This sign-in was ended by another request.')
  try {
    await exchangedCode(services, found.target, row.user_id, sent, codeIn(query, sent))
  } catch (fault) {
    return notExchanged(services, found, sent, fault)
  }
  const onward = onwardOf(row)
  if (onward !== undefined) return redirectReply(services.base_url + onward)
  const {workspace_slug, slug} = found.target.server
  const message = `${workspace_slug}/${slug} can be used now. You may close this window and repeat your request.`
  return pageReply({status: 200, title: 'Connected', message})
}

/** The sign-in of a state that is in this step, for this person; else a page that says why not. */
async function foundSignIn(
  {store, wall}: CredentialServices,
  query: URLSearchParams,
  {user_id}: SignedInPerson,
  step: McpSignInsTable['step'],
): Promise<FoundSignIn | BrowserReply> {
  const [state = '', ...more] = query.getAll('state')
  if (more.length > 0 || !/^[\w-]{43}$/.test(state)) return refusedPage(400, 'The address holds no sign-in (state).')
  const row = await findMcpSignIn(store.db, hashOfState(state))
  if (row?.step !== step)
    return refusedPage(400, 'This link is not known, or it was used before. Repeat your request for another one.')
  if (row.user_id !== user_id)
    return refusedPage(403, 'This link is for another user. Open only links that your own request gave you.')
  const onward = onwardOf(row)
  if (row.expires_at <= new Date(wall()).toISOString())
    return refusedPage(400, 'This link has expired. Repeat your request for another one.', {onward})
  const target = await findMcpTarget(store.db, row)
  return target ? {row, target} : refusedPage(400, 'This MCP server is not in service any more.', {onward})
}

async function sentOn(services: CredentialServices, {row, target}: FoundSignIn): Promise<BrowserReply> {
  try {
    const {oauth_metadata: settings = {}} = await openedConfiguration(services, target)
    const location = await sentToServer(services, target, settings, row)
    return location === null ? refusedPage(400, 'This link was used by another request.') : redirectReply(location)
  } catch (fault) {
    const onward = onwardOf(row)
    if (onward === undefined) return refusedPage(502, sentenceOf(fault, target))
    noteLeft(services, target, fault)
    return redirectReply(services.base_url + onward)
  }
}

/** The path at which a person continues who came from a client's consent, and where the sign-in ended is no matter. */
function onwardOf({return_to}: Pick<McpSignInsTable, 'return_to'>): string | undefined {
  return return_to !== null && /^\/(?![/\\])/.test(return_to) ? return_to : undefined
}

/** A sign-in within a consent that came to nothing: the client has its code all the same, so the log has it. */
function noteLeft({log}: CredentialServices, target: McpTargetRow, fault: unknown) {
  const {organisation_id, slug: integration} = target.integration
  log.warn(
    {organisation_id, integration, reason: sentenceOf(fault, target)},
    'a sign-in at an MCP server came to nothing; the first call asks for it again',
  )
}

/** RFC 9207 §2.4: an answer that another server gave is not believed. */
function issuerFault(query: URLSearchParams, {server}: SentSignIn): string | null {
  const repeated = ['iss', 'code', 'error'].find(name => query.getAll(name).length > 1)
  if (repeated) return `The answer has ${repeated} more than once.`
  const iss = query.get('iss')
  if (iss === null) return server.is_issuer_answered ? `The answer names no issuer (iss); ${server.issuer} does.` : null
  return isSameIssuer(iss, server.issuer)
    ? null
    : `The answer is of ${printable(iss, 200)}, the sign-in began at ${server.issuer}.`
}

function codeIn(query: URLSearchParams, {server}: SentSignIn): string {
  const error = query.get('error')
  if (error !== null) throw refusedWith(error, query.get('error_description'), server.resource)
  const code = query.get('code')
  if (!code || code.length > LONGEST_CODE) throw new AuthServerFault('refused', 'its answer has no code')
  return code
}

/** A client that was forgotten is registered again, once; then the person continues as if nothing was. */
async function notExchanged(
  services: CredentialServices,
  {row, target}: FoundSignIn,
  {client, server}: SentSignIn,
  fault: unknown,
): Promise<BrowserReply> {
  const {user_id, return_to} = row
  const challenge = row.challenge === null ? null : JSON.parse(row.challenge)
  const is_client_refused = fault instanceof AuthServerFault && fault.is_client_refused
  const onward = onwardOf(row)
  if (onward !== undefined && !(is_client_refused && !client.is_configured)) {
    noteLeft(services, target, fault)
    return redirectReply(services.base_url + onward)
  }
  const again = await signInLink(services, target, {user_id, challenge, return_to})
  if (!is_client_refused) return refusedPage(400, sentenceOf(fault, target), {again, onward})
  if (client.is_configured)
    return refusedPage(
      400,
      `${sentenceOf(fault, target)} An administrator configured the client_id of this integration; it is not replaced.`,
    )
  await forgetClient(services, target.integration, server.issuer, client)
  if (Number(row.registrations) >= MOST_REGISTRATIONS)
    return refusedPage(400, sentenceOf(fault, target), {again, onward})
  const state = new URL(again).searchParams.get('state')!
  const next = await findMcpSignIn(services.store.db, hashOfState(state))
  return next ? sentOn(services, {row: {...next, registrations: row.registrations}, target}) : refusedPage(400, 'Over.')
}

/** For a person; texts of others in it are printable, and escaped by the page. */
function sentenceOf(fault: unknown, {server}: McpTargetRow): string {
  if (fault instanceof McpFault) return fault.message
  if (!(fault instanceof AuthServerFault)) throw fault
  const verb = fault.kind === 'refused' ? 'refused' : fault.kind === 'unfit' ? 'cannot be used' : 'did not answer'
  return `The sign-in server of ${server.slug} ${verb}: ${fault.message}.`
}

function refusedPage(
  status: number,
  message: string,
  links: {readonly again?: string; readonly onward?: string | undefined} = {},
): BrowserReply {
  return pageReply({status, title: NOT_CONNECTED, message, ...links})
}
