import {object, parsed} from '../../base/json-object.ts'
import type {CredentialFetch} from '../../providers/auth/aws-login.ts'
import {ManagerFault} from '../manager-fault.ts'
import type {ManagerReply, ManagerRequest, ManagerServices} from '../services.ts'
import {isPassing, type ManagerPatience, retryAfterOf} from './patience.ts'

interface Judged {
  /** Of the credential that is fetched for; bars hold for it. */
  readonly key: string
  readonly patience: ManagerPatience
  /** The service's clock differs: its answer, for `Date`. */
  readonly onSkew?: (reply: ManagerReply) => void
}

/** Words of STS for a signature whose time it does not take. */
export const SKEW_CODES: ReadonlySet<string> = new Set([
  'RequestExpired',
  'RequestTimeTooSkewed',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
])

/**
 * Calls for credentials, as logins make them, with faults of ours: those of a login hold the platform's own message.
 */
export function judgedFetch(on: ManagerServices, {key, patience, onSkew}: Judged): CredentialFetch {
  return request =>
    patience.run(`${new URL(request.url).host} ${key}`, async () => {
      const reply = await answerOf(on, request)
      if (reply.status === 200) return {status: 200, body: reply.body}
      const fault = faultOf(request, reply, on.wall())
      if (fault.code !== null && SKEW_CODES.has(fault.code)) onSkew?.(reply)
      throw fault
    })
}

async function answerOf({fetch}: ManagerServices, request: ManagerRequest): Promise<ManagerReply> {
  try {
    return await fetch(request)
  } catch (fault) {
    // past its hop limit the service does not answer at all
    if (request.method === 'PUT' && fault instanceof ManagerFault && fault.kind === 'unreachable')
      throw new ManagerFault(
        'unreachable',
        'This instance gives no session token; in a container raise http-put-response-hop-limit to 2',
        {cause: fault},
      )
    throw fault
  }
}

function faultOf({url}: ManagerRequest, reply: ManagerReply, wall_ms: number): ManagerFault {
  const {status, body} = reply
  const {hostname, pathname} = new URL(url)
  const retry_after_ms = retryAfterOf(reply, wall_ms)
  if (pathname.endsWith('/oauth2/v2.0/token')) return entraFault(reply, retry_after_ms)
  if (hostname.startsWith('sts.')) return stsFault(reply, retry_after_ms)
  const facts = {status, retry_after_ms}
  if (pathname.startsWith('/metadata/') || /"(?:error|statusCode)"/.test(body)) {
    // Azure: 404 and 410 while the service is being updated
    if (isPassing(status) || status === 404 || status === 410)
      return new ManagerFault(status === 429 ? 'throttled' : 'unreachable', MANAGED, facts)
    return new ManagerFault('denied', MANAGED, facts)
  }
  return new ManagerFault(isPassing(status) ? 'unreachable' : 'denied', 'This machine has no credentials', facts)
}

const MANAGED = 'The managed identity of this machine gave no token'

function entraFault({status, body, headers}: ManagerReply, retry_after_ms: number | null): ManagerFault {
  const {error, error_codes} = object(parsed(body))
  const [first] = Array.isArray(error_codes) ? (error_codes as unknown[]) : []
  const code = typeof first === 'number' ? `AADSTS${first}` : typeof error === 'string' ? error : null
  const facts = {status, code, request_id: headers['x-ms-request-id'] ?? null, retry_after_ms}
  const sentence = 'Microsoft Entra ID gave no token'
  if (status === 429) return new ManagerFault('throttled', sentence, facts)
  return new ManagerFault(isPassing(status) ? 'unreachable' : 'denied', sentence, facts)
}

function stsFault({status, body, headers}: ManagerReply, retry_after_ms: number | null): ManagerFault {
  const code = /<Code>([\w.]{1,64})<\/Code>/.exec(body)?.[1] ?? null
  const facts = {status, code, request_id: headers['x-amzn-requestid'] ?? null, retry_after_ms}
  const sentence = 'AWS STS gave no session'
  if (code?.startsWith('Throttling')) return new ManagerFault('throttled', sentence, facts)
  if (isPassing(status) || code === null) return new ManagerFault('unreachable', sentence, facts)
  return new ManagerFault('denied', sentence, {...facts, may_mint: code.startsWith('Expired')})
}
