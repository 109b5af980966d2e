import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {markOf} from '../cache/marks.ts'
import {
  CACHE_KINDS,
  CacheClear,
  CacheCleared,
  CacheEntryView,
  type CacheKind,
  CacheQuery,
  type KeptEntry,
  type KeptFilter,
} from '../schema/cache.ts'
import {list, listOf, type Page, type Paged} from '../schema/paging.ts'
import {bumpRevisions} from '../store/revisions.ts'
import {workspaceIds} from '../store/workspaces.ts'
import {type OperationCall, operation} from './operation.ts'
import type {CachePort} from './services.ts'
import {type CallerScope, namedWorkspace} from './tenancy.ts'

const tag = 'Cache'

/** Kept answers: a list without their contents, and a clearing that every process sees. */
export const cache = [
  operation({
    id: 'cache.list',
    tag,
    method: 'GET',
    path: '/cache/entries',
    always_paged: true,
    summary: 'List entries of the cache, the newest first, those that other words find behind the others',
    scopes: ['configs.read'],
    query: CacheQuery,
    reply: listOf(CacheEntryView),
    handle: listed,
  }),
  operation({
    id: 'cache.clear',
    tag,
    method: 'POST',
    path: '/cache/clear',
    summary: 'Clear entries of the cache, all that the caller reaches where nothing narrows it',
    scopes: ['configs.update'],
    reaches_out: true,
    audit: {resource: 'cache', action: 'delete'},
    body: CacheClear,
    reply: CacheCleared,
    handle: clear,
  }),
] as const

type Row = KeptEntry & {readonly kind: CacheKind}

async function listed(call: OperationCall<undefined, typeof CacheQuery>) {
  const {query} = call
  const {filter} = await meantBy(call, query)
  const rows = await pageOf(portOf(call), kindsOf(query), filter, query)
  return list(rows, view)
}

async function clear(call: OperationCall<undefined, undefined, typeof CacheClear>) {
  const {body, app} = call
  const port = portOf(call)
  const {filter, workspace_id} = await meantBy(call, body)
  call.auditTarget(filter.digest ?? 'entries', workspace_id)
  const gone: Record<CacheKind, number> = {simple: 0, semantic: 0}
  const cleared = async (status: number) => {
    const note = {simple: String(gone.simple), semantic: String(gone.semantic)}
    await app.store.write(async db => {
      // the revision makes other processes drop their copies
      await bumpRevisions(db, ['answers'])
      await call.auditOutcome(db, {status, note})
    })
  }
  try {
    for (const kind of kindsOf(body)) gone[kind] = await port.clear(kind, filter)
  } catch (fault) {
    // a part of them may be gone
    await cleared(fault instanceof Refusal ? fault.status : 500)
    throw fault
  }
  await cleared(200)
  return {object: 'cache_cleared' as const, ...gone}
}

function portOf({app}: Pick<OperationCall, 'app'>): CachePort {
  if (!app.cache) throw new Refusal('internal')
  return app.cache
}

interface Narrowed {
  readonly kind?: CacheKind | undefined
  readonly digest?: string | undefined
  readonly model?: string | undefined
  readonly namespace?: string | undefined
  readonly workspace_id?: string | undefined
}

/** Entries of the workspace that is meant, which may be archived, else of all that the caller reaches. */
async function meantBy(
  call: CallerScope,
  {digest, model, namespace, workspace_id}: Narrowed,
): Promise<{readonly filter: KeptFilter; readonly workspace_id: string | null}> {
  const workspace = await namedWorkspace(call, workspace_id, {archived: true})
  const workspace_ids = workspace ? [workspace.id] : await workspaceIds(call.db, call.actor.organisation_id)
  const marks = {
    ...(model !== undefined && {model: markOf(model) ?? ''}),
    ...(namespace !== undefined && {namespace: markOf(namespace) ?? ''}),
  }
  return {
    filter: {workspace_ids, ...(digest !== undefined && {digest}), ...marks},
    workspace_id: workspace?.id ?? null,
  }
}

function kindsOf({kind}: Narrowed): readonly CacheKind[] {
  return kind === undefined ? CACHE_KINDS : [kind]
}

/** One page of the kinds, one behind the other. */
async function pageOf(
  port: CachePort,
  kinds: readonly CacheKind[],
  filter: KeptFilter,
  {current_page, page_size}: Page,
): Promise<Paged<Row>> {
  const rows: Row[] = []
  let total = 0
  for (const kind of kinds) {
    const from = Math.max(0, current_page * page_size - total)
    const few = await rowsFrom(port, kind, filter, from, page_size - rows.length)
    rows.push(...few.rows.map(row => ({...row, kind})))
    total += few.total
  }
  return {total, rows}
}

/** At most `most` rows from the place `from` on, which need not be where a page begins. */
async function rowsFrom(
  port: CachePort,
  kind: CacheKind,
  filter: KeptFilter,
  from: number,
  most: number,
): Promise<Paged<KeptEntry>> {
  const size = Math.max(1, most)
  const first = await port.list(kind, filter, {current_page: Math.floor(from / size), page_size: size})
  const skipped = from % size
  const next =
    skipped > 0 && most > 0
      ? await port.list(kind, filter, {current_page: Math.floor(from / size) + 1, page_size: size})
      : NO_ROWS
  return {total: first.total, rows: [...first.rows, ...next.rows].slice(skipped, skipped + most)}
}

const NO_ROWS = {rows: []}

function view({kind, stored_at_ms, expires_at_ms, ...row}: Row): z.input<typeof CacheEntryView> {
  return {
    kind,
    ...row,
    stored_at: new Date(stored_at_ms).toISOString(),
    expires_at: new Date(expires_at_ms).toISOString(),
    object: 'cache_entry',
  }
}
