import type {OutgoingHeaders} from '../headers.ts'
import {type Options, optionIn, optionNeeded} from '../options.ts'
import {AwsCredentialsFault, type AwsLogin} from './aws-login.ts'
import {LoginFault, type RequestAuth} from './login.ts'
import {type AwsCredentials, sign} from './sigv4.ts'

export const USUAL_REGION = 'us-east-1'
const TYPES = new Set(['accessKey', 'assumedRole', 'serviceRole'])
const EMPTY = Buffer.alloc(0)

/**
 * AWS Signature Version 4 for `service`, with the credentials that `aws_auth_type` names; with two keys and no type,
 * those. `s3`: in the form that Amazon S3 has of it.
 */
export function awsSignature(service: string, s3 = false): RequestAuth {
  return {
    says: 'AWS Signature Version 4 (aws_auth_type)',
    signs_body: true,
    chosen: options => typeOf(options) !== null,
    usesOwnIdentity(options) {
      const type = typeOf(options)
      return type === 'serviceRole' || (type === 'assumedRole' && keysIn(options) === null)
    },
    async authorize({method, host, path, headers, body}, _key, options, on) {
      const region = optionIn(options, 'aws_region') ?? USUAL_REGION
      const credentials = await on.aws(loginOf(options), region).catch(fault => {
        throw fault instanceof AwsCredentialsFault ? new LoginFault(fault.message, {cause: fault}) : fault
      })
      const [place, query = ''] = split(path)
      const signed = sign({
        method,
        host,
        path: place,
        query,
        headers: toSign(headers),
        body: body ?? EMPTY,
        service,
        region,
        credentials,
        now_ms: on.now_ms(),
        s3,
      })
      const {host: _, ...added} = signed
      return added
    },
  }
}

/** Headers that no relay on the way changes; the others need no signature. */
function toSign(headers: Readonly<OutgoingHeaders>): OutgoingHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === 'content-type' || name.startsWith('x-amz')),
  )
}

function typeOf(options: Options): string | null {
  const type = optionIn(options, 'aws_auth_type')
  if (type !== undefined) return TYPES.has(type) ? type : null
  return keysIn(options) ? 'accessKey' : null
}

function loginOf(options: Options): AwsLogin {
  const type = typeOf(options)
  if (type === 'serviceRole') return {type}
  if (type === 'assumedRole') {
    const role_arn = optionNeeded(options, 'aws_role_arn')
    return {type, role_arn, external_id: optionIn(options, 'aws_external_id') ?? null, keys: keysIn(options)}
  }
  return {
    type: 'accessKey',
    access_key_id: optionNeeded(options, 'aws_access_key_id'),
    secret_access_key: optionNeeded(options, 'aws_secret_access_key'),
    session_token: optionIn(options, 'aws_session_token') ?? null,
  }
}

function keysIn(options: Options): AwsCredentials | null {
  const access_key_id = optionIn(options, 'aws_access_key_id')
  const secret_access_key = optionIn(options, 'aws_secret_access_key')
  if (access_key_id === undefined || secret_access_key === undefined) return null
  return {access_key_id, secret_access_key, session_token: optionIn(options, 'aws_session_token') ?? null}
}

function split(path: string): [place: string, query?: string] {
  const at = path.indexOf('?')
  return at < 0 ? [path] : [path.slice(0, at), path.slice(at + 1)]
}
