import {isObject} from '../../../src/base/json-object.ts'
import {PromptCreate} from '../../../src/schema/prompts.ts'
import {explain} from '../../../src/schema/validation-message.ts'
import {unchecked} from '../../client.ts'
import {compared} from '../access.ts'
import {type Resource, type Spec, same} from '../document.ts'
import {TEXT, withoutDefaults} from '../fields.ts'
import {
  type ApplyTarget,
  eachOf,
  everyRow,
  type Known,
  NO_SECRETS,
  plainWrites,
  type ResourceKind,
  specOf,
} from '../kind.ts'
import {DEFAULT_COLLECTION} from './collections.ts'
import {assignLabels, labelsOf} from './prompt-labels.ts'

interface VersionRow {
  readonly id: string
  readonly prompt_version: number
  readonly prompt_template: Spec
  readonly prompt_description: string | null
  readonly label_id: string | null
}
interface Version extends Spec {
  readonly published?: boolean
  readonly labels?: readonly string[]
}

const fields: ResourceKind['fields'] = {
  name: TEXT,
  collection: {none: DEFAULT_COLLECTION, normal: value => (value === DEFAULT_COLLECTION ? undefined : value)},
  versions: {normal: value => (Array.isArray(value) ? value.map(versionOf) : value)},
}

/** Prompts in the versions that calls can name: the published one, and those with a label. */
export const prompt: ResourceKind = {
  name: 'prompt',
  folder: 'prompts',
  lives_in: 'workspace',
  is_slug_unique: true,
  needs: ['workspace', 'guardrail', 'integration', 'provider', 'virtual-key', 'config', 'label', 'collection'],
  remark:
    '`versions`: the `published` version and versions with `labels`, oldest first. Other versions are in no file, and each gateway has its own numbers. `collection` by slug. A version has `messages` as a list, or `string`.',
  create: 'prompts.create',
  fields,
  secrets: NO_SECRETS,
  async read(place) {
    const {gateway, addressOf} = place
    return eachOf(await everyRow(gateway, 'prompts.list'), async ({id, slug, name, collection_id}) => {
      const {workspace, slug: collection} = addressOf(collection_id)!
      const params = {promptId: id}
      const rows = (await gateway.call('prompts.list_versions', {params})).toReversed()
      const {prompt_version} = await gateway.call('prompts.get', {params})
      const labels = await labelsOf(place, id, workspace, rows)
      const versions = rows.flatMap(row => {
        const borne = [...labels].filter(([, version]) => version === row.prompt_version).map(([label]) => label)
        const is_published = row.prompt_version === prompt_version
        return is_published || borne.length ? [{...saidOf(row), published: is_published, labels: borne}] : []
      })
      return {kind: 'prompt', workspace, slug, id, spec: specOf(fields, {name, collection, versions})}
    })
  },
  body: ({slug, spec: {name}}) => ({slug, name, collection_id: 'own', string: 'x', parameters: {}, virtual_key: 'own'}),
  ...plainWrites('prompts', 'promptId', () => prompt),
  async make(place, resource) {
    const versions = resource.spec.versions as readonly Version[]
    const {slug, spec} = resource
    const {id, version_id} = await place.gateway.call('prompts.create', {
      body: unchecked({
        slug,
        name: spec.name,
        collection_id: await collectionOf(place, resource),
        ...sentOf(versions[0]!),
      }),
    })
    const made = [{id: version_id, version: 1}]
    for (const version of versions.slice(1)) made.push(await addVersion(place, id, version, made.length + 1))
    await publish(place, id, 1, publishedOf(versions, made))
    await assignLabels(place, {id, workspace: resource.workspace}, new Map(), wantedLabels(versions, made))
    return undefined
  },
  async change(place, resource, {id}, changed) {
    const {gateway} = place
    const params = {promptId: id}
    const own = unchecked({
      ...(changed.includes('name') && {name: resource.spec.name}),
      ...(changed.includes('collection') && {collection_id: await collectionOf(place, resource)}),
    })
    if (Object.keys(own).length) await gateway.call('prompts.update', {params, body: own})
    if (!changed.includes('versions')) return
    const versions = resource.spec.versions as readonly Version[]
    const rows = await gateway.call('prompts.list_versions', {params})
    const {prompt_version} = await gateway.call('prompts.get', {params})
    const labels = await labelsOf(place, id, resource.workspace, rows)
    const made: Made[] = []
    let newest = Math.max(...rows.map(row => row.prompt_version))
    for (const version of versions) {
      const known = rows.find(
        row => !made.some(each => each.id === row.id) && same(versionOf(saidOf(row)), contentOf(version)),
      )
      made.push(known ? {id: known.id, version: known.prompt_version} : await addVersion(place, id, version, ++newest))
    }
    await publish(place, id, prompt_version, publishedOf(versions, made))
    const bearers = new Map(
      [...labels].map(([label, version]) => [label, rows.find(row => row.prompt_version === version)!.id]),
    )
    await assignLabels(place, {id, workspace: resource.workspace}, bearers, wantedLabels(versions, made))
  },
  async faults(resource, known, place) {
    const {workspace, spec} = resource
    const {versions, collection = DEFAULT_COLLECTION} = spec
    if (!Array.isArray(versions) || !versions.length || !versions.every(isObject))
      return ['versions: expected a list of versions']
    const wrong = (versions as Version[]).flatMap((version, at) =>
      versionFaults(version, `versions[${at}].`, resource, known, place),
    )
    if (versions.filter(({published}) => published === true).length !== 1)
      wrong.push('versions: one of them must be published: true')
    const labels = (versions as Version[]).flatMap(({labels = []}) => labels)
    const twice = Array.isArray(labels) ? labels.find((label, at) => labels.indexOf(label) !== at) : undefined
    if (twice !== undefined)
      wrong.push(`versions: the label ${String(twice).slice(0, 80)} stands twice; a prompt has it once`)
    if (collection !== DEFAULT_COLLECTION && !known({kind: 'collection', workspace, slug: String(collection)}))
      wrong.push(`collection: there is no collection ${String(collection).slice(0, 80)}`)
    return wrong
  },
}

