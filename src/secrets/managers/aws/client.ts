import {object, parsed} from '../../../base/json-object.ts'
import {sign} from '../../../base/sigv4.ts'
import {ManagerFault} from '../../manager-fault.ts'
import type {ManagerReply, ManagerServices} from '../../services.ts'
import {LoginMemory} from '../login-memory.ts'
import {ManagerPatience} from '../patience.ts'
import type {ReadSecret, SecretPlace, SecretRead} from '../reading.ts'
import {ClockOffsets} from './clock-offsets.ts'
import {awsFault, errorOf} from './errors.ts'
import {type AwsPlace, awsPlace} from './place.ts'
import {AwsSession} from './session.ts'

const TARGET = 'secretsmanager.GetSecretValue'
const JSON_TYPE = 'application/x-amz-json-1.1'

/**
 * AWS Secrets Manager. Source: AWS Secrets Manager API reference, GetSecretValue; signed with Signature Version 4 for
 * the service `secretsmanager`.
 */
export function awsManager(on: ManagerServices): ReadSecret {
  const patience = new ManagerPatience(on)
  const clocks = new ClockOffsets(on)
  const sessions = new LoginMemory<{readonly key: string; readonly session: AwsSession}>()

  const read = async (place: AwsPlace, path: string, session: AwsSession, is_last = false): Promise<SecretRead> => {
    const credentials = await session.credentials()
    const body = JSON.stringify({SecretId: path})
    const headers = {'content-type': JSON_TYPE, 'x-amz-target': TARGET}
    const {host, region} = place
    const now_ms = clocks.now(host)
    const signed = sign({
      ...{method: 'POST', host, path: '/', headers, body, service: 'secretsmanager', region, credentials, now_ms},
    })
    const {host: _, ...authorization} = signed
    const reply = await on.fetch({
      method: 'POST',
      url: `https://${host}/`,
      headers: {...headers, ...authorization},
      body,
    })
    if (reply.status === 200) return readSecret(reply)
    const error = errorOf(reply)
    if (error.is_of_signature && clocks.learn(host, reply, error.speaks_of_time) && !is_last)
      return read(place, path, session, true) // signed for another moment now
    throw awsFault(reply, error, on.wall())
  }

  return async (secret: SecretPlace) => {
    const place = awsPlace(secret, on)
    const {login, path} = secret
    const {key, session} = sessions.of(place.host, login, made => ({
      key: made,
      session: new AwsSession({on, place, login, key: made, patience, clocks}),
    }))
    const once = () => patience.run(`${place.host} ${key}`, () => read(place, path, session))
    try {
      return await once()
    } catch (fault) {
      if (!(fault instanceof ManagerFault && fault.may_mint && session.renew())) throw fault
      return await once()
    }
  }
}

function readSecret({body}: ManagerReply): SecretRead {
  const {SecretString: text, SecretBinary: binary, VersionId: version} = object(parsed(body))
  const held = typeof text === 'string' ? text : typeof binary === 'string' ? ofBinary(binary) : null
  if (held === null)
    throw new ManagerFault('unreachable', 'AWS Secrets Manager answered without a secret', {status: 200})
  return {
    content: {kind: 'text', text: held},
    version: typeof version === 'string' ? version.slice(0, 64) : null,
    lease_ms: null,
  }
}

/** UTF-8 where it is that, else base64 as it came. */
function ofBinary(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : base64
}
