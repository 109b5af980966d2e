import {isObject} from '../../../src/base/json-object.ts'
import {AccessUpdate, ModelsUpdate} from '../../../src/schema/integrations.ts'
import {explain} from '../../../src/schema/validation-message.ts'
import {unchecked} from '../../client.ts'
import {inOrder, unknownWorkspaces} from '../access.ts'
import {type Resource, type Spec, same} from '../document.ts'
import {CLEARED, LIMITS, TAGS, TEXT, withoutDefaults} from '../fields.ts'
import {type ApplyTarget, changesOf, eachOf, everyRow, type ResourceKind, specOf} from '../kind.ts'
import {MAPPINGS, mappingsOf, unknownReferences} from '../mappings.ts'
import type {SecretPlaces} from '../secrets.ts'
import {credentialPlaces, providerKind, settingsFaults, settingsField} from './providers.ts'

interface Model {
  readonly slug: string
  readonly enabled: boolean
  readonly is_custom?: boolean
  readonly configurations?: {readonly custom_host?: string}
}
interface Access {
  readonly id: string
  readonly enabled: boolean
}
const base: ResourceKind['fields'] = {
  name: TEXT,
  ai_provider_id: providerKind,
  description: CLEARED,
  key: CLEARED,
  configurations: settingsField('ai_provider_id'),
  secret_mappings: MAPPINGS,
  tags: TAGS,
}
const modelFields: ResourceKind['fields'] = {
  allow_all_models: {none: true, normal: value => (value === true ? undefined : value)},
  models: {
    none: [],
    normal: (value, spec) => inOrder(value, 'slug', each => modelOf(each, spec.allow_all_models !== false)),
  },
}
const accessFields: ResourceKind['fields'] = {
  global_workspace_access: {none: {enabled: false}, normal: value => withoutDefaults(limited(value), {enabled: false})},
  workspaces: {none: [], normal: value => inOrder(value, 'id', limited)},
}
const fields: ResourceKind['fields'] = {...base, ...modelFields, ...accessFields}

const credential = credentialPlaces('ai_provider_id', 'configurations')
/** Its own, and the headers of models. */
const integrationSecrets: SecretPlaces = {
  below: [...credential.below, 'models'],
  isSecret: path => credential.isSecret(path) || (path[0] === 'models' && path[3] === 'custom_headers'),
  moves: (before, after) => credential.moves!(before, after) || !same(hostsOf(before), hostsOf(after)),
}

/** The hosts that models have of their own, by model. */
function hostsOf({models = []}: Spec): unknown {
  const hosts = (models as Model[]).map(({slug, configurations}) => [slug, configurations?.custom_host])
  return Object.fromEntries(hosts.filter(([, host]) => host !== undefined))
}

/** Integrations: where credentials live, which models they admit, and which workspaces may use them. */
export const integration: ResourceKind = {
  name: 'integration',
  folder: 'integrations',
  lives_in: 'either',
  is_slug_unique: true,
  needs: ['workspace', 'secret-reference'],
  remark:
    '`workspaces` and `global_workspace_access`: who may use it. `secret_mappings` name secret references by slug. Creating an integration creates no provider: each provider has its own file.',
  create: 'integrations.create',
  fields,
  secrets: integrationSecrets,
  async read(place) {
    const {gateway, handleOf, knows} = place
    return eachOf(await everyRow(gateway, 'integrations.list'), async ({id, slug, workspace_id}) => {
      knows(id, {kind: 'integration', workspace: workspace_id && handleOf(workspace_id), slug})
      const params = {slug: id}
      const shown = await gateway.call('integrations.get', {params})
      const {models} = await gateway.call('integrations.list_models', {params})
      const listed = (await gateway.call('integrations.list_workspaces', {params})).workspaces
      const global = shown.global_workspace_access_settings
      const usual = limited(workspace_id === null ? global : {enabled: true})
      const is_open = workspace_id !== null || (usual as {enabled?: boolean}).enabled === true
      const workspaces = listed
        .map(({id: of, enabled, usage_limits, rate_limits}) => ({
          id: handleOf(String(of)),
          enabled,
          usage_limits,
          rate_limits,
        }))
        .filter(({id: _, ...access}) => !(is_open && same(limited(access), usual)))
      const spec = specOf(fields, {
        ...shown,
        key: shown.masked_key,
        secret_mappings: mappingsOf(shown, place),
        global_workspace_access: global,
        models,
        workspaces,
      })
      return {kind: 'integration', workspace: workspace_id && handleOf(workspace_id), slug, id, spec}
    })
  },
  body: (resource, place) => baseBody(resource, place),
  async make(place, resource) {
    await place.gateway.call('integrations.create', {body: baseBody(resource, place)})
    await writeModels(place, resource, {}, Object.keys(resource.spec))
    await writeAccess(place, resource, Object.keys(resource.spec))
    return undefined
  },
  async change(place, resource, {id, spec: before}, changed) {
    const body = changesOf(
      integration,
      resource.spec,
      changed.filter(name => name in base),
    )
    if (Object.keys(body).length) await place.gateway.call('integrations.update', {params: {slug: id}, body})
    await writeModels(place, resource, before, changed)
    await writeAccess(place, resource, changed)
  },
  async remove({gateway}, {id}) {
    await gateway.call('integrations.delete', {params: {slug: id}})
  },
  async faults({spec}, known) {
    const {models = [], allow_all_models, workspaces = [], global_workspace_access} = spec
    const refused = [
      [ModelsUpdate, {models, allow_all_models}] as const,
      [AccessUpdate, {workspaces, global_workspace_access, override_existing_workspace_access: true}] as const,
    ].flatMap(([schema, value]) => {
      const {error} = schema.safeParse(value)
      return error ? [explain(error, schema, value, {root: 'spec'}).replace(/\.$/, '')] : []
    })
    if (refused.length) return refused
    const ids = (workspaces as Access[]).map(({id}) => id)
    const faults = [...settingsFaults(spec, 'ai_provider_id', 'configurations'), ...unknownReferences(spec, known)]
    return [...faults, ...unknownWorkspaces(ids, at => `workspaces[${at}].id`, known)]
  },
}

