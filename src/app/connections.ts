import {descriptorLimit, usualConnections} from '../base/ingress/descriptors.ts'
import {Governor, type GovernorOptions} from '../base/ingress/governor.ts'
import type {Log} from '../base/log.ts'
import {type Settings, SettingsFault} from '../settings/index.ts'

/** A crowd is reported once in so long. */
const TOLD_EVERY_MS = 60_000
/** Descriptors that the process needs for itself. */
const KEPT = 64

/**
 * The governor of clients' connections, as the settings have it; throws where there are fewer file descriptors than
 * they ask for.
 */
export function openGovernor(settings: Settings, log: Log, descriptors = descriptorLimit()): Governor {
  const limits = governed(settings, descriptors)
  let told_ms = Number.NEGATIVE_INFINITY
  return new Governor({
    ...limits,
    keep_alive_ms: settings.client_keep_alive_timeout_ms,
    onFull(why, most) {
      if (performance.now() - told_ms < TOLD_EVERY_MS) return
      told_ms = performance.now()
      log.warn({why, connections: most}, 'more connections came than the gateway takes')
    },
  })
}

/** The limits that may change while connections are open. */
export function governed(
  settings: Settings,
  descriptors = descriptorLimit(),
): Omit<GovernorOptions, 'keep_alive_ms' | 'onFull' | 'now'> {
  const {max_connections: connections = usualConnections(descriptors)} = settings
  if (settings.max_connections !== undefined && descriptors !== null && connections > descriptors - KEPT) {
    throw new SettingsFault([
      `MAX_CONNECTIONS=${connections} is more than this process can have: it may open ${descriptors} files and sockets (ulimit -n), and needs ${KEPT} of them itself.`,
    ])
  }
  return {
    head_timeout_ms: settings.client_head_timeout_ms,
    body_idle_timeout_ms: settings.client_body_idle_timeout_ms,
    write_timeout_ms: settings.client_write_timeout_ms,
    connections,
    connections_per_address: settings.max_connections_per_address,
    requests_per_connection: settings.max_requests_per_connection,
  }
}
