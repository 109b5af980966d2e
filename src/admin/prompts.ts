import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {meantBy} from '../prompts/selector.ts'
import {Handle} from '../schema/names.ts'
import {Empty} from '../schema/paging.ts'
import {
  MakeDefault,
  PromptChanged,
  PromptCreate,
  PromptMade,
  PromptQuery,
  PromptRow,
  PromptsQuery,
  type PromptTemplate,
  PromptUpdate,
  PromptView,
} from '../schema/prompts.ts'
import {findCollection} from '../store/collections.ts'
import {findConfig} from '../store/configs.ts'
import * as store from '../store/prompts.ts'
import {findProviderForCall} from '../store/providers.ts'
import type {PromptsTable, PromptVersionsTable} from '../store/tables/prompts.ts'
import {insertTemplate, listTemplates} from '../store/templates.ts'
import {noParent, parentOf} from './collections.ts'
import {type OperationCall, operation} from './operation.ts'
import {changeTemplate, checkPrompt, newTemplate, newVersion, reachTemplate} from './prompt-templates.ts'
import {type CallerScope, found, invalid, namedWorkspace} from './tenancy.ts'

const tag = 'Prompts'
const params = z.strictObject({promptId: Handle})

/** Saved prompts. Each change of what one says is a version; the one that is published runs where a call names none. */
export const prompts = [
  operation({
    id: 'prompts.list',
    tag,
    method: 'GET',
    path: '/prompts',
    summary: 'List prompts',
    scopes: ['prompts.list'],
    query: PromptsQuery,
    reply: z.strictObject({data: z.array(PromptRow), total: z.int()}),
    handle: listed,
  }),
  operation({
    id: 'prompts.create',
    tag,
    method: 'POST',
    path: '/prompts',
    summary: 'Save a prompt; its first version is published',
    scopes: ['prompts.create'],
    audit: {resource: 'prompt', action: 'create'},
    body: PromptCreate,
    reply: PromptMade,
    handle: created,
  }),
  operation({
    id: 'prompts.get',
    tag,
    method: 'GET',
    path: '/prompts/:promptId',
    summary: 'Show a prompt in its published version, or another',
    scopes: ['prompts.read'],
    params,
    query: PromptQuery,
    reply: PromptView,
    handle: shown,
  }),
  operation({
    id: 'prompts.update',
    tag,
    method: 'PUT',
    path: '/prompts/:promptId',
    summary: 'Rename or move a prompt, or save a new version, which is not published',
    scopes: ['prompts.update'],
    audit: {resource: 'prompt', action: 'update'},
    params,
    body: PromptUpdate,
    reply: PromptChanged,
    handle: updated,
  }),
  operation({
    id: 'prompts.delete',
    tag,
    method: 'DELETE',
    path: '/prompts/:promptId',
    summary: 'Archive a prompt',
    scopes: ['prompts.delete'],
    audit: {resource: 'prompt', action: 'delete'},
    params,
    reply: Empty,
    handle: archived,
  }),
  operation({
    id: 'prompts.publish',
    tag,
    method: 'PUT',
    path: '/prompts/:promptId/makeDefault',
    summary: 'Publish a version: it runs where a call names none',
    scopes: ['prompts.publish'],
    audit: {resource: 'prompt', action: 'update'},
    params,
    body: MakeDefault,
    reply: Empty,
    handle: published,
  }),
] as const

async function listed(call: OperationCall<undefined, typeof PromptsQuery>) {
  const {db, query, actor} = call
  const workspace = await namedWorkspace(call, query.workspace_id)
  const reach = {organisation_id: actor.organisation_id, workspace_id: workspace?.id}
  const collection =
    query.collection_id === undefined
      ? undefined
      : found(await findCollection(db, reach, query.collection_id), 'collection')
  const {total, rows} = await listTemplates(
    db,
    'prompts',
    {...reach, collection_id: collection?.id, search: query.search},
    query,
  )
  const models = await store.publishedModels(db, rows)
  const data = rows.map(({id, slug, name, collection_id, status, created_at, last_updated_at}) => ({
    ...{id, slug, name, collection_id, model: models.get(id) ?? null, status, created_at, last_updated_at},
    object: 'prompt' as const,
  }))
  return {data, total}
}

async function created(call: OperationCall<undefined, undefined, typeof PromptCreate>) {
  const {db, body} = call
  const collection = await parentOf(call, body.collection_id, 'collection_id')
  const {string, parameters, virtual_key} = body
  const {model = null, functions = null, tools = null, tool_choice = null, template_metadata = null} = body
  const fields = {
    string,
    parameters,
    virtual_key,
    model,
    functions,
    tools,
    tool_choice,
    template_metadata,
    is_raw_template: body.is_raw_template === 1,
  }
  const template = await sayable(call, collection, fields)
  const row = await newTemplate(call, 'prompts', {name: body.name, slug: body.slug, collection})
  const version = {
    ...newVersion(call, 1, body.version_description),
    prompt_id: row.id,
    template: JSON.stringify(template),
  }
  await insertTemplate(db, 'prompts', row)
  await store.insertPromptVersion(db, version)
  call.auditTarget(row.id, row.workspace_id)
  return {id: row.id, slug: row.slug, version_id: version.id, object: 'prompt' as const}
}

