import type {Server} from 'node:http'
import type {Server as TlsServer} from 'node:https'
import {createSecureContext} from 'node:tls'
import type {Governor} from '../base/ingress/governor.ts'
import type {Log} from '../base/log.ts'
import type {Changeable, Name, Settings, SettingsChanges} from '../settings/index.ts'
import {SettingsFault} from '../settings/index.ts'
import {governed} from './connections.ts'

export interface ReloadParts {
  readonly kept: Changeable
  readonly log: Log
  readonly servers: readonly Server[]
  readonly governor: Governor | undefined
}

const CERTIFICATE: ReadonlySet<Name> = new Set(['TLS_KEY', 'TLS_CERT', 'TLS_CA'])

/**
 * Takes over what `next` changes and may change while the gateway serves; all of it or, where it cannot be, nothing:
 * throws SettingsFault.
 */
export function reload(next: Settings, {kept, log, servers, governor}: ReloadParts): SettingsChanges {
  const changes = kept.compare(next)
  const has_certificate = changes.taken.some(name => CERTIFICATE.has(name))
  const was_tls = servers.every(server => 'setSecureContext' in server) && servers.length > 0
  if (has_certificate && was_tls !== Boolean(next.tls_key && next.tls_cert)) {
    throw new SettingsFault([
      'TLS_KEY and TLS_CERT came or went: a listener becomes https, or plain http, at a restart alone.',
    ])
  }
  const context = {key: next.tls_key, cert: next.tls_cert, ca: next.tls_ca}
  if (has_certificate) tryContext(context)
  const limits = governor && governed(next)
  kept.take(next, changes.taken)
  if (limits) governor.adjust(limits)
  // open connections keep theirs
  if (has_certificate) for (const server of servers) (server as TlsServer).setSecureContext(context)
  log.level = next.log_level
  return changes
}

function tryContext(context: Parameters<typeof createSecureContext>[0]) {
  try {
    createSecureContext(context)
  } catch (cause) {
    throw new SettingsFault([`TLS_KEY and TLS_CERT do not go together: ${(cause as Error).message}.`])
  }
}
