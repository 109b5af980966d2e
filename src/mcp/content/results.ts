import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import type {TextEdit} from '../wire/edits.ts'
import {META_KEYS} from '../wire/envelope.ts'

/** Members that results of 2026-07-28 have and those before it have not (2026-07-28, "Results", "Caching"). */

/** Methods with results that a client may keep for a time. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
])

export function isCacheable(method: string): boolean {
  return CACHEABLE.has(method)
}

/** `other`: a kind that an extension has and that is not known here. */
export type ResultKind = 'complete' | 'input_required' | 'task' | 'other'

const KINDS: ReadonlySet<unknown> = new Set<ResultKind>(['complete', 'input_required', 'task'])

/** The kind of a modern result: one that says none is complete. */
export function kindOfResult(result: JsonObject): ResultKind {
  const kind = own(result, 'resultType') ?? 'complete'
  return KINDS.has(kind) ? (kind as ResultKind) : 'other'
}

/** Edits that make a modern client's result of a legacy upstream's. `server_info`: JSON text; null for none. */
export function modernResult(method: string, server_info: string | null, ttl_ms: number): readonly TextEdit[] {
  const edits: TextEdit[] = [{path: ['resultType'], set: '"complete"'}]
  if (isCacheable(method)) edits.push({path: ['ttlMs'], set: String(ttl_ms)}, {path: ['cacheScope'], set: '"private"'})
  if (server_info !== null) edits.push({path: ['_meta', META_KEYS.server_info], set: server_info})
  return edits
}

const MODERN_MEMBERS = ['resultType', 'ttlMs', 'cacheScope'] as const

/** Edits that make a legacy client's result of a modern upstream's. */
export function legacyResult(result: JsonObject): readonly TextEdit[] {
  const edits: TextEdit[] = MODERN_MEMBERS.flatMap(key =>
    Object.hasOwn(result, key) ? [{path: [key], set: undefined}] : [],
  )
  const meta = own(result, '_meta')
  if (!isObject(meta) || !Object.hasOwn(meta, META_KEYS.server_info)) return edits
  const path = Object.keys(meta).length === 1 ? ['_meta'] : ['_meta', META_KEYS.server_info]
  return [...edits, {path, set: undefined}]
}

/**
 * Edits that give a modern upstream's result the members that modern clients refuse a result without: its kind, how
 * long it may be kept, and for one caller or for all.
 */
export function repairedResult(method: string, result: JsonObject): readonly TextEdit[] {
  const edits: TextEdit[] = []
  const has_kind = typeof own(result, 'resultType') === 'string'
  if (!has_kind) edits.push({path: ['resultType'], set: '"complete"'})
  if (!isCacheable(method) || (has_kind && kindOfResult(result) !== 'complete')) return edits
  const ttl_ms = own(result, 'ttlMs')
  if (typeof ttl_ms !== 'number' || !Number.isSafeInteger(ttl_ms) || ttl_ms < 0) edits.push({path: ['ttlMs'], set: '0'})
  const scope = own(result, 'cacheScope')
  if (scope !== 'public' && scope !== 'private') edits.push({path: ['cacheScope'], set: '"private"'})
  return edits
}

/** Edits for a result that another caller may see otherwise: private, and kept for no longer than `most_ms`. */
export function privateResult(result: JsonObject, most_ms: number): readonly TextEdit[] {
  const ttl_ms = own(result, 'ttlMs')
  const edits: TextEdit[] = []
  if (own(result, 'cacheScope') === 'public') edits.push({path: ['cacheScope'], set: '"private"'})
  if (typeof ttl_ms === 'number' && ttl_ms > most_ms) edits.push({path: ['ttlMs'], set: String(most_ms)})
  return edits
}
