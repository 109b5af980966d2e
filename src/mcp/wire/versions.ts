/** Revisions of the protocol, and the two eras that they belong to. */

/** `modern`: each request describes itself. `legacy`: a handshake (`initialize`), and maybe a session. */
export type Era = 'modern' | 'legacy'

/** Revisions without handshake, newest first. */
export const MODERN_VERSIONS = ['2026-07-28'] as const

/** Revisions with handshake, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** All that are served, newest first: `supported` of the error -32022. */
export const SERVED_VERSIONS: readonly string[] = [...MODERN_VERSIONS, ...LEGACY_VERSIONS]

export type ModernVersion = (typeof MODERN_VERSIONS)[number]
export type LegacyVersion = (typeof LEGACY_VERSIONS)[number]

/** The version of a legacy request that has neither header nor session (2025-06-18, Streamable HTTP). */
export const DEFAULT_VERSION: LegacyVersion = '2025-03-26'

/** The first revision in which a body is one message (2025-06-18 took batches out). */
const FIRST_WITHOUT_BATCHES = '2025-06-18'

const DATED = /^\d{4}-\d{2}-\d{2}$/

export function isModernVersion(version: string): version is ModernVersion {
  return (MODERN_VERSIONS as readonly string[]).includes(version)
}

export function isLegacyVersion(version: string): version is LegacyVersion {
  return (LEGACY_VERSIONS as readonly string[]).includes(version)
}

/** The era of a revision that is served; null of any other. */
export function eraOf(version: string): Era | null {
  if (isModernVersion(version)) return 'modern'
  return isLegacyVersion(version) ? 'legacy' : null
}

/** True for each revision since the first modern one, served or not: revisions are dates. */
export function claimsModern(version: string): boolean {
  return DATED.test(version) && version >= MODERN_VERSIONS[MODERN_VERSIONS.length - 1]!
}

/** The revision that answers `initialize`: the requested one where it is served, else the newest legacy one. */
export function negotiated(requested: string): LegacyVersion {
  return isLegacyVersion(requested) ? requested : LEGACY_VERSIONS[0]
}

/** The older of two revisions. */
export function olderOf(one: LegacyVersion, other: LegacyVersion): LegacyVersion {
  return one < other ? one : other
}

/** True where a body may be a list of messages. */
export function allowsBatches(version: string): boolean {
  return version < FIRST_WITHOUT_BATCHES
}
