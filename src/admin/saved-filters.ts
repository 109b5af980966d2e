import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {authorOf} from '../identity/subject.ts'
import {Empty, list, listOf} from '../schema/paging.ts'
import {
  SavedFilterChange,
  SavedFilterCreate,
  SavedFilterMade,
  SavedFilterPath,
  SavedFilterQuery,
  SavedFilterView,
} from '../schema/saved-filters.ts'
import {
  deleteSavedFilter,
  findSavedFilter,
  insertSavedFilter,
  listSavedFilters,
  type SavedFilterRow,
  savedFilterNamed,
  updateSavedFilter,
} from '../store/saved-filters.ts'
import {logScope} from './logs.ts'
import {type OperationCall, operation} from './operation.ts'
import {found, workspaceOf} from './tenancy.ts'

const tag = 'Logs'
const audit = (action: 'create' | 'update' | 'delete') => ({resource: 'saved_filter', action})
const scopes = ['logs.list', 'analytics.view']

/** Filters of logs and analytics under a name, for all who read them in a workspace. */
export const savedFilters = [
  operation({
    id: 'saved_filters.create',
    tag,
    method: 'POST',
    path: '/saved-filters',
    summary: 'Save filters of the log under a name',
    scopes,
    audit: audit('create'),
    body: SavedFilterCreate,
    reply: SavedFilterMade,
    handle: created,
  }),
  operation({
    id: 'saved_filters.list',
    tag,
    method: 'GET',
    path: '/saved-filters',
    summary: 'List saved filters, newest first',
    scopes,
    query: SavedFilterQuery,
    reply: listOf(SavedFilterView),
    handle: listed,
  }),
  operation({
    id: 'saved_filters.get',
    tag,
    method: 'GET',
    path: '/saved-filters/:id',
    summary: 'Show a saved filter',
    scopes,
    params: SavedFilterPath,
    reply: SavedFilterView,
    handle: async call => viewOf(await filterOf(call as never)),
  }),
  operation({
    id: 'saved_filters.update',
    tag,
    method: 'PUT',
    path: '/saved-filters/:id',
    summary: 'Change a saved filter',
    scopes,
    audit: audit('update'),
    params: SavedFilterPath,
    body: SavedFilterChange,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'saved_filters.delete',
    tag,
    method: 'DELETE',
    path: '/saved-filters/:id',
    summary: 'Delete a saved filter',
    scopes,
    audit: audit('delete'),
    params: SavedFilterPath,
    reply: Empty,
    handle: deleted,
  }),
] as const

async function created(
  call: OperationCall<undefined, undefined, typeof SavedFilterCreate>,
): Promise<z.input<typeof SavedFilterMade>> {
  const {actor, body, db, now} = call
  const {id: workspace_id} = await workspaceOf(call, body.workspace_id)
  await refuseTaken(call, workspace_id, body.name)
  const id = newId()
  const times = {created_at: now, last_updated_at: now}
  const fields = {name: body.name, filters: JSON.stringify(body.filters), created_by: authorOf(actor.subject)}
  await insertSavedFilter(db, {id, organisation_id: actor.organisation_id, workspace_id, ...fields, ...times})
  call.auditTarget(id, workspace_id)
  return {id, object: 'saved-filter'}
}

async function listed(call: OperationCall<undefined, typeof SavedFilterQuery>) {
  return list(await listSavedFilters(call.db, await logScope(call, call.query), call.query), viewOf)
}

async function updated(call: OperationCall<typeof SavedFilterPath, undefined, typeof SavedFilterChange>) {
  const {body, db, now} = call
  const row = await filterOf(call)
  if (body.name !== undefined) await refuseTaken(call, row.workspace_id, body.name, row.id)
  const filters = body.filters && {filters: JSON.stringify(body.filters)}
  await updateSavedFilter(db, row.id, {
    ...(body.name !== undefined && {name: body.name}),
    ...filters,
    last_updated_at: now,
  })
  call.auditTarget(row.id, row.workspace_id)
  return {}
}

async function deleted(call: OperationCall<typeof SavedFilterPath>) {
  const row = await filterOf(call)
  await deleteSavedFilter(call.db, row.id)
  call.auditTarget(row.id, row.workspace_id)
  return {}
}

async function filterOf(
  call: Pick<OperationCall<typeof SavedFilterPath>, 'actor' | 'db' | 'params'>,
): Promise<SavedFilterRow> {
  return found(await findSavedFilter(call.db, await logScope(call, {}), call.params.id), 'saved filter')
}

async function refuseTaken({db}: Pick<OperationCall, 'db'>, workspace_id: string, name: string, own?: string) {
  const taken = await savedFilterNamed(db, workspace_id, name)
  if (taken !== undefined && taken !== own)
    throw new Refusal('row.exists', {object: 'saved filter', field: 'name', value: name})
}

function viewOf({organisation_id, filters, ...row}: SavedFilterRow): z.input<typeof SavedFilterView> {
  return {...row, filters: JSON.parse(filters) as Record<string, string>, object: 'saved-filter'}
}