/** A version of a prompt as files say it, in its one form: messages as a list where the text is one. */
function versionOf(value: unknown): unknown {
  if (!isObject(value)) return value
  const {messages, string, is_raw_template, published, labels, ...rest} = value
  const is_raw = is_raw_template === true || is_raw_template === 1
  const read = messages === undefined && !is_raw ? messagesIn(string) : messages
  return {
    ...(withoutDefaults(rest) as Spec),
    ...(read === undefined ? {string} : {messages: read}),
    ...(is_raw && {is_raw_template: true}),
    ...(published === true && {published}),
    ...(Array.isArray(labels) && labels.length > 0 && {labels: [...labels].map(String).sort(compared)}),
  }
}

function contentOf({published: _, labels: __, ...content}: Version): Spec {
  return content
}

function messagesIn(string: unknown): unknown {
  try {
    const read = JSON.parse(String(string)) as unknown
    return Array.isArray(read) && read.length > 0 && read.every(isObject) ? read : undefined
  } catch {
    return undefined
  }
}

function saidOf({prompt_template, prompt_description}: VersionRow): Version {
  return {...prompt_template, version_description: prompt_description}
}

/** The members of a body that make a version. */
function sentOf(version: Version): Spec {
  const {messages, is_raw_template, ...content} = contentOf(version)
  const string = messages === undefined ? {} : {string: JSON.stringify(messages)}
  return {parameters: {}, ...content, ...string, ...(is_raw_template ? {is_raw_template: 1} : {})}
}

const NOTHING = {
  model: null,
  functions: null,
  tools: null,
  tool_choice: null,
  prompt_metadata: null,
  version_description: null,
}

interface Made {
  readonly id: string
  readonly version: number
}

async function addVersion({gateway}: ApplyTarget, id: string, version: Version, number: number): Promise<Made> {
  const {template_metadata = null, ...rest} = sentOf(version)
  const body = unchecked({...NOTHING, is_raw_template: 0, ...rest, prompt_metadata: template_metadata})
  const {prompt_version_id} = await gateway.call('prompts.update', {params: {promptId: id}, body})
  return {id: prompt_version_id!, version: number}
}

function publishedOf(versions: readonly Version[], made: readonly Made[]): number {
  return made[versions.findIndex(({published}) => published === true)]!.version
}

async function publish({gateway}: ApplyTarget, id: string, before: number, version: number) {
  if (version !== before) await gateway.call('prompts.publish', {params: {promptId: id}, body: {version}})
}

function wantedLabels(versions: readonly Version[], made: readonly Made[]): Map<string, string> {
  return new Map(versions.flatMap(({labels = []}, at) => labels.map(label => [label, made[at]!.id] as const)))
}

/** The gateway's name of the collection; the default one of a workspace that was made just now is looked up. */
async function collectionOf({gateway, idOf, slugOf}: ApplyTarget, {workspace, spec}: Resource): Promise<string> {
  const slug = String(spec.collection ?? DEFAULT_COLLECTION)
  const id = idOf({kind: 'collection', workspace, slug})
  if (id !== undefined || slug !== DEFAULT_COLLECTION) return id ?? slug
  const rows = await everyRow(gateway, 'collections.list', {workspace_id: slugOf(workspace!)})
  return rows.find(({is_default}) => is_default)?.id ?? slug
}

const VersionSchema = PromptCreate.omit({name: true, slug: true, collection_id: true})
const CALLED = ['provider', 'virtual-key', 'config']

function versionFaults(
  version: Version,
  before: string,
  {workspace}: Resource,
  known: Known,
  {idOf}: ApplyTarget,
): string[] {
  const fields = versionOf(version) as Version
  const body = sentOf(fields)
  const {error} = VersionSchema.safeParse(body)
  if (error) return [explain(error, VersionSchema, body, {root: before, before}).replace(/\.$/, '')]
  const slug = String(body.virtual_key).replace(/^@/, '')
  const wrong = CALLED.some(kind => known({kind, workspace, slug}))
    ? []
    : [`${before}virtual_key: there is no provider or config ${slug.slice(0, 80)}`]
  const isLabel = (slug: string) =>
    known({kind: 'label', workspace, slug}) || idOf({kind: 'label', workspace: null, slug})
  const unknown = (fields.labels ?? []).filter(label => !isLabel(label))
  return [...wrong, ...unknown.map(label => `${before}labels: there is no label ${label.slice(0, 80)}`)]
}
