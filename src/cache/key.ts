import {createHash, type Hash} from 'node:crypto'
import {Refusal} from '../base/errors.ts'
import {topLevel} from '../base/json.ts'
import type {CacheKey} from '../ports/cache/index.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import {canonical} from './canonical.ts'

/** Everything that makes two calls the same, and nothing else (decisions: configs). */
export interface KeyParts {
  readonly organisation_id: string
  readonly workspace_id: string
  /** The kind of the provider. */
  readonly provider: string
  /** The destination of the call: the custom host, or the base URL of the provider as this target has it. */
  readonly base_url: string
  readonly endpoint: EndpointName
  /** Path and query below the base URL; of pass-through they are the request. */
  readonly path: string
  readonly model: string | null
  /**
   * A hash of the caller's own credential for the provider; null: the credential is the workspace's. It separates
   * answers whatever else does.
   */
  readonly own_credential: string | null
  /** Says which guardrails an answer has passed: those of a call that finds it are not run. Empty: none. */
  readonly guards: string
  /** The JSON object that goes to the provider, after `override_params` and translation. */
  readonly body: Buffer
  /**
   * The client's own request, where the answer repeats members of it or has its format: several may come to the same
   * body. Null for all others.
   */
  readonly repeated?: Buffer | null
  /** Given and not empty, it partitions in place of metadata and headers. */
  readonly namespace?: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  /**
   * Other headers of the client that may change the answer: `behaviour` of ours, and headers that are passed on to the
   * provider.
   */
  readonly headers: Readonly<Record<string, string>>
}

/** How an answer is delivered does not make it another: one that was stored whole is replayed as a stream. */
const DELIVERY: ReadonlySet<string> = new Set(['stream', 'stream_options'])
/** A longer body is compared by the bytes of its members: its canonical form would hold up everybody else. */
const MAX_CANONICAL_BYTES = 256 * 1024
/** A longer one is not worth the time that its hash takes. */
const MAX_BODY_BYTES = 16 * 1024 * 1024

/**
 * The key of a call; null when its body is no JSON object, or longer than 16 MB, so that it cannot be cached.
 * Organisation and workspace partition always.
 */
export function cacheKey(parts: KeyParts): CacheKey | null {
  if (parts.body.length > MAX_BODY_BYTES) return null
  const hash = createHash('sha256')
  const {organisation_id, workspace_id, provider, base_url, endpoint, path, model, own_credential, guards} = parts
  // A JSON array of texts says where each begins and ends: no two lists of parts are written alike.
  const place = [organisation_id, workspace_id, provider, base_url, endpoint, path, model, own_credential]
  hash.update(JSON.stringify([...place, guards, ...partition(parts)]))
  for (const body of [parts.body, parts.repeated ?? null]) if (body && !hashed(body, hash)) return null
  return {workspace_id, digest: hash.digest('hex')}
}

/** False for a body that is no JSON object. */
function hashed(body: Buffer, hash: Hash): boolean {
  if (body.length <= MAX_CANONICAL_BYTES) {
    const form = canonical(body, KEYS_LEFT_OUT)
    if (form !== null) hash.update(form, 'latin1')
    return form !== null
  }
  const members = membersOf(body)
  for (const [key, {start, end}] of members ?? []) {
    hash.update(JSON.stringify([key, end - start]))
    hash.update(body.subarray(start, end))
  }
  return members !== null
}

/** As `canonical` sees keys: with their quotes. */
const KEYS_LEFT_OUT: ReadonlySet<string> = new Set([...DELIVERY].map(key => JSON.stringify(key)))

/**
 * Headers that never partition: who asks, where the call is traced, where it goes (which the key says itself), how long
 * it may take.
 */
const NOT_BEHAVIOUR: ReadonlySet<string> = new Set(
  `api-key provider virtual-key config custom-host trace-id span-id parent-span-id span-name metadata cache-namespace
  cache-force-refresh request-timeout sensitive-headers debug`.split(/\s+/),
)

/** Of our own headers (names after the prefix) those that belong into `KeyParts.headers`; unknown ones do. */
export function behaviouralHeaders(values: Readonly<Partial<Record<string, string>>>): Record<string, string> {
  const kept = Object.entries(values).filter(
    (each): each is [string, string] => each[1] !== undefined && !NOT_BEHAVIOUR.has(each[0]),
  )
  return Object.fromEntries(kept)
}

function partition({namespace, metadata, headers}: KeyParts): unknown[] {
  return namespace ? ['namespace', namespace] : ['metadata', sorted(metadata), sorted(headers)]
}

function sorted(record: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1))
}

/**
 * The members at the top, in the order of their keys; null when a key comes twice, for then it is not clear which one
 * counts.
 */
function membersOf(body: Buffer) {
  try {
    return [...topLevel(body, EVERY)]
      .filter(([key]) => !DELIVERY.has(key))
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
  } catch (fault) {
    if (fault instanceof Refusal) return null
    throw fault
  }
}

/** Every text there is. */
const EVERY: ReadonlySet<string> = Object.assign(new Set<string>(), {has: () => true})
