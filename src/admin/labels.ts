import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {LabelCreate, LabelMade, LabelQuery, LabelsQuery, LabelUpdate, LabelView} from '../schema/labels.ts'
import {Empty} from '../schema/paging.ts'
import * as store from '../store/labels.ts'
import type {LabelsTable} from '../store/tables/prompts.ts'
import {type OperationCall, operation} from './operation.ts'
import {type CallerScope, found, invalid, namedWorkspace, requireOwn, visibilityOf, workspaceOf} from './tenancy.ts'

const tag = 'Labels'
const params = z.strictObject({labelId: z.uuid()})

/** Names for versions of prompts, which calls may say after an `@`. Three are everyone's and stay as they are. */
export const labels = [
  operation({
    id: 'labels.list',
    tag,
    method: 'GET',
    path: '/labels',
    summary: 'List labels',
    scopes: ['prompts.list'],
    query: LabelsQuery,
    reply: z.strictObject({total: z.int(), data: z.array(LabelView)}),
    handle: listed,
  }),
  operation({
    id: 'labels.create',
    tag,
    method: 'POST',
    path: '/labels',
    summary: 'Create a label',
    scopes: ['prompts.create'],
    audit: {resource: 'label', action: 'create'},
    body: LabelCreate,
    reply: LabelMade,
    handle: created,
  }),
  operation({
    id: 'labels.get',
    tag,
    method: 'GET',
    path: '/labels/:labelId',
    summary: 'Show a label',
    scopes: ['prompts.read'],
    params,
    query: LabelQuery,
    reply: LabelView,
    handle: shown,
  }),
  operation({
    id: 'labels.update',
    tag,
    method: 'PUT',
    path: '/labels/:labelId',
    summary: 'Change a label',
    scopes: ['prompts.update'],
    audit: {resource: 'label', action: 'update'},
    params,
    body: LabelUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'labels.delete',
    tag,
    method: 'DELETE',
    path: '/labels/:labelId',
    summary: 'Delete a label; versions that bear it lose it',
    scopes: ['prompts.delete'],
    audit: {resource: 'label', action: 'delete'},
    params,
    reply: Empty,
    handle: archived,
  }),
] as const

async function listed(call: OperationCall<undefined, typeof LabelsQuery>) {
  const {query, db, actor} = call
  requireOwn(call, query.organisation_id)
  const workspace = await namedWorkspace(call, query.workspace_id)
  const reach = {organisation_id: actor.organisation_id, workspace_id: workspace?.id}
  const {total, rows} = await store.listLabels(db, {...reach, search: query.search}, query)
  return {total, data: rows.map(row => view(row, actor.organisation_id))}
}

async function created(call: OperationCall<undefined, undefined, typeof LabelCreate>) {
  const {db, body, now} = call
  requireOwn(call, body.organisation_id)
  const {organisation_id, id: workspace_id} = await workspaceOf(call, body.workspace_id)
  await requireFree(call, {organisation_id, workspace_id}, body.name)
  const row: LabelsTable = {
    id: newId(),
    organisation_id,
    workspace_id,
    name: body.name,
    description: body.description ?? null,
    color_code: body.color_code ?? null,
    status: 'active',
    created_at: now,
    last_updated_at: now,
  }
  await store.insertLabel(db, row)
  call.auditTarget(row.id, workspace_id)
  return {id: row.id}
}

async function shown(call: OperationCall<typeof params, typeof LabelQuery>) {
  requireOwn(call, call.query.organisation_id)
  const workspace = await namedWorkspace(call, call.query.workspace_id)
  const {organisation_id} = call.actor
  const row = found(
    await store.findLabel(call.db, {organisation_id, workspace_id: workspace?.id}, call.params.labelId),
    'label',
  )
  return view(row, organisation_id)
}

async function updated(call: OperationCall<typeof params, undefined, typeof LabelUpdate>) {
  const {db, body, now} = call
  const row = await ownLabel(call)
  const {organisation_id, workspace_id} = row
  if (body.name !== undefined) await requireFree(call, {organisation_id, workspace_id}, body.name, row.id)
  await store.updateLabel(db, row.id, {
    ...(body.name !== undefined && {name: body.name}),
    ...(body.description !== undefined && {description: body.description}),
    ...(body.color_code !== undefined && {color_code: body.color_code}),
    last_updated_at: now,
  })
  call.auditTarget(row.id, workspace_id)
  return {}
}

async function archived(call: OperationCall<typeof params>) {
  const row = await ownLabel(call)
  await store.unassignLabel(call.db, row.id)
  await store.updateLabel(call.db, row.id, {status: 'archived', last_updated_at: call.now})
  call.auditTarget(row.id, row.workspace_id)
  return {}
}

/** A label that may be changed: those that everyone has may not. */
async function ownLabel(call: CallerScope & {readonly params: z.output<typeof params>}) {
  const row = found(await store.findLabel(call.db, visibilityOf(call), call.params.labelId), 'label')
  const {organisation_id, workspace_id} = row
  if (organisation_id === null || workspace_id === null)
    throw invalid('labelId', `is ${row.name}, which everyone has and nobody changes`)
  return {...row, organisation_id, workspace_id}
}

async function requireFree(
  {db}: CallerScope,
  reach: {organisation_id: string; workspace_id: string},
  name: string,
  except?: string,
) {
  if (await store.labelTaken(db, reach, name, except))
    throw new Refusal('row.exists', {object: 'label', field: 'name', value: name})
}

function view(row: LabelsTable, organisation_id: string): z.input<typeof LabelView> {
  const {id, name, description, color_code, workspace_id, status, created_at, last_updated_at} = row
  const is_universal = row.organisation_id === null
  return {
    id,
    name,
    description,
    color_code,
    organisation_id,
    workspace_id,
    is_universal,
    created_at,
    last_updated_at,
    status,
  }
}
