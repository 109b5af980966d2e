import {isObject} from '../../../src/base/json-object.ts'
import {SECRET_SETTINGS, settingsOf} from '../../../src/providers/configurations.ts'
import {movedBy} from '../../../src/providers/places.ts'
import {find} from '../../../src/providers/registry.ts'
import {hasMask} from '../../../src/schema/secrets.ts'
import {CommandFault} from '../../fault.ts'
import {type Resource, same} from '../document.ts'
import {CLEARED, LIMITS, MOMENT, TAGS, TEXT} from '../fields.ts'
import type {ApplyTarget, ExistingResource, ResourceKind, SpecField} from '../kind.ts'
import {bodyOf, changesOf, everyRow, specOf} from '../kind.ts'
import {MAPPINGS, mappingsOf, unknownReferences} from '../mappings.ts'
import type {SecretPlaces} from '../secrets.ts'

interface Row {
  readonly [field: string]: unknown
  readonly id: string
  readonly slug: string
  readonly workspace_id: string
}

const common: ResourceKind['fields'] = {name: TEXT, note: CLEARED, ...LIMITS, expires_at: MOMENT, tags: TAGS}

/** The kind of a provider by the one name the catalogue has for it. */
export const providerKind: SpecField = {is_fixed: true, normal: value => find(String(value))?.slug ?? value}

/** Settings of the kind that `spec[member]` names, as the gateway reads them. */
export const settingsField = (member: string): SpecField => ({
  none: {},
  normal: (value, spec) => {
    const read = hasMask(value) ? undefined : settingsOf(find(String(spec[member]))?.slug ?? '').safeParse(value)
    return read?.success ? read.data : value
  },
})

/** A credential and its settings, of the kind of provider that `spec[kind]` names. */
export const credentialPlaces = (kind: string, member: string): SecretPlaces => ({
  below: ['key', member],
  isSecret: path => path[0] === 'key' || (path[0] === member && SECRET_SETTINGS.includes(String(path[1]))),
  moves: (before, after) =>
    movedBy(String(after[kind]), settingsIn(before[member]), settingsIn(after[member])) !== null,
})

const settingsIn = (value: unknown) => (isObject(value) ? value : {})

/** The faults in the kind of a provider, or in its settings. */
export function settingsFaults(spec: Readonly<Record<string, unknown>>, kind: string, member: string): string[] {
  const known = find(String(spec[kind]))
  if (!known) return [`${kind}: no kind of provider is called so`]
  const read = hasMask(spec[member]) ? undefined : settingsOf(known.slug).safeParse(spec[member] ?? {})
  return (read?.error?.issues ?? []).map(({path, message}) => `${[member, ...path].join('.')}: ${message}`)
}

const providerFields: ResourceKind['fields'] = {
  ...common,
  integration_id: {is_fixed: true},
  model_config: {none: {}, normal: nothing},
}

/** An empty object says nothing. */
function nothing(value: unknown): unknown {
  return isObject(value) && Object.keys(value).length === 0 ? undefined : value
}

/**
 * Which kind of provider a file's integration is of is not known here: another host, or another option, may lead
 * elsewhere.
 */
const providerSecrets: SecretPlaces = {
  below: ['model_config'],
  isSecret: path => path[0] === 'model_config' && SECRET_SETTINGS.includes(String(path[1])),
  moves: (before, after) => !same(withoutSecrets(before.model_config), withoutSecrets(after.model_config)),
}

const withoutSecrets = (said: unknown) =>
  Object.fromEntries(Object.entries(settingsIn(said)).filter(([name]) => !SECRET_SETTINGS.includes(name)))

const twoPlaces = (workspace: string | null, slug: string) => [
  {kind: 'integration', workspace: null, slug},
  {kind: 'integration', workspace, slug},
]

