import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import {memberText} from '../../base/json-splice.ts'
import {edited, type TextEdit} from '../wire/edits.ts'
import {isImplementation, META_KEYS} from '../wire/envelope.ts'
import {type Era, type LegacyVersion, SERVED_VERSIONS} from '../wire/versions.ts'

/** The declarations of client and server, from the handshake to `server/discover` and back. */

/** Tasks are a capability until 2025-11-25, and an extension since. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/**
 * Extensions with methods or notifications of their own, which are not relayed between the eras. All others are a
 * matter of metadata and pass.
 */
const NOT_ACROSS: readonly string[] = [TASKS_EXTENSION]

/** Edits that take out of capabilities (of a client or a server) what is not relayed from one era to another. */
export function relayedCapabilities(
  capabilities: JsonObject,
  eras: {readonly client: Era; readonly upstream: Era},
): readonly TextEdit[] {
  if (eras.client === eras.upstream) return []
  const edits: TextEdit[] = Object.hasOwn(capabilities, 'tasks') ? [{path: ['tasks'], set: undefined}] : []
  const extensions = own(capabilities, 'extensions')
  if (!isObject(extensions)) return edits
  const gone = NOT_ACROSS.filter(name => Object.hasOwn(extensions, name))
  if (gone.length > 0 && gone.length === Object.keys(extensions).length)
    return [...edits, {path: ['extensions'], set: undefined}]
  return [...edits, ...gone.map(name => ({path: ['extensions', name], set: undefined}))]
}

/** The capabilities of a client as they go to an upstream: JSON text. */
export function clientCapabilitiesText(
  text: string,
  capabilities: JsonObject,
  eras: {readonly client: Era; readonly upstream: Era},
): string {
  return edited(text, relayedCapabilities(capabilities, eras))
}

/** A server that says nothing of itself is called by the name that it has here. */
export interface ServerNames {
  readonly name: string
}

/** The result of `initialize` for a legacy client, from a modern upstream's `server/discover`. */
export function initializeFromDiscover(
  discover: JsonObject,
  text: string,
  version: LegacyVersion,
  names: ServerNames,
): string {
  const members = [`"protocolVersion":"${version}"`, capabilitiesMember(discover, text, 'legacy', 'modern')]
  members.push(`"serverInfo":${serverInfoText(discover, text) ?? JSON.stringify({name: names.name, version: '0.0.0'})}`)
  if (typeof own(discover, 'instructions') === 'string')
    members.push(`"instructions":${memberText(text, 'instructions')}`)
  return `{${members.join(',')}}`
}

/** The result of `server/discover` for a modern client, from a legacy upstream's `initialize`. */
export function discoverFromInitialize(initialize: JsonObject, text: string, ttl_ms: number): string {
  const members = [
    '"resultType":"complete"',
    `"supportedVersions":${JSON.stringify(SERVED_VERSIONS)}`,
    capabilitiesMember(initialize, text, 'modern', 'legacy'),
  ]
  if (typeof own(initialize, 'instructions') === 'string')
    members.push(`"instructions":${memberText(text, 'instructions')}`)
  members.push(`"ttlMs":${ttl_ms}`, '"cacheScope":"private"')
  const info = isImplementation(own(initialize, 'serverInfo')) ? memberText(text, 'serverInfo') : undefined
  if (info !== undefined) members.push(`"_meta":{"${META_KEYS.server_info}":${info}}`)
  return `{${members.join(',')}}`
}

/** The JSON text of the server info in a modern result; null where there is none with a name and a version. */
export function serverInfoText(result: JsonObject, text: string): string | null {
  if (!isImplementation(own(own(result, '_meta'), META_KEYS.server_info))) return null
  return memberText(memberText(text, '_meta')!, META_KEYS.server_info)!
}

function capabilitiesMember(from: JsonObject, text: string, client: Era, upstream: Era): string {
  const capabilities = own(from, 'capabilities')
  if (!isObject(capabilities)) return '"capabilities":{}'
  const own_text = memberText(text, 'capabilities')!
  return `"capabilities":${edited(own_text, relayedCapabilities(capabilities, {client, upstream}))}`
}
