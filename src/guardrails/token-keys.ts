import {parsed} from '../base/json-object.ts'
import {keysNamed} from '../base/jwt/key-set.ts'
import type {CheckContext} from './check.ts'
import {CheckFault} from './fault.ts'
import {ask} from './http.ts'
import {isObject, type JsonObject, type JsonValue, own} from './json.ts'

const MAX_BYTES = 1024 * 1024
const TIMEOUT_MS = 5000
/** A key that is not in the set is looked for again at most so often, whatever ids tokens claim. */
const LOOK_AGAIN_MS = 30_000

interface Kept {
  readonly keys: readonly JsonValue[]
  readonly at_ms: number
}

/** The keys of a set that may have signed: by its id where the token names one, else all. */
export async function keysFor(
  kid: JsonValue | undefined,
  uri: string,
  max_age_s: number,
  context: CheckContext,
): Promise<readonly JsonValue[]> {
  const name = `jwks ${uri}`
  const known = context.memory.get(name) as Kept | undefined
  const found = known ? keysNamed(known.keys, kid) : []
  if (known && (found.length || context.now_ms() - known.at_ms < LOOK_AGAIN_MS)) return found
  const {status, text} = await ask(
    context.http,
    {method: 'GET', url: uri, headers: {accept: 'application/json'}},
    context.after(TIMEOUT_MS),
    MAX_BYTES,
    'The JWKS endpoint',
  )
  const keys = own(parsed(text) as JsonValue, 'keys')
  if (status < 200 || status > 299 || !Array.isArray(keys))
    throw new CheckFault(`The JWKS endpoint answered ${status} and no key set.`)
  context.memory.put(name, {keys, at_ms: context.now_ms()} satisfies Kept, max_age_s)
  return keysNamed(keys, kid)
}

/** The claims of an active token by an introspection endpoint; null when it is not active (RFC 7662 §2). */
export async function introspected(
  token: string,
  {endpoint, type, kept_as, max_age_s}: {endpoint: string; type: string; kept_as: string; max_age_s: number},
  context: CheckContext,
): Promise<JsonObject | null> {
  const known =
    max_age_s > 0 ? (context.memory.get(kept_as) as {readonly claims: JsonObject | null} | undefined) : undefined
  if (known) return known.claims
  const body = type === 'application/json' ? JSON.stringify({token}) : new URLSearchParams({token}).toString()
  const {status, text} = await ask(
    context.http,
    {method: 'POST', url: endpoint, headers: {'content-type': type, accept: 'application/json'}, body},
    context.after(TIMEOUT_MS),
    MAX_BYTES,
    'The introspection endpoint',
  )
  const reply = parsed(text)
  if (status < 200 || status > 299 || !isObject(reply))
    throw new CheckFault(`The introspection endpoint answered ${status} and no JSON object.`)
  const claims = own(reply, 'active') === true ? reply : null
  if (max_age_s > 0) context.memory.put(kept_as, {claims}, max_age_s)
  return claims
}