/** Providers made of an integration. */
export const provider: ResourceKind = {
  name: 'provider',
  folder: 'providers',
  lives_in: 'workspace',
  needs: ['workspace', 'integration'],
  remark: '`integration_id`: the slug of its integration.',
  create: 'providers.create',
  fields: providerFields,
  secrets: providerSecrets,
  async read({gateway, handleOf, named}) {
    const [rows, older] = await Promise.all([
      everyRow(gateway, 'providers.list'),
      everyRow(gateway, 'virtual_keys.list'),
    ])
    const own = new Set(older.filter(row => 'masked_key' in row).map(({id}) => id))
    return rows
      .filter(({id}) => !own.has(id))
      .map(row =>
        foundOf(
          'provider',
          row,
          handleOf,
          specOf(providerFields, {...row, integration_id: named(String(row.integration_id))}),
        ),
      )
  },
  ...writes('providers', () => provider),
  make: (place, resource) =>
    writes('providers', () => provider)
      .make(place, resource)
      .catch(fault => takeOver(place, resource, fault)),
  async faults({spec, workspace}, known) {
    const slug = String(spec.integration_id)
    return twoPlaces(workspace, slug).some(known)
      ? []
      : [`integration_id: there is no integration ${slug.slice(0, 80)}`]
  },
}

/**
 * A new workspace is given providers of what is open to all: the one in the way is made what the file says, where it is
 * of the same integration.
 */
async function takeOver(
  {gateway, slugOf, named}: ApplyTarget,
  {slug, workspace, spec}: Resource,
  fault: unknown,
): Promise<undefined> {
  if (!(fault instanceof CommandFault) || fault.status !== 409) throw fault
  const at = {params: {slug}, query: {workspace_id: slugOf(workspace!)}}
  const {integration_id} = await gateway.call('providers.get', at)
  if (named(integration_id) !== spec.integration_id) throw fault
  const {integration_id: _, ...body} = spec
  await gateway.call('providers.update', {...at, body})
  return undefined
}

const keyFields: ResourceKind['fields'] = {
  ...common,
  provider: providerKind,
  key: CLEARED,
  model_config: settingsField('provider'),
  secret_mappings: MAPPINGS,
}

/** Virtual keys, each with a credential of its own. */
export const virtualKey: ResourceKind = {
  name: 'virtual-key',
  folder: 'virtual-keys',
  lives_in: 'workspace',
  needs: ['workspace', 'secret-reference'],
  remark: '`secret_mappings` name secret references by slug.',
  create: 'virtual_keys.create',
  fields: keyFields,
  secrets: credentialPlaces('provider', 'model_config'),
  async read(place) {
    const {gateway, handleOf} = place
    const rows = await everyRow(gateway, 'virtual_keys.list')
    return rows
      .filter(row => 'masked_key' in row)
      .map(row => {
        const shown = {...row, key: row.masked_key, secret_mappings: mappingsOf(row, place)}
        return foundOf('virtual-key', row, handleOf, specOf(keyFields, shown))
      })
  },
  ...writes('virtual_keys', () => virtualKey),
  faults: async ({spec}, known) => [
    ...settingsFaults(spec, 'provider', 'model_config'),
    ...unknownReferences(spec, known),
  ],
}

function foundOf(
  kind: string,
  row: Row,
  handleOf: ApplyTarget['handleOf'],
  spec: ExistingResource['spec'],
): ExistingResource {
  return {kind, workspace: handleOf(row.workspace_id), slug: row.slug, id: row.id, spec}
}

function writes(
  noun: 'providers' | 'virtual_keys',
  kind: () => ResourceKind,
): Pick<ResourceKind, 'make' | 'change' | 'remove'> {
  const query = ({workspace}: ExistingResource, {slugOf}: ApplyTarget) => ({workspace_id: slugOf(workspace!)})
  return {
    async make(place, resource) {
      await place.gateway.call(`${noun}.create`, {body: bodyOf(resource, place)})
      return undefined
    },
    async change(place, {spec}, found, changed) {
      const body = changesOf(kind(), spec, changed)
      await place.gateway.call(`${noun}.update`, {params: {slug: found.slug}, query: query(found, place), body})
    },
    async remove(place, found) {
      await place.gateway.call(`${noun}.delete`, {params: {slug: found.slug}, query: query(found, place)})
    },
  }
}
