import {isObject} from '../../../src/base/json-object.ts'
import {AUTH, AUTH_SECRETS, type Manager} from '../../../src/schema/secret-references.ts'
import {hasMask} from '../../../src/schema/secrets.ts'
import {explain} from '../../../src/schema/validation-message.ts'
import {ALLOWED, allowedBody, allowedIn, allowedOf, unknownWorkspaces} from '../access.ts'
import type {Spec} from '../document.ts'
import {CLEARED, TAGS, TEXT} from '../fields.ts'
import {bodyOf, changesOf, eachOf, everyRow, plainWrites, type ResourceKind, specOf} from '../kind.ts'

const MASKED = 'masked_'

const fields: ResourceKind['fields'] = {
  name: TEXT,
  manager_type: {is_fixed: true},
  description: CLEARED,
  auth_config: TEXT,
  secret_path: TEXT,
  secret_key: CLEARED,
  allowed_workspaces: ALLOWED,
  tags: TAGS,
}

/** Secret references: the place of a secret in a manager outside, and the login there. */
export const secretReference: ResourceKind = {
  name: 'secret-reference',
  folder: 'secret-references',
  lives_in: 'organisation',
  needs: ['workspace'],
  remark: '`allowed_workspaces`: without it, all workspaces. Its credentials are written as references.',
  create: 'secret_references.create',
  fields,
  secrets: {below: ['auth_config'], isSecret: path => AUTH_SECRETS.includes(String(path[1]))},
  async read(place) {
    const {gateway, knows} = place
    return eachOf(await everyRow(gateway, 'secret_references.list'), async ({id, slug}) => {
      knows(id, {kind: 'secret-reference', workspace: null, slug})
      const shown = await gateway.call('secret_references.get', {params: {secretReferenceId: id}})
      const login = Object.entries(shown.auth_config as Spec).map(([field, value]) => [
        field.startsWith(MASKED) ? field.slice(MASKED.length) : field,
        value,
      ])
      const spec = {...shown, auth_config: Object.fromEntries(login), allowed_workspaces: allowedOf(shown, place)}
      return {kind: 'secret-reference', workspace: null, slug, id, spec: specOf(fields, spec)}
    })
  },
  body: (resource, place) => ({...bodyOf(resource, place), ...allowedIn(resource.spec, place)}),
  ...plainWrites('secret_references', 'secretReferenceId', () => secretReference),
  async change(place, {spec}, found, changed) {
    const {allowed_workspaces: _, auth_config, ...body} = changesOf(secretReference, spec, changed)
    const access = changed.includes('allowed_workspaces') ? allowedBody(spec.allowed_workspaces, place) : {}
    const login =
      auth_config === undefined ? {} : {auth_config: loginChange(auth_config as Spec, found.spec.auth_config as Spec)}
    await place.gateway.call('secret_references.update', {
      params: {secretReferenceId: found.id},
      body: {...body, ...login, ...access},
    })
  },
  async faults({spec}, known) {
    const {manager_type, auth_config, allowed_workspaces = []} = spec
    const schema = AUTH[manager_type as Manager]
    const {error} = schema.safeParse(auth_config)
    const wrong = error
      ? [explain(error, schema, auth_config, {root: 'auth_config', before: 'auth_config.'}).replace(/\.$/, '')]
      : []
    return [...wrong, ...unknownWorkspaces(allowed_workspaces as string[], at => `allowed_workspaces[${at}]`, known)]
  },
}

/** A login is changed field by field: null takes one away, and a secret that stays is not sent. */
function loginChange(login: Spec, before: Spec): Spec {
  const gone = Object.keys(isObject(before) ? before : {}).filter(field => !(field in login))
  return {
    ...Object.fromEntries(gone.map(field => [field, null])),
    ...Object.fromEntries(Object.entries(login).filter(([, value]) => !hasMask(value))),
  }
}
