import {plainScope} from '../../../src/identity/scopes.ts'
import {unchecked} from '../../client.ts'
import type {Resource, Spec} from '../document.ts'
import {CLEARED, LIMITS, MODELS, MOMENT, withoutDefaults} from '../fields.ts'
import {
  type ApplyTarget,
  changesOf,
  everyRow,
  NO_SECRETS,
  type OperationBody,
  type ResourceKind,
  specOf,
} from '../kind.ts'

const TYPES = ['organisation-service', 'workspace-service', 'workspace-user']

const fields: ResourceKind['fields'] = {
  type: {is_fixed: true},
  user: {is_fixed: true},
  description: CLEARED,
  scopes: {
    normal: value => (Array.isArray(value) ? [...new Set(value.map(each => plainScope(String(each))))].sort() : value),
  },
  ...LIMITS,
  models: MODELS,
  defaults: {
    none: null,
    normal: value => withoutDefaults(value, {allow_config_override: true}),
    sent: value => ({metadata: null, config_id: null, allow_config_override: null, ...(value as object)}),
  },
  alert_emails: CLEARED,
  expires_at: MOMENT,
}

/** API keys by their name, without their secret: a new one gets its own, which is shown this once. */
export const apiKey: ResourceKind = {
  name: 'api-key',
  folder: 'api-keys',
  lives_in: 'either',
  needs: ['workspace', 'config'],
  remark:
    'Its slug is its name. `type` is its kind; a user key also has `user`, an e-mail address. Its secret is in no file.',
  create: 'api_keys.create',
  fields,
  secrets: NO_SECRETS,
  async read(place) {
    const rows = await everyRow(place.gateway, 'api_keys.list')
    const {ids} = rows.some(({user_id}) => user_id !== null) ? await place.users() : {ids: new Map<string, string>()}
    return rows
      .filter(({status}) => status !== 'expired')
      .map(row => {
        const {config_id} = row.defaults
        const defaults = {...row.defaults, config_id: config_id && place.named(config_id)}
        const user = row.user_id && (ids.get(row.user_id) ?? row.user_id)
        const workspace = row.workspace_id && place.handleOf(row.workspace_id)
        place.knows(row.id, {kind: 'api-key', workspace, slug: row.name})
        return {kind: 'api-key', workspace, slug: row.name, id: row.id, spec: specOf(fields, {...row, defaults, user})}
      })
  },
  body: ({slug, spec: {type: _, user: __, ...rest}}) => ({name: slug, ...rest}),
  async make(place, resource) {
    const {type, ...body} = await bodyOf(resource, place)
    const at = String(type).lastIndexOf('-')
    const params = {type: String(type).slice(0, at), subtype: String(type).slice(at + 1)}
    const {id, key} = await place.gateway.call('api_keys.create', {params, body})
    place.knows(id, resource)
    return key
  },
  async change({gateway}, {spec}, {id}, changed) {
    await gateway.call('api_keys.update', {params: {id}, body: changesOf(apiKey, spec, changed)})
  },
  async remove({gateway}, {id}) {
    await gateway.call('api_keys.delete', {params: {id}})
  },
  async faults({spec, workspace, slug}, known) {
    const wrong = TYPES.includes(String(spec.type)) ? [] : [`type: must be one of ${TYPES.join(', ')}`]
    if ((spec.type === 'organisation-service') !== (workspace === null))
      wrong.push('type: does not fit: a key of a workspace is of type workspace-service or workspace-user')
    const config = (spec.defaults as {config_id?: string} | undefined)?.config_id
    if (config && !known({kind: 'config', workspace, slug: config}))
      wrong.push(`defaults.config_id: there is no config ${config.slice(0, 80)}`)
    if (slug.trim() !== slug) wrong.push('the slug is the name of a key and has no space at its ends')
    return wrong
  },
}

async function bodyOf({slug, workspace, spec}: Resource, place: ApplyTarget): Promise<OperationBody> {
  const {user, ...rest} = spec
  const user_id =
    user === undefined ? undefined : ((await place.users()).emails.get(String(user).toLowerCase()) ?? String(user))
  const home = workspace !== null && {workspace_id: place.slugOf(workspace)}
  const body: Spec = {name: slug, ...rest, ...home, ...(user_id && {user_id})}
  return unchecked(body)
}