async function shown(call: OperationCall<typeof params, typeof PromptQuery>) {
  const row = await reachPrompt(call, call.params.promptId)
  const version = found(
    await store.findPromptVersion(call.db, row, meantBy(call.query.version ?? 'default')),
    'version of the prompt',
  )
  return promptView(call, row, version)
}

async function updated(call: OperationCall<typeof params, undefined, typeof PromptUpdate>) {
  const {db, body} = call
  const row = await reachPrompt(call, call.params.promptId)
  const {patch, name, collection_id, ...fields} = body
  const collection = collection_id === undefined ? undefined : await parentOf(call, collection_id, 'collection_id')
  if (collection && collection.workspace_id !== row.workspace_id) throw noParent(collection_id!, 'collection_id')
  const own = {...(name !== undefined && {name}), ...(collection && {collection_id: collection.id})}
  if (Object.keys(fields).length === 0) {
    await changeTemplate(call, 'prompts', row, own)
    return {}
  }
  const latest = found(await store.findPromptVersion(db, row, 'latest'), 'version of the prompt')
  const before = JSON.parse(latest.template) as PromptTemplate
  if (!patch) requireWhole(fields)
  const template = await sayable(call, row, nextTemplate(patch ? before : bare(before), fields))
  const number = row.latest_version + 1
  const description =
    patch && fields.version_description === undefined ? latest.description : fields.version_description
  const version = {...newVersion(call, number, description), prompt_id: row.id, template: JSON.stringify(template)}
  await store.insertPromptVersion(db, version)
  await changeTemplate(call, 'prompts', row, {...own, latest_version: number})
  return {id: row.id, slug: row.slug, prompt_version_id: version.id}
}

async function archived(call: OperationCall<typeof params>) {
  const row = await reachPrompt(call, call.params.promptId)
  await changeTemplate(call, 'prompts', row, {status: 'archived'})
  return {}
}

async function published(call: OperationCall<typeof params, undefined, typeof MakeDefault>) {
  const row = await reachPrompt(call, call.params.promptId)
  const {version} = found(await store.findPromptVersion(call.db, row, call.body.version), 'version of the prompt')
  await changeTemplate(call, 'prompts', row, {default_version: version})
  return {}
}

export function reachPrompt(call: CallerScope, named: string): Promise<PromptsTable> {
  return reachTemplate(call, 'prompts', named)
}

export async function promptView(
  {db}: CallerScope,
  row: PromptsTable,
  version: PromptVersionsTable,
): Promise<z.input<typeof PromptView>> {
  const {string, parameters, virtual_key, model, functions, tools, tool_choice, template_metadata, is_raw_template} =
    JSON.parse(version.template) as z.infer<typeof PromptView>
  const labels = await store.promptLabels(db, row.id)
  return {
    ...{id: row.id, slug: row.slug, name: row.name, collection_id: row.collection_id, string, parameters},
    prompt_version: version.version,
    prompt_version_id: version.id,
    prompt_version_status: version.status,
    prompt_version_description: version.description,
    prompt_version_label_id: labels.find(label => label.version === version.version)?.label_id ?? null,
    ...{virtual_key, model, functions, tools, tool_choice, template_metadata, is_raw_template, status: row.status},
    ...{created_at: row.created_at, last_updated_at: row.last_updated_at},
  }
}

type VersionFields = Omit<z.output<typeof PromptUpdate>, 'patch' | 'name' | 'collection_id'>

/** The members that a version sets again when nothing is taken from the one before: all but the target of its calls. */
function bare({virtual_key}: PromptTemplate): PromptTemplate {
  const nothing = {functions: null, tools: null, tool_choice: null, template_metadata: null}
  return {string: '', parameters: {}, virtual_key, model: null, ...nothing, is_raw_template: false}
}

function nextTemplate(from: PromptTemplate, fields: VersionFields): PromptTemplate {
  const {version_description: _, is_raw_template, prompt_metadata, ...rest} = fields
  return {
    ...from,
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(prompt_metadata !== undefined && {template_metadata: prompt_metadata}),
    ...(is_raw_template !== undefined && {is_raw_template: is_raw_template === 1}),
  }
}

function requireWhole(fields: VersionFields) {
  for (const field of ['string', 'parameters', 'model'] as const) {
    if (fields[field] === undefined)
      throw invalid(field, 'is required for a new version; send "patch": true to take it from the newest one')
  }
}

/**
 * A template that can be rendered, whose provider or config is the workspace's: with a config by its slug, and a
 * provider whose slug looks like a config's with its at sign, so that calls need not look for both.
 */
async function sayable(
  {db}: CallerScope,
  {organisation_id, workspace_id}: {readonly organisation_id: string; readonly workspace_id: string},
  template: PromptTemplate,
): Promise<PromptTemplate> {
  checkPrompt(template)
  const {virtual_key} = template
  const slug = virtual_key.replace(/^@/, '')
  if (await findProviderForCall(db, workspace_id, slug))
    return slug.startsWith('pc-') ? {...template, virtual_key: `@${slug}`} : template
  const config = await findConfig(db, {organisation_id, workspace_id}, virtual_key)
  if (config) return {...template, virtual_key: config.slug}
  throw new Refusal('parent.not_found', {field: 'virtual_key', object: 'provider or config', value: virtual_key})
}
