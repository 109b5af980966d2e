import {type NounWith, type OperationId, type RowOf, type Unchecked, unchecked} from '../client.ts'
import type {Gateway, Input} from '../connect.ts'
import type {Address, Resource, Spec} from './document.ts'
import type {SecretPlaces} from './secrets.ts'

/** A resource that the gateway has, as far as files can say it; secrets are masks. */
export interface ExistingResource extends Resource {
  /** The name by which operations know it. */
  readonly id: string
  /** The fields as the gateway shows them, where taking it away asks for one. */
  readonly shown?: Spec
}

/** A member of `spec`. */
export interface SpecField {
  /** The value that removes it; a field without one cannot be absent once it is there. */
  readonly none?: unknown
  /** Stays as it was made. */
  readonly is_fixed?: true
  /** The one form of all that say the same; undefined for what is as good as absent. The whole `spec` stands by. */
  normal?(value: unknown, spec: Spec): unknown
  /** The form of a value in an update. */
  sent?(value: unknown): unknown
}

/** The gateway as kinds see it. */
export interface ApplyTarget {
  readonly gateway: Gateway
  /** The word in files for a workspace, by its id. */
  handleOf(workspace_id: string): string
  /** The slug of a workspace by its word in files. */
  slugOf(handle: string): string
  /** Every workspace, by its word in files. */
  readonly workspaces: readonly string[]
  /** The slug for an id of anything that was read; any other text as it is. */
  named(text: string): string
  /** The address of the row with this id, if it was read. */
  addressOf(id: string): Address | undefined
  /** The id of what was read or made; undefined for what is not known. */
  idOf(address: Address): string | undefined
  /** The slugs of what is known of a kind in any of these places. */
  slugsOf(kind: string, workspaces: readonly (string | null)[]): string[]
  /** Notes the id of something. */
  knows(id: string, address: Address): void
  /** Users by id and by e-mail address; empty where the key may not see them. */
  users(): Promise<{readonly emails: ReadonlyMap<string, string>; readonly ids: ReadonlyMap<string, string>}>
}

/**
 * A kind of resource: the operations that list, show, make, change and remove it, its fields, its needs, its secrets.
 * The table of kinds is in order: each needs only those before it.
 */
export interface ResourceKind {
  readonly name: string
  /** Folder of its files. */
  readonly folder: string
  readonly lives_in: 'workspace' | 'organisation' | 'either'
  /** True where a slug counts for all of the organisation. */
  readonly is_slug_unique?: true
  /** The kinds that one of this may refer to: they are read with it. */
  readonly needs: readonly string[]
  /** True where its operations answer 404 when a feature flag is off. */
  readonly may_be_off?: true
  /** The remark on the page of kinds beyond its fields. */
  readonly remark?: string
  /** The operation whose body `spec` is, for checking it before anything is sent. */
  readonly create: OperationId
  readonly fields: Readonly<Record<string, SpecField>>
  readonly secrets: SecretPlaces
  read(place: ApplyTarget): Promise<ExistingResource[]>
  /** Sends a new one; gives what is shown this once, such as the secret of a key. */
  make(place: ApplyTarget, resource: Resource): Promise<string | undefined>
  /** Sends what changed: `changed` names the fields. */
  change(place: ApplyTarget, resource: Resource, found: ExistingResource, changed: readonly string[]): Promise<void>
  remove(place: ApplyTarget, found: ExistingResource): Promise<void>
  /** The body of the operation `create`, where that is not `bodyOf`. */
  body?(resource: Resource, place: ApplyTarget): unknown
  /** The faults of a spec beyond its schema, each beginning with the field's path; throws nothing. */
  faults?(resource: Resource, known: Known, place: ApplyTarget): Promise<readonly string[]>
  /** The slugs of those of the same kind that it needs. */
  within?(resource: Resource): readonly string[]
  /** The reason why this one is never removed for not being in the files. */
  stays?(found: ExistingResource, place: ApplyTarget): boolean
}

/** Finds the resource of an address, in the files or in the gateway. */
export type Known = (address: Address) => Resource | undefined

export const NO_SECRETS: SecretPlaces = {below: [], isSecret: () => false}

/** Lists of which a page has 100 rows at most. */
const SHORT_PAGES = ['secret_references.list', 'mcp_servers.list']

type ListId = `${NounWith<'list'>}.list`

/** All rows of a list, page after page. */
export async function everyRow<Id extends ListId>(
  {perform}: Gateway,
  operation: Id,
  query: Input['query'] = {},
  params: Input['params'] = {},
): Promise<RowOf<Id>[]> {
  const camel = operation === 'users.list'
  const most = SHORT_PAGES.includes(operation) ? 100 : 1000
  const rows: RowOf<Id>[] = []
  for (let at = 0; ; at++) {
    const page = camel ? {pageSize: most, currentPage: at} : {page_size: most, current_page: at}
    const {data} = (await perform(operation, {params, query: {...query, ...page}})) as {data: RowOf<Id>[]}
    rows.push(...data)
    if (data.length < most) return rows
  }
}

/**
 * The ways to write a kind whose operations are of the usual form: `noun.create`, and `noun.update` and `noun.delete`
 * by id.
 */
export function plainWrites(
  noun: NounWith<'create'> & NounWith<'update'> & NounWith<'delete'>,
  param: string,
  kind: () => ResourceKind,
): Pick<ResourceKind, 'make' | 'change' | 'remove'> {
  return {
    async make(place, resource) {
      const body = (kind().body ?? bodyOf)(resource, place)
      const made = await place.gateway.perform(`${noun}.create`, {body})
      if ('id' in made) place.knows(String(made.id), resource)
      return undefined
    },
    async change({gateway}, {spec}, {id}, changed) {
      await gateway.perform(`${noun}.update`, {params: {[param]: id}, body: changesOf(kind(), spec, changed)})
    },
    async remove({gateway}, {id}) {
      await gateway.perform(`${noun}.delete`, {params: {[param]: id}})
    },
  }
}

const AT_ONCE = 8

/** `work` on each, some at once, the results in order. */
export async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length)
  let next = 0
  const lane = async () => {
    while (next < items.length) {
      const at = next++
      results[at] = await work(items[at]!)
    }
  }
  await Promise.all(Array.from({length: AT_ONCE}, lane))
  return results
}

/** The fields of a kind that a row has something in, in their one form. */
export function specOf(fields: ResourceKind['fields'], row: Spec): Spec {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = normal(field, row[name], row)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

export function normal({normal}: SpecField, value: unknown, spec: Spec): unknown {
  if (value === undefined || value === null) return undefined
  const made = normal ? normal(value, spec) : value
  return isEmpty(made) ? undefined : made
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** A resource of the files, as an operation takes it. */
export type OperationBody = Spec & Unchecked

/** The body that makes a resource. */
export function bodyOf({slug, workspace, spec}: Resource, {slugOf}: ApplyTarget): OperationBody {
  const body: Spec = {slug, ...(workspace !== null && {workspace_id: slugOf(workspace)}), ...spec}
  return unchecked(body)
}

/** The body that changes the fields named. */
export function changesOf(
  {fields}: Pick<ResourceKind, 'fields'>,
  spec: Spec,
  changed: readonly string[],
): OperationBody {
  const entries = changed.map((name): [string, unknown] => {
    const {none, sent} = fields[name]!
    const value = spec[name]
    return [name, value === undefined ? none : sent ? sent(value) : value]
  })
  const body: Spec = Object.fromEntries(entries)
  return unchecked(body)
}
