import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {
  CollectionCreate,
  CollectionDetails,
  CollectionMade,
  CollectionsQuery,
  CollectionUpdate,
  CollectionView,
} from '../schema/collections.ts'
import {Handle} from '../schema/names.ts'
import {Empty} from '../schema/paging.ts'
import * as store from '../store/collections.ts'
import {giveUpSlug} from '../store/rows.ts'
import type {CollectionsTable} from '../store/tables/prompts.ts'
import {type OperationCall, operation} from './operation.ts'
import {freeSlug, givenSlug} from './slugs.ts'
import {type CallerScope, found, visibilityOf, workspaceOf} from './tenancy.ts'

const tag = 'Collections'
const params = z.strictObject({collectionId: Handle})

/** The folders of prompts and partials. */
export const collections = [
  operation({
    id: 'collections.list',
    tag,
    method: 'GET',
    path: '/collections',
    summary: 'List the collections of a workspace',
    scopes: ['prompts.list'],
    query: CollectionsQuery,
    reply: z.strictObject({total: z.int(), data: z.array(CollectionView)}),
    handle: listed,
  }),
  operation({
    id: 'collections.create',
    tag,
    method: 'POST',
    path: '/collections',
    summary: 'Create a collection, within another where one is named',
    scopes: ['prompts.create'],
    audit: {resource: 'collection', action: 'create'},
    body: CollectionCreate,
    reply: CollectionMade,
    handle: created,
  }),
  operation({
    id: 'collections.get',
    tag,
    method: 'GET',
    path: '/collections/:collectionId',
    summary: 'Show a collection and those within it',
    scopes: ['prompts.read'],
    params,
    reply: CollectionDetails,
    handle: shown,
  }),
  operation({
    id: 'collections.update',
    tag,
    method: 'PUT',
    path: '/collections/:collectionId',
    summary: 'Rename a collection',
    scopes: ['prompts.update'],
    audit: {resource: 'collection', action: 'update'},
    params,
    body: CollectionUpdate,
    reply: Empty,
    handle: renamed,
  }),
  operation({
    id: 'collections.delete',
    refuses: [409],
    tag,
    method: 'DELETE',
    path: '/collections/:collectionId',
    summary: 'Archive an empty collection; the default one cannot be',
    scopes: ['prompts.delete'],
    audit: {resource: 'collection', action: 'delete'},
    params,
    reply: Empty,
    handle: archived,
  }),
] as const

async function listed(call: OperationCall<undefined, typeof CollectionsQuery>) {
  const {db, query} = call
  const workspace = await workspaceOf(call, query.workspace_id)
  const {total, rows} = await store.listCollections(db, {workspace_id: workspace.id, search: query.search}, query)
  const contents = await store.collectionContents(
    db,
    rows.map(({id}) => id),
  )
  return {total, data: rows.map(row => ({...view(row), collection_details: contents.get(row.id)!}))}
}

async function created(call: OperationCall<undefined, undefined, typeof CollectionCreate>) {
  const {db, body, now} = call
  const parent = body.parent_collection_id === undefined ? undefined : await parentOf(call, body.parent_collection_id)
  const workspace = await workspaceOf(call, body.workspace_id ?? parent?.workspace_id)
  if (parent && parent.workspace_id !== workspace.id) throw noParent(body.parent_collection_id!, 'parent_collection_id')
  const slugs = {
    taken: (slug: string) => store.collectionSlugTaken(db, slug),
    giveUp: (slug: string) => giveUpSlug(db, 'collections', workspace.organisation_id, slug),
  }
  const row: CollectionsTable = {
    id: newId(),
    slug: body.slug ? await givenSlug(body.slug, 'collection', slugs) : await freeSlug('', body.name, 10, slugs.taken),
    organisation_id: workspace.organisation_id,
    workspace_id: workspace.id,
    parent_collection_id: parent?.id ?? null,
    name: body.name,
    is_default: 0,
    status: 'active',
    created_at: now,
    last_updated_at: now,
  }
  await store.insertCollection(db, row)
  call.auditTarget(row.id, workspace.id)
  return {id: row.id, slug: row.slug}
}

async function shown(call: OperationCall<typeof params>) {
  const {db} = call
  const row = await reachCollection(call, call.params.collectionId)
  const children = await store.childCollections(db, row.id)
  const contents = await store.collectionContents(
    db,
    children.map(({id}) => id),
  )
  const child_collections = children.map(({id, name, last_updated_at}) => ({
    ...{id, name, last_updated_at},
    collection_details: contents.get(id)!,
  }))
  return {...view(row), child_collections}
}

async function renamed(call: OperationCall<typeof params, undefined, typeof CollectionUpdate>) {
  const row = await reachCollection(call, call.params.collectionId)
  await store.updateCollection(call.db, row.id, {name: call.body.name, last_updated_at: call.now})
  call.auditTarget(row.id, row.workspace_id)
  return {}
}

async function archived(call: OperationCall<typeof params>) {
  const row = await reachCollection(call, call.params.collectionId)
  if (row.is_default) throw new Refusal('row.not_found', {object: 'collection that may be deleted'})
  const dependants = await store.collectionDependants(call.db, row.id)
  if (dependants.length) {
    const cure = 'Move or delete them first.'
    throw new Refusal('row.in_use', {object: 'collection', dependants: dependants.join(', '), cure})
  }
  await store.updateCollection(call.db, row.id, {status: 'archived', last_updated_at: call.now})
  call.auditTarget(row.id, row.workspace_id)
  return {}
}

async function reachCollection(call: CallerScope, named: string): Promise<CollectionsTable> {
  return found(await store.findCollection(call.db, visibilityOf(call), named), 'collection')
}

/** The collection that a body names. */
export async function parentOf(
  call: CallerScope,
  named: string,
  field = 'parent_collection_id',
): Promise<CollectionsTable> {
  const row = await store.findCollection(call.db, visibilityOf(call), named)
  if (!row) throw noParent(named, field)
  return row
}

export function noParent(value: string, field: string): Refusal {
  return new Refusal('parent.not_found', {field, object: 'collection', value})
}

function view(row: CollectionsTable) {
  const {id, name, workspace_id, slug, parent_collection_id, is_default, status, created_at, last_updated_at} = row
  return {
    id,
    name,
    workspace_id,
    slug,
    parent_collection_id,
    is_default: is_default === 1,
    status,
    created_at,
    last_updated_at,
  }
}
