import {type JsonObject, own} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import type {McpServer} from '../call/server.ts'
import {discoverFromInitialize, initializeFromDiscover, type ServerNames} from '../content/capabilities.ts'
import {privateResult, repairedResult} from '../content/results.ts'
import {metadataIn} from '../sync/metadata.ts'
import type {Hello} from '../upstream/upstream.ts'
import {edited} from '../wire/edits.ts'
import {isLegacyVersion, type LegacyVersion, olderOf, SERVED_VERSIONS} from '../wire/versions.ts'

/** A description that is made of a handshake may be kept for so long. */
const DISCOVER_MS = 60_000

/** The result of `initialize` for a client that wants a revision. */
export function initializeResult(hello: Hello, version: LegacyVersion, server: McpServer): string {
  if (hello.era === 'modern')
    return initializeFromDiscover(objectOf(hello.text), hello.text, version, {name: server.name})
  const of_upstream = hello.protocol_version
  const agreed = isLegacyVersion(of_upstream) ? olderOf(version, of_upstream) : version
  return edited(hello.text, [{path: ['protocolVersion'], set: JSON.stringify(agreed)}])
}

/** The revision in a result of `initialize`. */
export function agreedVersion(hello: Hello, version: LegacyVersion): LegacyVersion {
  return hello.era === 'legacy' && isLegacyVersion(hello.protocol_version)
    ? olderOf(version, hello.protocol_version)
    : version
}

/** The result of `server/discover`. `is_private`: another caller may see it otherwise. */
export function discoverResult(hello: Hello, is_private: boolean): string {
  const result = objectOf(hello.text)
  if (hello.era === 'legacy') return discoverFromInitialize(result, hello.text, DISCOVER_MS)
  const edits = repairedResult('server/discover', result)
  return edited(hello.text, [
    ...edits,
    ...(is_private ? privateResult(result, DISCOVER_MS) : []),
    ...(own(result, 'supportedVersions') === undefined ? [] : [versionsEdit()]),
  ])
}

/**
 * The result of `server/discover` for a client whose person has not signed in at the server: what the gateway read of
 * it before, else that it has tools. No client keeps it.
 */
export function discoverUnsigned(integration: McpIntegrationsTable, names: ServerNames): string {
  const {capability_flags, server_name, server_version} = metadataIn(integration.metadata)
  const capabilities = Object.keys(capability_flags ?? {}).length > 0 ? capability_flags : {tools: {}}
  const serverInfo = {name: server_name ?? names.name, version: server_version ?? '0.0.0'}
  const initialize = JSON.stringify({capabilities, serverInfo})
  return discoverFromInitialize(objectOf(initialize), initialize, 0)
}

function versionsEdit() {
  return {path: ['supportedVersions'], set: JSON.stringify(SERVED_VERSIONS)}
}

function objectOf(text: string): JsonObject {
  return (parsed(text) ?? {}) as JsonObject
}
