import {type JsonObject, own} from '../../base/json-member.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {isJson, type OidcHttp, readReply, replyOf} from './http.ts'

const WHAT = 'The UserInfo endpoint'
const TIMEOUT_MS = 5_000
const MAX_BYTES = 256 << 10

/**
 * The claims of UserInfo (OpenID Connect Core 1.0 §5.3); the person that they are about is not judged yet. Refuses with
 * `provider_unreachable`, and with `userinfo_invalid` for an answer of any other kind.
 */
export async function readUserInfo(http: OidcHttp, url: string, access_token: string): Promise<JsonObject> {
  const reply = await replyOf(http, WHAT, url, {
    method: 'GET',
    headers: {accept: 'application/json', authorization: `Bearer ${access_token}`},
    max_bytes: MAX_BYTES,
    timeout_ms: TIMEOUT_MS,
  })
  if (reply.status >= 500) throw new SignInFault('provider_unreachable', `${WHAT} answered with status ${reply.status}`)
  if (reply.status !== 200) throw new SignInFault('userinfo_invalid', `${WHAT} answered with status ${reply.status}`)
  if (!isJson(reply)) throw new SignInFault('userinfo_invalid', `${WHAT} did not answer with application/json`)
  return readReply(WHAT, reply, 'userinfo_invalid')
}

/** Refuses with `userinfo_invalid`: with another access token, the claims of another person would be taken for his. */
export function checkAbout(userinfo: JsonObject, id_token: JsonObject): void {
  if (own(userinfo, 'sub') !== own(id_token, 'sub'))
    throw new SignInFault('userinfo_invalid', `${WHAT} answered about another person (sub)`)
}