function baseBody({slug, workspace, spec}: Resource, {slugOf}: ApplyTarget) {
  const own = Object.fromEntries(
    Object.entries(spec).filter(([name]) => !(name in modelFields) && !(name in accessFields)),
  )
  return unchecked({
    slug,
    ...(workspace !== null && {workspace_id: slugOf(workspace)}),
    ...own,
    create_default_provider: false,
  })
}

async function writeModels({gateway}: ApplyTarget, {slug, spec}: Resource, before: Spec, changed: readonly string[]) {
  if (!changed.some(name => name in modelFields)) return
  const allow_all_models = spec.allow_all_models !== false
  const given = (spec.models ?? []) as Model[]
  const gone = ((before.models ?? []) as Model[]).filter(old => !given.some(each => each.slug === old.slug))
  const silent = gone.filter(each => !each.is_custom).map(each => ({slug: each.slug, enabled: allow_all_models}))
  const models = [...given, ...silent].map(each => ({
    is_custom: false,
    is_finetune: false,
    base_model_slug: null,
    pricing_config: null,
    configurations: null,
    ...each,
  }))
  const custom = gone.filter(each => each.is_custom).map(each => each.slug)
  await gateway.call('integrations.update_models', {params: {slug}, body: {models, allow_all_models}})
  for (let at = 0; at < custom.length; at += 100)
    await gateway.call('integrations.delete_models', {
      params: {slug},
      query: {slugs: custom.slice(at, at + 100).join(',')},
    })
}

/** Providers have files of their own: none is made by the way. */
async function writeAccess(
  {gateway, slugOf}: ApplyTarget,
  {slug, spec, workspace}: Resource,
  changed: readonly string[],
) {
  if (!changed.some(name => name in accessFields)) return
  const limits = {usage_limits: null, rate_limits: null}
  const workspaces = ((spec.workspaces ?? []) as Access[]).map(each => ({...limits, ...each, id: slugOf(each.id)}))
  const global = {enabled: false, ...limits, ...(spec.global_workspace_access as object)}
  await gateway.call('integrations.update_workspaces', {
    params: {slug},
    body: {
      workspaces,
      ...(workspace === null && {global_workspace_access: global}),
      override_existing_workspace_access: true,
      create_default_provider: false,
    },
  })
}

/** A model without what goes without saying; nothing of one that says what is so anyhow. */
function modelOf(value: unknown, allow_all: boolean): unknown {
  if (!isObject(value)) return value
  const {name: _, ...rest} = value
  const spec = withoutDefaults(rest, {is_custom: false, is_finetune: false}) as Spec
  return Object.keys(spec).length === 2 && spec.enabled === allow_all && 'slug' in spec ? undefined : spec
}

function limited(value: unknown): unknown {
  if (!isObject(value)) return value
  const limits = Object.entries(LIMITS).flatMap(([name, field]) =>
    value[name] ? [[name, field.normal(value[name])]] : [],
  )
  return withoutDefaults({...value, usage_limits: null, rate_limits: null, ...Object.fromEntries(limits)})
}
