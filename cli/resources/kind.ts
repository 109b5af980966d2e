import type {Gateway, Input} from '../connect.ts'
import type {Address, Resource, Spec} from './document.ts'
import type {SecretPlaces} from './secrets.ts'

/** A resource that the gateway has, as far as files can say it; secrets are masks. */
export interface Found extends Resource {
  /** What operations name it by. */
  readonly id: string
  /** The fields as the gateway shows them, where taking it away asks for one. */
  readonly shown?: Spec
}

/** A member of `spec`. */
export interface Field {
  /** What is sent to take it away; a field without cannot be absent once it is there. */
  readonly none?: unknown
  /** Stays as it was made. */
  readonly is_fixed?: true
  /** The one form of all that say the same; undefined for what is as good as absent. The whole `spec` stands by. */
  normal?(value: unknown, spec: Spec): unknown
  /** What an update sends for a value. */
  sent?(value: unknown): unknown
}

/** The gateway as kinds see it. */
export interface Place {
  readonly gateway: Gateway
  /** The word in files for a workspace, by its id. */
  handleOf(workspace_id: string): string
  /** The slug of a workspace by its word in files. */
  slugOf(handle: string): string
  /** The slug for an id of anything that was read; any other text as it is. */
  named(text: string): string
  /** Notes the slug of an id. */
  knows(id: string, slug: string): void
  /** Users by id and by e-mail address; empty where the key may not see them. */
  users(): Promise<{readonly emails: ReadonlyMap<string, string>; readonly ids: ReadonlyMap<string, string>}>
}

/**
 * A kind of resource: which operations list, show, make, change and take it away, what it says, what it needs, what of it is secret.
 * The table of kinds is in order: each needs only what stands before it.
 */
export interface Kind {
  readonly name: string
  /** Folder of its files. */
  readonly folder: string
  readonly lives_in: 'workspace' | 'organisation' | 'either'
  /** True where a slug counts for all of the organisation. */
  readonly is_slug_unique?: true
  /** The operation whose body `spec` is, for checking it before anything is sent. */
  readonly create: string
  readonly fields: Readonly<Record<string, Field>>
  readonly secrets: SecretPlaces
  read(place: Place): Promise<Found[]>
  /** Sends a new one; gives what is told this once, such as the secret of a key. */
  make(place: Place, resource: Resource): Promise<string | undefined>
  /** Sends what changed: `changed` names the fields. */
  change(place: Place, resource: Resource, found: Found, changed: readonly string[]): Promise<void>
  remove(place: Place, found: Found): Promise<void>
  /** The body of the operation `create`, where that is not `bodyOf`. */
  body?(resource: Resource, place: Place): unknown
  /** What is wrong in a spec beyond its schema, in words that begin with the field's path; throws nothing. */
  faults?(resource: Resource, known: (address: Address) => Resource | undefined): Promise<readonly string[]>
  /** Why this one is never taken away for not being in the files. */
  stays?(found: Found, place: Place): boolean
}

export const NO_SECRETS: SecretPlaces = {below: [], isSecret: () => false}

/** All rows of a list, page after page. */
export async function everyRow<Row>({call}: Gateway, operation: string, query: Input['query'] = {}): Promise<Row[]> {
  const camel = operation === 'users.list'
  const rows: Row[] = []
  for (let at = 0; ; at++) {
    const page = camel ? {pageSize: 1000, currentPage: at} : {page_size: 1000, current_page: at}
    const {data} = await call<{data: Row[]}>(operation, {query: {...query, ...page}})
    rows.push(...data)
    if (data.length < 1000) return rows
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
export function specOf(fields: Kind['fields'], row: Spec): Spec {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = normal(field, row[name], row)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

export function normal({normal}: Field, value: unknown, spec: Spec): unknown {
  if (value === undefined || value === null) return undefined
  const made = normal ? normal(value, spec) : value
  return isEmpty(made) ? undefined : made
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** The body that makes a resource. */
export function bodyOf({slug, workspace, spec}: Resource, {slugOf}: Place): Record<string, unknown> {
  return {slug, ...(workspace !== null && {workspace_id: slugOf(workspace)}), ...spec}
}

/** The body that changes the fields named. */
export function changesOf({fields}: Pick<Kind, 'fields'>, spec: Spec, changed: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    changed.map(name => {
      const {none, sent} = fields[name]!
      const value = spec[name]
      return [name, value === undefined ? none : sent ? sent(value) : value]
    }),
  )
}
