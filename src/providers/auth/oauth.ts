import {object, parsed} from '../../base/json-object.ts'
import {LoginFault} from './login.ts'
import type {CachedToken} from './token-cache.ts'

/** Of an answer that does not say how long its token lives. */
const USUAL_LIFE_S = 3600

/**
 * The token of an OAuth 2.0 answer (RFC 6749, 5.1), or the fault that it tells (5.2). `expires_in` is a number of
 * seconds, which metadata services write as a text.
 */
export function readToken(
  {status, body}: {readonly status: number; readonly body: string},
  who: string,
  now_ms: number,
): CachedToken<string> {
  const {access_token, expires_in, error, error_description} = object(parsed(body))
  if (status !== 200 || typeof access_token !== 'string' || !/^[\x21-\x7e]+$/.test(access_token)) {
    const reason = [error, error_description].filter(each => typeof each === 'string').join(': ')
    throw new LoginFault(`No token came from ${who}: ${reason.replace(/\s+/g, ' ').slice(0, 500) || `HTTP ${status}`}.`)
  }
  const life_s = Number(expires_in)
  return {
    value: access_token,
    expires_at_ms: now_ms + (Number.isFinite(life_s) && life_s > 0 ? life_s : USUAL_LIFE_S) * 1000,
  }
}
