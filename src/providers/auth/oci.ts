import {createHash} from 'node:crypto'
import type {OutgoingHeaders} from '../headers.ts'
import {optionIn, optionNeeded} from '../options.ts'
import {LoginFault, type LoginRequest, type RequestAuth} from './login.ts'
import {readPrivateKey, rsaSha256} from './private-key.ts'

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Oracle Cloud's signature of a whole request with a user's API key; the private key may be the provider's key. Source:
 * OCI documentation, "Request Signatures", version 1 (draft-cavage-http-signatures-08).
 */
export const oci: RequestAuth = {
  says: 'Authorization: Signature, with the API key of a user (oracle_user …)',
  signs_body: true,
  takes_key: true,
  chosen: options =>
    optionIn(options, 'oracle_user') !== undefined || optionIn(options, 'oracle_fingerprint') !== undefined,
  usesOwnIdentity: () => false,
  async authorize(request, key, options, {now_ms}) {
    const key_id = (['oracle_tenancy', 'oracle_user', 'oracle_fingerprint'] as const)
      .map(name => optionNeeded(options, name))
      .join('/')
    const pem = optionIn(options, 'oracle_private_key') ?? key
    if (pem === null)
      throw new LoginFault(
        'The private key of the Oracle user is missing: say it as oracle_private_key, or as the key.',
      )
    return ociSignature(request, {
      key_id,
      pem,
      passphrase: optionIn(options, 'oracle_key_passphrase'),
      date: new Date(now_ms()).toUTCString(),
    })
  },
}

interface Signer {
  /** TENANCY/USER/FINGERPRINT. */
  readonly key_id: string
  readonly pem: string
  readonly passphrase?: string | undefined
  /** An HTTP date (RFC 9110, 5.6.7). */
  readonly date: string
}

/** The headers that sign a request: `date`, `authorization`, and for one with a body its hash and its type. */
export function ociSignature(
  {method, host, path, headers, body}: LoginRequest,
  {key_id, pem, passphrase, date}: Signer,
): OutgoingHeaders {
  const signed: [string, string][] = [
    ['date', date],
    ['(request-target)', `${method.toLowerCase()} ${path}`],
    ['host', host],
  ]
  const added: OutgoingHeaders = {date}
  if (WITH_BODY.has(method)) {
    const bytes = body ?? Buffer.alloc(0)
    added['content-type'] = headers['content-type'] ?? 'application/json'
    added['x-content-sha256'] = createHash('sha256').update(bytes).digest('base64')
    signed.push(
      ['content-length', String(bytes.length)],
      ['content-type', added['content-type']],
      ['x-content-sha256', added['x-content-sha256']],
    )
  }
  const signature = rsaSha256(
    readPrivateKey(pem, 'private key of the Oracle user', passphrase),
    signed.map(([name, value]) => `${name}: ${value}`).join('\n'),
  )
  const names = signed.map(([name]) => name).join(' ')
  added.authorization = `Signature version="1",keyId="${key_id}",algorithm="rsa-sha256",headers="${names}",signature="${signature}"`
  return added
}
