import {z} from 'zod'
import {PricingConfigFault, readPricingConfig} from '../../pricing/config.ts'
import {ModelsList, ModelsRemoval, ModelsUpdate} from '../../schema/integrations.ts'
import {Handle} from '../../schema/names.ts'
import {Empty} from '../../schema/paging.ts'
import * as store from '../../store/integrations.ts'
import type {IntegrationModelsTable, IntegrationsTable} from '../../store/tables/catalog.ts'
import {type OperationCall, operation} from '../operation.ts'
import {invalid} from '../tenancy.ts'
import {integrationScopes, reachIntegration} from './reach.ts'
import {placeColumns} from './row-places.ts'

const tag = 'Integrations > Models'
const path = '/integrations/:slug/models'
const params = z.strictObject({slug: Handle})

/** Which models an integration lets through, those that are the customer's own, and what they cost. */
export const integrationModels = [
  operation({
    id: 'integrations.list_models',
    tag,
    method: 'GET',
    path,
    summary: 'List what an integration says of models',
    scopes: integrationScopes('read'),
    params,
    reply: ModelsList,
    handle: listed,
  }),
  operation({
    id: 'integrations.update_models',
    tag,
    method: 'PUT',
    path,
    summary: 'Enable, disable, add or price models',
    scopes: integrationScopes('update'),
    audit: {resource: 'integration', action: 'update'},
    params,
    body: ModelsUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'integrations.delete_models',
    tag,
    method: 'DELETE',
    path,
    summary: 'Remove custom models',
    scopes: integrationScopes('update'),
    audit: {resource: 'integration', action: 'update'},
    params,
    query: ModelsRemoval,
    reply: Empty,
    handle: removed,
  }),
] as const

async function listed(call: OperationCall<typeof params>) {
  const integration = await reachIntegration(call, call.params.slug, 'read')
  const models = (await store.integrationModels(call.db, integration.id)).map(view)
  return {total: models.length, models}
}

async function updated(call: OperationCall<typeof params, undefined, typeof ModelsUpdate>) {
  const {db, body, now} = call
  const integration = await reachIntegration(call, call.params.slug, 'update')
  const {id, workspace_id, ai_provider_id} = integration
  for (const [at, model] of body.models.entries()) checkPrice(ai_provider_id, model, `models[${at}].pricing_config`)
  const before = new Map((await store.integrationModels(db, id)).map(row => [row.slug, row]))
  for (const model of body.models) {
    const row = before.get(model.slug)
    await store.putIntegrationModel(db, {...modelRow(id, model, row, now), ...placeOf(call, integration, model, row)})
  }
  const all = body.allow_all_models
  await store.updateIntegration(db, id, {
    ...(all !== undefined && {allow_all_models: all ? 1 : 0}),
    last_updated_at: now,
  })
  call.auditTarget(id, workspace_id)
  return {}
}

async function removed(call: OperationCall<typeof params, typeof ModelsRemoval>) {
  const {id, workspace_id} = await reachIntegration(call, call.params.slug, 'update')
  await store.removeCustomModels(call.db, id, call.query.slugs)
  call.auditTarget(id, workspace_id)
  return {}
}

type Given = z.output<typeof ModelsUpdate>['models'][number]

/** Refuses a price that could not be laid on a call later. */
function checkPrice(provider: string, {slug, pricing_config}: Given, field: string) {
  if (!pricing_config) return
  try {
    readPricingConfig(pricing_config, {provider, model: slug, source: 'custom'})
  } catch (error) {
    if (!(error instanceof PricingConfigFault)) throw error
    throw invalid(error.path ? `${field}.${error.path}` : field, error.reason)
  }
}

/** A model's row as it will be; what is not given stays. */
function modelRow(
  integration_id: string,
  given: Given,
  before: IntegrationModelsTable | undefined,
  now: string,
): Omit<IntegrationModelsTable, keyof PlaceOfModel> {
  const flag = (value: boolean | null | undefined, kept: number | undefined) =>
    value === undefined ? (kept ?? 0) : value ? 1 : 0
  const {base_model_slug, pricing_config} = given
  return {
    integration_id,
    slug: given.slug,
    enabled: given.enabled ? 1 : 0,
    is_custom: flag(given.is_custom, before?.is_custom),
    is_finetune: flag(given.is_finetune, before?.is_finetune),
    base_model_slug: base_model_slug === undefined ? (before?.base_model_slug ?? null) : base_model_slug,
    pricing_config:
      pricing_config === undefined
        ? (before?.pricing_config ?? null)
        : pricing_config && JSON.stringify(pricing_config),
    created_at: before?.created_at ?? now,
    last_updated_at: now,
  }
}

type PlaceOfModel = Pick<IntegrationModelsTable, 'configurations' | 'configurations_sealed' | 'names_place'>

/** The place of a model: members that are not given stay. */
function placeOf(
  {actor, app}: Pick<OperationCall, 'actor' | 'app'>,
  integration: IntegrationsTable,
  {slug, configurations: given}: Given,
  before: IntegrationModelsTable | undefined,
): PlaceOfModel {
  if (given === undefined && before) {
    const {configurations, configurations_sealed, names_place} = before
    return {configurations, configurations_sealed, names_place}
  }
  const {shown, sealed, names_place} = placeColumns(app, given ?? {}, {
    of: {table: 'integration_models', row: `${integration.id}/${slug}`, organisation_id: integration.organisation_id},
    field: `models[${slug}].configurations`,
    integration,
    actor,
    before: before ? {sealed: before.configurations_sealed, names_place: before.names_place} : null,
  })
  return {configurations: shown, configurations_sealed: sealed, names_place}
}

function view({
  slug,
  enabled,
  is_custom,
  is_finetune,
  base_model_slug,
  pricing_config,
  configurations,
}: IntegrationModelsTable) {
  return {
    slug,
    name: slug,
    enabled: enabled === 1,
    is_custom: is_custom === 1,
    is_finetune: is_finetune === 1,
    base_model_slug,
    pricing_config: pricing_config === null ? null : (JSON.parse(pricing_config) as Record<string, unknown>),
    ...(configurations === null ? {} : {configurations: JSON.parse(configurations) as Record<string, unknown>}),
  }
}
