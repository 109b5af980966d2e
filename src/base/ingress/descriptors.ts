import {readFileSync} from 'node:fs'

/** Kept for providers, stores and files. */
const KEPT = 64
const MIN_CONNECTIONS = 16
/** The usual limit, for a system that does not report one. */
const USUAL = 1024

/** How many files and sockets this process may have open (`ulimit -n`); null where the system does not tell. */
export function descriptorLimit(
  limits: () => string = () => readFileSync('/proc/self/limits', 'latin1'),
): number | null {
  try {
    const limit = /^Max open files\s+(\d+|unlimited)/m.exec(limits())?.[1]
    return limit === undefined ? null : limit === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(limit)
  } catch {
    return null
  }
}

/**
 * Connections of clients that leave each of them a socket to a provider, and some for the rest: half of the descriptors
 * less 64.
 */
export function usualConnections(descriptors: number | null): number {
  return Math.max(MIN_CONNECTIONS, Math.floor((descriptors ?? USUAL) / 2) - KEPT)
}
