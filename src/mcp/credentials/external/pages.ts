import {timingSafeEqual} from 'node:crypto'
import {findMcpTarget, type McpTargetRow} from '../../../store/mcp-connections.ts'
import {findExternalSignIn, stepExternalSignIn} from '../../../store/mcp-external-sign-ins.ts'
import type {McpExternalSignInsTable} from '../../../store/tables/mcp-connections.ts'
import {printable} from '../../wire/faults.ts'
import {AuthServerFault} from '../auth-server-fault.ts'
import {keepTokens, personKey} from '../kept-tokens.ts'
import {isSameIssuer} from '../oauth-upstream/issuers.ts'
import {hashOfState} from '../oauth-upstream/sign-in.ts'
import {askedTokens, type GivenTokens, refusedWith} from '../oauth-upstream/token-endpoint.ts'
import type {CredentialServices} from '../services.ts'
import {type BrowserReply, pageReply, redirectReply} from '../sign-in-page.ts'
import {openedExternally, type SentExternally} from './begin.ts'
import {externalClaims} from './claims.ts'
import {externalUserOf, NotAdmittedFault} from './person.ts'

const LONGEST_CODE = 4096

/**
 * `GET /oauth/external-callback`: ends the sign-in of a person who comes back from the provider of an integration, and
 * leads on to the consent. `browserOf`: the word in the cookie of this browser for an authorization.
 */
export async function externalCallbackReply(
  services: CredentialServices,
  query: URLSearchParams,
  browserOf: (transaction_id: string) => string | undefined,
): Promise<BrowserReply> {
  const {store, wall} = services
  const [state = '', ...more] = query.getAll('state')
  if (more.length > 0 || !/^[\w-]{43}$/.test(state)) return refused(400, 'The address holds no sign-in (state).')
  const row = await findExternalSignIn(store.db, hashOfState(state))
  const sent = row?.step === 'sent' ? openedExternally(services, row) : null
  if (!row || !sent)
    return refused(400, 'This sign-in is not known, or it was ended before. Begin in your client again.')
  if (!isSameBrowser(row, browserOf(row.transaction_id)))
    return refused(403, 'This sign-in was begun in another browser. Begin in your client again.')
  if (row.expires_at <= new Date(wall()).toISOString())
    return refused(400, 'This sign-in took too long. Begin in your client again.')
  const mixed = issuerFault(query, sent)
  if (mixed !== null) return refused(400, mixed)
  const is_ours = await store.write(db => stepExternalSignIn(db, row, {from: 'sent', to: 'used'}))
  if (!is_ours) return refused(400, 'This sign-in was ended by another request.')
  const target = await findMcpTarget(store.db, row)
  if (!target) return refused(400, 'This MCP server is not in service any more.')
  try {
    await admit(services, {row, sent, target}, codeIn(query))
  } catch (fault) {
    if (fault instanceof NotAdmittedFault) return refused(403, fault.message)
    if (!(fault instanceof AuthServerFault)) throw fault
    const verb = fault.kind === 'refused' ? 'refused' : fault.kind === 'unfit' ? 'cannot be used' : 'did not answer'
    const status = fault.kind === 'refused' ? 400 : 502
    return refused(status, `The sign-in provider of ${target.server.slug} ${verb}: ${fault.message}.`)
  }
  return redirectReply(`${services.base_url}/oauth/consent?${new URLSearchParams({transaction: sent.handle})}`)
}

interface SignInToEnd {
  readonly row: McpExternalSignInsTable
  readonly sent: SentExternally
  readonly target: McpTargetRow
}

async function admit(services: CredentialServices, {row, sent, target}: SignInToEnd, code: string): Promise<void> {
  const {store, wall} = services
  const {redirect_uri, code_verifier, client, provider} = sent
  const {integration} = target
  const form = {grant_type: 'authorization_code', code, redirect_uri, code_verifier}
  const {token_endpoint} = provider
  const given = await askedTokens(services, integration, {token_endpoint, client, form, resource: null})
  const claims = await externalClaims(services, integration, sent, given)
  const now = new Date(wall()).toISOString()
  const user_id = await store.write(async db => {
    const user_id = await externalUserOf(db, row, {issuer: provider.issuer, claims}, now)
    await stepExternalSignIn(db, row, {from: 'used', to: 'done', user_id})
    return user_id
  })
  if (integration.auth_type === 'oauth_auto') await keep(services, {target, sent}, given, user_id)
}

/** The provider's tokens are the person's credential at the server; a client of ours never sees them. */
async function keep(
  services: CredentialServices,
  {target, sent}: Pick<SignInToEnd, 'target' | 'sent'>,
  given: GivenTokens,
  user_id: string,
): Promise<void> {
  const {provider, client} = sent
  const {token_endpoint, revocation_endpoint, issuer, scope} = provider
  const {access_token, refresh_token} = given
  const tokens = {
    ...{access_token, refresh_token, token_endpoint, revocation_endpoint, client},
    ...{resource: null, settings_hash: null},
  }
  const first = {url: target.integration.url, issuer, given, tokens, scope}
  await keepTokens(services, personKey(target, user_id), first)
}

function isSameBrowser({browser_hash}: McpExternalSignInsTable, word: string | undefined): boolean {
  return word !== undefined && timingSafeEqual(Buffer.from(browser_hash), Buffer.from(hashOfState(word)))
}

/** RFC 9207 §2.4; a provider without a configured issuer is known by the origin at which people sign in. */
function issuerFault(query: URLSearchParams, {provider}: SentExternally): string | null {
  const repeated = ['iss', 'code', 'error'].find(name => query.getAll(name).length > 1)
  if (repeated) return `The answer has ${repeated} more than once.`
  const iss = query.get('iss')
  const {issuer, is_issuer_answered} = provider
  if (iss === null) return is_issuer_answered ? `The answer names no issuer (iss); ${issuer} does.` : null
  if (isSameIssuer(iss, issuer)) return null
  return `The answer is of ${printable(iss, 200)}, the sign-in began at ${issuer}.`
}

function codeIn(query: URLSearchParams): string {
  const error = query.get('error')
  if (error !== null) throw refusedWith(error, query.get('error_description'), null)
  const code = query.get('code')
  if (!code || code.length > LONGEST_CODE) throw new AuthServerFault('refused', 'its answer has no code')
  return code
}

function refused(status: number, message: string): BrowserReply {
  return pageReply({status, title: 'Not signed in', message})
}
