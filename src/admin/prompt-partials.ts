import {z} from 'zod'
import {Handle} from '../schema/names.ts'
import {Empty} from '../schema/paging.ts'
import {
  MakeDefault,
  PartialChanged,
  PartialCreate,
  PartialMade,
  PartialRow,
  PartialsQuery,
  PartialUpdate,
  PartialVersionView,
  PartialView,
} from '../schema/prompts.ts'
import {defaultCollection, findCollection} from '../store/collections.ts'
import * as store from '../store/prompts.ts'
import type {PromptPartialsTable} from '../store/tables/prompts.ts'
import {insertTemplate, listTemplates} from '../store/templates.ts'
import {type OperationCall, operation} from './operation.ts'
import {changeTemplate, checkPartial, newTemplate, newVersion, reachTemplate} from './prompt-templates.ts'
import {type CallerScope, found, invalid, visibilityOf, workspaceOf} from './tenancy.ts'

const tag = 'PromptPartials'
const params = z.strictObject({promptPartialId: Handle})

/** Texts that prompts include. The published version is used in every prompt that does not name another. */
export const promptPartials = [
  operation({
    id: 'prompt_partials.list',
    tag,
    method: 'GET',
    path: '/prompts/partials',
    summary: 'List prompt partials',
    scopes: ['prompts.list'],
    query: PartialsQuery,
    reply: z.array(PartialRow),
    handle: listed,
  }),
  operation({
    id: 'prompt_partials.create',
    tag,
    method: 'POST',
    path: '/prompts/partials',
    summary: 'Save a prompt partial; its first version is published',
    scopes: ['prompts.create'],
    audit: {resource: 'prompt_partial', action: 'create'},
    body: PartialCreate,
    reply: PartialMade,
    handle: created,
  }),
  operation({
    id: 'prompt_partials.get',
    tag,
    method: 'GET',
    path: '/prompts/partials/:promptPartialId',
    summary: 'Show a prompt partial in its published version',
    scopes: ['prompts.read'],
    params,
    reply: PartialView,
    handle: shown,
  }),
  operation({
    id: 'prompt_partials.update',
    tag,
    method: 'PUT',
    path: '/prompts/partials/:promptPartialId',
    summary: 'Rename a prompt partial, or save a new version, which is not published',
    scopes: ['prompts.update'],
    audit: {resource: 'prompt_partial', action: 'update'},
    params,
    body: PartialUpdate,
    reply: PartialChanged,
    handle: updated,
  }),
  operation({
    id: 'prompt_partials.delete',
    tag,
    method: 'DELETE',
    path: '/prompts/partials/:promptPartialId',
    summary: 'Archive a prompt partial; prompts that include it fail',
    scopes: ['prompts.delete'],
    audit: {resource: 'prompt_partial', action: 'delete'},
    params,
    reply: Empty,
    handle: archived,
  }),
  operation({
    id: 'prompt_partials.list_versions',
    tag,
    method: 'GET',
    path: '/prompts/partials/:promptPartialId/versions',
    summary: 'List the versions of a prompt partial, the newest first',
    scopes: ['prompts.read'],
    params,
    reply: z.array(PartialVersionView),
    handle: versionsListed,
  }),
  operation({
    id: 'prompt_partials.publish',
    tag,
    method: 'PUT',
    path: '/prompts/partials/:promptPartialId/makeDefault',
    summary: 'Publish a version of a prompt partial',
    scopes: ['prompts.publish'],
    audit: {resource: 'prompt_partial', action: 'update'},
    params,
    body: MakeDefault,
    reply: Empty,
    handle: published,
  }),
] as const

async function listed(call: OperationCall<undefined, typeof PartialsQuery>) {
  const {db, query} = call
  const reach = visibilityOf(call)
  const collection =
    query.collection_id === undefined
      ? undefined
      : found(await findCollection(db, reach, query.collection_id), 'collection')
  const {rows} = await listTemplates(db, 'prompt_partials', {...reach, collection_id: collection?.id})
  return rows.map(row => ({...view(row), object: 'partial' as const}))
}

async function created(call: OperationCall<undefined, undefined, typeof PartialCreate>) {
  const {db, body} = call
  const workspace = await workspaceOf(call, body.workspace_id)
  checkPartial(body.string)
  const row = await newTemplate(call, 'prompt_partials', {
    name: body.name,
    slug: body.slug,
    collection: await defaultCollection(db, workspace.id),
  })
  const version = {...newVersion(call, 1, body.version_description), partial_id: row.id, string: body.string}
  await insertTemplate(db, 'prompt_partials', row)
  await store.insertPartialVersion(db, version)
  call.auditTarget(row.id, row.workspace_id)
  return {id: row.id, slug: row.slug, version_id: version.id}
}

async function shown(call: OperationCall<typeof params>) {
  const row = await reachPartial(call, call.params.promptPartialId)
  const {string, version, description, id} = await versionOf(call, row, row.default_version)
  return {...view(row), string, version, version_description: description, prompt_partial_version_id: id}
}

async function updated(call: OperationCall<typeof params, undefined, typeof PartialUpdate>) {
  const {db, body} = call
  const row = await reachPartial(call, call.params.promptPartialId)
  const latest = await versionOf(call, row, row.latest_version)
  const own = {
    ...(body.name !== undefined && {name: body.name}),
    ...(body.status !== undefined && {status: body.status}),
  }
  if (body.string === undefined) {
    if (body.description !== undefined) throw invalid('description', 'is of a new version: send string with it')
    await changeTemplate(call, 'prompt_partials', row, own)
    return {prompt_partial_version_id: latest.id}
  }
  checkPartial(body.string)
  const number = row.latest_version + 1
  const version = {...newVersion(call, number, body.description), partial_id: row.id, string: body.string}
  await store.insertPartialVersion(db, version)
  await changeTemplate(call, 'prompt_partials', row, {...own, latest_version: number})
  return {prompt_partial_version_id: version.id}
}

async function archived(call: OperationCall<typeof params>) {
  const row = await reachPartial(call, call.params.promptPartialId)
  await changeTemplate(call, 'prompt_partials', row, {status: 'archived'})
  return {}
}

async function versionsListed(call: OperationCall<typeof params>) {
  const row = await reachPartial(call, call.params.promptPartialId)
  return (await store.partialVersions(call.db, row.id)).map(
    ({id, partial_id, version, string, description, created_at, status}) => ({
      ...{
        prompt_partial_id: partial_id,
        prompt_partial_version_id: id,
        slug: row.slug,
        version: String(version),
        string,
        description,
      },
      ...{created_at, prompt_version_status: status, object: 'partial' as const},
    }),
  )
}

async function published(call: OperationCall<typeof params, undefined, typeof MakeDefault>) {
  const row = await reachPartial(call, call.params.promptPartialId)
  const {version} = await versionOf(call, row, call.body.version)
  await changeTemplate(call, 'prompt_partials', row, {default_version: version})
  return {}
}

function reachPartial(call: CallerScope, named: string): Promise<PromptPartialsTable> {
  return reachTemplate(call, 'prompt_partials', named)
}

async function versionOf({db}: CallerScope, {id}: PromptPartialsTable, version: number) {
  return found(await store.findPartialVersion(db, id, version), 'version of the prompt partial')
}

function view({id, slug, name, collection_id, status, created_at, last_updated_at}: PromptPartialsTable) {
  return {id, slug, name, collection_id, created_at, last_updated_at, status}
}
