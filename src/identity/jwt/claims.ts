import {readAddress} from '../../base/address.ts'
import {isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'

/** Names of one claim, the first that is there counts. */
const ORGANISATION = ['portkey_oid', 'gateway_oid', 'organisation_id'] as const
const WORKSPACE = ['portkey_workspace', 'gateway_workspace', 'workspace_slug'] as const
const USER = ['email_id', 'sub', 'uid'] as const
const LONGEST_USER = 255

/** The organisation that a token names, unchecked; undefined where it names none. */
export function organisationIn(claims: JsonObject): JsonValue | undefined {
  return firstOf(claims, ORGANISATION)
}

/** The workspace that a token names, by id or slug; undefined where it names none. */
export function workspaceIn(claims: JsonObject): JsonValue | undefined {
  return firstOf(claims, WORKSPACE)
}

/** The user that a token is about, as logs and policies know him (`_user`); null where it names none. */
export function userIn(claims: JsonObject): string | null {
  const named = USER.map(name => own(claims, name)).find(value => typeof value === 'string' && value !== '')
  return typeof named === 'string' ? named.slice(0, LONGEST_USER) : null
}

/** The address of that user in its one form; null where none of the claims is an address. */
export function addressIn(claims: JsonObject): string | null {
  return readAddress(own(claims, 'email_id'))?.address ?? readAddress(own(claims, 'sub'))?.address ?? null
}

/** The config and the metadata that a token brings for its calls (`defaults`). */
export function defaultsIn(claims: JsonObject): {readonly config: string | null; readonly metadata: JsonObject} {
  const defaults = own(claims, 'defaults')
  const [config, metadata] = [own(defaults, 'config_id'), own(defaults, 'metadata')]
  return {config: typeof config === 'string' ? config : null, metadata: isObject(metadata) ? metadata : {}}
}

function firstOf(claims: JsonObject, names: readonly string[]): JsonValue | undefined {
  return names.map(name => own(claims, name)).find(value => value !== undefined)
}
