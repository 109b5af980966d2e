import {z} from 'zod'
import {Handle} from './names.ts'
import {pageParams} from './paging.ts'

/** The entries of the cache that are meant; an absent member does not narrow. */
export interface KeptFilter {
  readonly workspace_ids: readonly string[]
  readonly digest?: string | undefined
  readonly model?: string | undefined
  readonly namespace?: string | undefined
}

/** A kept answer, or a row by which other words find one, without its contents. */
export interface KeptEntry {
  readonly digest: string
  readonly workspace_id: string
  readonly model: string | null
  readonly namespace: string | null
  readonly stored_at_ms: number
  readonly expires_at_ms: number
  readonly bytes: number
  /** The call that brought it, where that is known. */
  readonly log_id: string | null
}

export const CACHE_KINDS = ['simple', 'semantic'] as const
export type CacheKind = (typeof CACHE_KINDS)[number]

const Digest = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits')

const filter = {
  /** `simple`: answers to the same request. `semantic`: what finds them by other words. */
  kind: z.enum(CACHE_KINDS).optional(),
  /** Of a request, as `POST /configs/explain` says it. */
  digest: Digest.optional(),
  /** As it went to the provider. */
  model: z.string().min(1).max(1024).optional(),
  /** `x-gateway-cache-namespace`. */
  namespace: z.string().min(1).max(1024).optional(),
  /** Id or slug. */
  workspace_id: Handle.optional(),
}

export const CacheQuery = z.strictObject({...filter, ...pageParams()})
export const CacheClear = z.strictObject(filter)

/** An entry of the cache; its answer is not shown. */
export const CacheEntryView = z.strictObject({
  kind: z.enum(CACHE_KINDS),
  digest: z.string(),
  workspace_id: z.string(),
  model: z.string().nullable(),
  namespace: z.string().nullable(),
  stored_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  bytes: z.int(),
  /** The row of the log of the call that brought the answer; null with `simple`. */
  log_id: z.string().nullable(),
  object: z.literal('cache_entry'),
})
export type CacheEntryView = z.output<typeof CacheEntryView>

/** How many entries went. */
export const CacheCleared = z.strictObject({
  object: z.literal('cache_cleared'),
  simple: z.int().nonnegative(),
  semantic: z.int().nonnegative(),
})
