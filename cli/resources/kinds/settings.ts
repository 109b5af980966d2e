import {isObject} from '../../../src/base/json-object.ts'
import {OrganisationUpdate} from '../../../src/schema/organisations.ts'
import {SECURITY, SECURITY_CATEGORIES} from '../../../src/schema/security.ts'
import {explain} from '../../../src/schema/validation-message.ts'
import {unchecked} from '../../client.ts'
import {textsInOrder} from '../access.ts'
import type {Spec} from '../document.ts'
import {withoutDefaults} from '../fields.ts'
import {type ApplyTarget, eachOf, NO_SECRETS, type ResourceKind, specOf} from '../kind.ts'

/** The slug of settings: a place has them once. */
const SLUG = 'settings'

type Categories = Readonly<Record<string, unknown>>

/** Settings by category, each category put through `change`, without those that say nothing. */
function byCategory(
  value: unknown,
  change: (settings: unknown, category: string) => unknown = settings => settings,
): unknown {
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([category, settings]) => [category, change(settings, category)] as const)
  return Object.fromEntries(entries.filter(([, settings]) => !isObject(settings) || Object.keys(settings).length > 0))
}

const usual = (category: string): Categories => (SECURITY as Readonly<Record<string, Categories>>)[category] ?? {}

const organisationFields: ResourceKind['fields'] = {
  security: {normal: value => byCategory(value, (settings, category) => withoutDefaults(settings, usual(category)))},
  workspace_overrides: {normal: textsInOrder},
  api_keys: {normal: value => withoutDefaults(value)},
}

/** Security settings of the organisation, and its rules for API keys. */
export const organisationSettings: ResourceKind = {
  name: 'organisation-settings',
  folder: 'organisation',
  lives_in: 'organisation',
  needs: [],
  remark:
    'Rights of members (`security`), categories that workspaces may set (`workspace_overrides`), and rules for API keys (`api_keys`). Default values are left out. Its slug is `settings`.',
  create: 'organisation.update',
  fields: organisationFields,
  secrets: NO_SECRETS,
  async read({gateway}) {
    const {settings} = await gateway.call('organisation.get')
    return found('organisation-settings', null, specOf(organisationFields, settings))
  },
  body: () => ({}),
  make: (place, {spec}) => writeOrganisation(place, spec),
  change: async (place, {spec}) => void (await writeOrganisation(place, spec)),
  remove: async place => void (await writeOrganisation(place, {})),
  async faults({slug, spec}) {
    const schema = OrganisationUpdate.shape.settings.unwrap()
    const {error} = schema.safeParse(spec)
    return [...slugFaults(slug), ...(error ? [explain(error, schema, spec, {root: 'spec'}).replace(/\.$/, '')] : [])]
  },
}

const workspaceFields: ResourceKind['fields'] = {security: {normal: value => byCategory(value)}}

/** Security settings of a workspace, which count where the organisation lets them. */
export const workspaceSettings: ResourceKind = {
  name: 'workspace-settings',
  folder: 'workspace-settings',
  lives_in: 'workspace',
  needs: ['workspace'],
  remark: 'Rights of members of one workspace. Its slug is `settings`.',
  create: 'workspace_settings.update',
  fields: workspaceFields,
  secrets: NO_SECRETS,
  async read({gateway, workspaces, slugOf}) {
    const all = await eachOf(workspaces, async workspace => {
      const shown = await gateway.call('workspace_settings.get', {params: {workspaceId: slugOf(workspace)}})
      return found('workspace-settings', workspace, specOf(workspaceFields, shown))
    })
    return all.flat()
  },
  body: ({spec}) => ({security: spec.security ?? null}),
  make: (place, {workspace, spec}) => writeWorkspace(place, workspace!, spec),
  change: async (place, {workspace, spec}) => void (await writeWorkspace(place, workspace!, spec)),
  remove: async (place, {workspace}) => void (await writeWorkspace(place, workspace!, {})),
  faults: async ({slug}) => slugFaults(slug),
}

function found(kind: string, workspace: string | null, spec: Spec) {
  return Object.keys(spec).length ? [{kind, workspace, slug: SLUG, id: SLUG, spec}] : []
}

function slugFaults(slug: string): string[] {
  return slug === SLUG ? [] : [`the slug must be ${SLUG}`]
}

const KEY_RULES = {default_expiry_days: null, max_expiry_days: null, max_user_keys_per_workspace: null}

async function writeOrganisation(
  {gateway}: ApplyTarget,
  {security, workspace_overrides = [], api_keys = {}}: Spec,
): Promise<undefined> {
  const settings = {security: whole(security), workspace_overrides, api_keys: {...KEY_RULES, ...(api_keys as object)}}
  await gateway.call('organisation.update', {body: {settings: unchecked(settings)}})
  return undefined
}

async function writeWorkspace({gateway, slugOf}: ApplyTarget, workspace: string, {security}: Spec): Promise<undefined> {
  await gateway.call('workspace_settings.update', {
    params: {workspaceId: slugOf(workspace)},
    body: {security: unchecked(whole(security))},
  })
  return undefined
}

/** Settings as they are sent: what is absent goes back to its default. */
function whole(security: unknown = {}): Spec {
  const categories = security as Readonly<Record<string, Categories>>
  const entries = SECURITY_CATEGORIES.map(category => {
    const nothing = Object.fromEntries(Object.keys(usual(category)).map(name => [name, null]))
    return [category, {...nothing, ...categories[category]}]
  })
  return Object.fromEntries(entries)
}
