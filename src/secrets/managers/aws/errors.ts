import {object, parsed} from '../../../base/json-object.ts'
import {ManagerFault, type ManagerFaultKind} from '../../manager-fault.ts'
import type {ManagerReply} from '../../services.ts'
import {isPassing, retryAfterOf} from '../patience.ts'

/** An error as AWS names it. */
export interface AwsError {
  readonly type: string | null
  readonly is_of_signature: boolean
  readonly speaks_of_time: boolean
}

const SIGNATURE = new Set(['InvalidSignatureException', 'SignatureDoesNotMatch', 'RequestTimeTooSkewed'])
const OF_TIME = /not yet current|expired|too skewed|skew/i
/** Types that say no to our credentials, which may be old. */
const CREDENTIALS = new Set([
  'AccessDeniedException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'IncompleteSignature',
  'IncompleteSignatureException',
  'InvalidClientTokenId',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'NotAuthorized',
  'OptInRequired',
  'ExpiredTokenException',
  'ExpiredToken',
  'RequestExpired',
])
const KINDS: Readonly<Record<string, ManagerFaultKind>> = {
  ResourceNotFoundException: 'missing',
  InvalidRequestException: 'unusable',
  InvalidParameterException: 'unusable',
  ValidationException: 'unusable',
  DecryptionFailure: 'unusable',
  InternalServiceError: 'unreachable',
  InternalFailure: 'unreachable',
  ServiceUnavailable: 'unreachable',
}

/** `__type` may carry a prefix before `#`, and an address after `:`. */
export function errorOf({body, headers}: ManagerReply): AwsError {
  const {__type: of_body, message, Message} = object(parsed(body))
  const named = typeof of_body === 'string' ? of_body : (headers['x-amzn-errortype'] ?? null)
  const type = named === null ? null : named.replace(/^.*#/s, '').replace(/:.*$/s, '')
  const text = [message, Message].find(each => typeof each === 'string') as string | undefined
  const is_of_signature = type !== null && SIGNATURE.has(type)
  return {type, is_of_signature, speaks_of_time: is_of_signature && OF_TIME.test(text ?? '')}
}

/** Judged by its type; the status says little: a missing secret is 400. */
export function awsFault(reply: ManagerReply, {type}: AwsError, wall_ms: number): ManagerFault {
  const {status, headers} = reply
  const facts = {
    status,
    code: type,
    request_id: headers['x-amzn-requestid'] ?? null,
    retry_after_ms: retryAfterOf(reply, wall_ms),
  }
  const sentence = 'AWS Secrets Manager gave no secret'
  if (type !== null && CREDENTIALS.has(type)) return new ManagerFault('denied', sentence, {...facts, may_mint: true})
  if (type?.startsWith('Throttling') || type === 'TooManyRequestsException' || status === 429)
    return new ManagerFault('throttled', sentence, facts)
  const kind = type === null ? undefined : KINDS[type]
  return new ManagerFault(kind ?? (isPassing(status) || type === null ? 'unreachable' : 'unusable'), sentence, facts)
}
