import {EgressFault} from '../base/egress/faults.ts'
import {Refusal} from '../base/errors.ts'
import {type JsonValue, own} from '../base/json-member.ts'
import {isFitKey} from '../base/jwt/token.ts'
import {type CameKeys, kidOf, MAX_KEYS} from '../identity/jwt/key-sets.ts'
import type {VerifiedToken} from '../identity/jwt/tokens.ts'
import type {JwtSettings} from '../schema/organisation-auth.ts'
import type {AdminServices} from './services.ts'

interface Step {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

const MOST_NAMED = 10

/**
 * The steps by which a token of the organisation would be judged: its keys are read now, at their address too, and a
 * token that is given is verified. Nothing is kept.
 */
export async function triedTokens(
  tokens: AdminServices['tokens'],
  {organisation_id, settings}: {readonly organisation_id: string; readonly settings: JwtSettings},
  token: string | undefined,
): Promise<Step[]> {
  if (!tokens) throw new Error('no tokens are judged here')
  const keys = await tried('key set', async () => keysInWords(await tokens.triedKeys(settings)))
  if (token === undefined) return [keys]
  return [keys, await tried('token', async () => tokenInWords(await tokens.tried(token, organisation_id)))]
}

async function tried(name: string, work: () => Promise<string>): Promise<Step> {
  try {
    return {name, ok: true, detail: await work()}
  } catch (fault) {
    return {name, ok: false, detail: reasonOf(fault)}
  }
}

/** Of what was refused here, or went wrong on the way to the address; a fault of ours stays here. */
function reasonOf(fault: unknown): string {
  if (fault instanceof Refusal || fault instanceof EgressFault) return fault.message
  const {name, code, message} = fault as Error & {readonly code?: string}
  if (name === 'TimeoutError') return 'The address did not answer in time.'
  return code === undefined && name === 'Error'
    ? `The address gave no key set: ${message}.`
    : 'The address gave no key set.'
}

function keysInWords({keys, dropped}: CameKeys): string {
  if (keys.length === 0) return 'no keys'
  const unfit = keys.filter(key => !isFitKey(key))
  return [
    `${keys.length} ${keys.length === 1 ? 'key' : 'keys'}: ${named(keys, key => `${kidOf(key)} (${kindOf(key)})`)}`,
    ...(unfit.length > 0 ? [`${unfit.length} cannot be used: ${named(unfit, kidOf)}`] : []),
    ...(dropped > 0 ? [`${dropped} beyond the first ${MAX_KEYS} are not used`] : []),
  ].join('; ')
}

function named(keys: readonly JsonValue[], nameOf: (key: JsonValue) => string): string {
  const more = keys.length > MOST_NAMED ? ` and ${keys.length - MOST_NAMED} more` : ''
  return keys.slice(0, MOST_NAMED).map(nameOf).join(', ') + more
}

function tokenInWords({access, workspace_id, user, expires_at_ms}: VerifiedToken): string {
  const scopes = access.scopes === 'all' ? [] : [...access.scopes].sort()
  return [
    `accepted until ${new Date(expires_at_ms).toISOString()}`,
    `workspace ${workspace_id}`,
    `user ${user ?? 'not named'}`,
    `scopes ${scopes.join(', ')}`,
  ].join('; ')
}

function kindOf(key: JsonValue): string {
  const kty = own(key, 'kty')
  return typeof kty === 'string' ? kty.slice(0, 64) : 'not named'
}
