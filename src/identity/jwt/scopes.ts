import {Refusal} from '../../base/errors.ts'
import {isList, type JsonObject, own} from '../../base/json-member.ts'
import {heldByKey} from '../access.ts'
import {plainScope, SCOPES} from '../scopes.ts'

const PREFIX = /^(?:portkey|gateway)\./
/** A token lives for minutes: it makes no key that lives on. */
const MAKES_KEYS = /_api_keys\.(?:create|update|delete|rotate)$/

/**
 * The scopes of a token: `scope` or `scopes`, a text with spaces or a list, in the spellings that issuers use; `usual`
 * where it has neither. A token acts as a service key of its workspace that manages no keys. Refuses with
 * `token.scopes` where nothing is left that is known.
 */
export function scopesOfToken(claims: JsonObject, usual: readonly string[]): ReadonlySet<string> {
  const scope = own(claims, 'scope')
  const given = scope === undefined ? own(claims, 'scopes') : scope
  const named = given === undefined ? usual : textsIn(given)
  const known = named.map(text => plainScope(text.replace(PREFIX, ''))).filter(scope => SCOPES.has(scope))
  if (known.length === 0) throw new Refusal('token.scopes')
  return heldByKey(
    'workspace-service',
    known.filter(scope => !MAKES_KEYS.test(scope)),
  )
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(/\s+/)
  return isList(value) ? value.filter(each => typeof each === 'string') : []
}
