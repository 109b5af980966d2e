import {Refusal} from '../base/errors.ts'
import {isAllowed} from '../identity/access.ts'
import {type Change, changesBetween} from '../schema/changes.ts'
import {hasMask} from '../schema/secrets.ts'
import {isSecretName, masked} from './audit.ts'
import type {AnyOperation, OperationCall} from './operation.ts'
import type {AdminServices} from './services.ts'

type AnyCall = OperationCall<never, never, never>

/** The effect of a write on its subject, as the operation that shows it reports it before and after. */
export interface WriteResult {
  readonly before: object
  readonly after: object
  readonly changes: readonly Change[]
  /** The fields that say of a given secret only that it was replaced. */
  readonly replaced: ReadonlySet<string>
  /** False where the caller may change it and not see it: the audit record alone tells then. */
  readonly may_see: boolean
}

/** The operation that shows what each update changes: the GET of the same path, where that shows one thing. */
export function viewsOf(operations: readonly AnyOperation[]): ReadonlyMap<AnyOperation, AnyOperation> {
  const shows = new Map(
    operations.flatMap(each => (each.method === 'GET' && SHOWS_ONE.test(each.id) ? [[each.path, each]] : [])),
  )
  return new Map(
    operations.flatMap(each => {
      const view = each.method === 'PUT' && each.audit ? shows.get(each.path) : undefined
      return view ? [[each, view]] : []
    }),
  )
}

const SHOWS_ONE = /^(?!pricing\.).*\.(?:get(?:_version)?|list_workspaces)$/

/** Does `work`, which changes what `view` shows, and tells what it changed; undefined where that cannot be shown. */
export async function watched<Result>(
  view: AnyOperation,
  call: AnyCall,
  work: () => Promise<Result>,
  idAfter: () => string | undefined,
): Promise<{result: Result; done: WriteResult | undefined}> {
  const before = await look(view, call)
  const result = await work()
  if (!before) return {result, done: undefined}
  const after = (await look(view, call)) ?? (await look(view, renamed(call, idAfter())))
  if (!after) return {result, done: undefined}
  const secrets = givenSecrets(call.body, before.shown).filter(way =>
    [before, after].every(({shown}) => placeOf(shown, way)),
  )
  const [old, now] = [marked(before.shown, secrets, 'before'), marked(after.shown, secrets, 'after')]
  const [replaced, may_see] = [new Set(secrets.map(way => way.join('.'))), before.may_see && after.may_see]
  return {result, done: {before: old, after: now, changes: changesBetween(old, now), replaced, may_see}}
}

/** The answer to `?changes=true`: what there was, what there is, and the names of the fields that changed. */
export class Shown {
  readonly before: object
  readonly after: object
  readonly changed: readonly string[]
  readonly dry_run?: true
  constructor({before, after, changes}: WriteResult, is_dry: boolean) {
    this.before = before
    this.after = after
    this.changed = changes.map(({field}) => field)
    if (is_dry) this.dry_run = true
  }
}

/** Thrown to take a transaction back once it is known what it would have done. */
export class DryRunFault extends Error {
  readonly shown: Shown
  constructor(shown: Shown) {
    super()
    this.shown = shown
  }
}

export function shown(done: WriteResult | undefined, is_dry: boolean): Shown {
  if (!done?.may_see) throw new Refusal('scope.missing', {scope: 'to read it'})
  return new Shown(done, is_dry)
}

/**
 * The members that every update takes in its query beside its own; they are removed from it, as no schema knows them.
 */
export function askedOf(request: {query: unknown}): {readonly changes: boolean; readonly dry_run: boolean} {
  const {changes, dry_run, ...query} = request.query as Record<string, unknown>
  for (const [name, value] of Object.entries({changes, dry_run}))
    if (value !== undefined && value !== 'true' && value !== 'false')
      throw new Refusal('body.invalid', {issues: `query parameter ${name}: expected true or false.`})
  request.query = query
  return {changes: changes === 'true', dry_run: dry_run === 'true'}
}

/** A write that nothing shows cannot say what it would do: it is refused, not done. */
export function refuseDryRun(operation: AnyOperation, {query}: {query: unknown}) {
  const {dry_run = 'false'} = query as Record<string, unknown>
  if (dry_run === 'false') return
  throw new Refusal('body.invalid', {
    issues: `query parameter dry_run: is not taken by ${operation.method} ${operation.path}.`,
  })
}

/** As the audit log keeps it, always whole JSON: long values are left out, then fields; secrets are masked. */
export function changesText({changes, replaced}: Pick<WriteResult, 'changes' | 'replaced'>): string {
  const short = changes.map(({field, ...pair}) => {
    const hides = field.split(/[. ]/).some(isSecretName) && !(replaced.has(field) && pair.after === REPLACED)
    const kept = (value: unknown) => cut(value === null ? null : masked(value, hides))
    return {field, before: kept(pair.before), after: kept(pair.after)}
  })
  const text = JSON.stringify(short)
  if (text.length <= MAX_CHARACTERS) return text
  const rows: Change[] = []
  let left = MAX_CHARACTERS - JSON.stringify([AND_MORE]).length
  for (const {field} of short) {
    const row = {field, before: TOO_LONG, after: TOO_LONG}
    left -= JSON.stringify(row).length + 1
    if (left < 0) return JSON.stringify([...rows, AND_MORE])
    rows.push(row)
  }
  return JSON.stringify(rows)
}

/** Null where it is no JSON, so that one row never hides the others. */
export function changesOf(text: string | null | undefined): Change[] | null {
  try {
    return text == null ? null : (JSON.parse(text) as Change[])
  } catch {
    return null
  }
}

const MAX_CHARACTERS = 65_536
const MAX_OF_A_VALUE = 8_192
const TOO_LONG = '(too long to keep)'
const AND_MORE: Change = {field: '(and more)', before: null, after: null}
const SET = 'set'
const REPLACED = 'set (replaced)'

function cut(value: unknown): unknown {
  return JSON.stringify(value).length > MAX_OF_A_VALUE ? TOO_LONG : value
}

/** Usage changes with every call and is read elsewhere: a transaction reads its own database. */
const NOTHING_USED = {read: async () => [], readRates: async () => []} as unknown as NonNullable<
  AdminServices['limits']
>

async function look(view: AnyOperation, call: AnyCall): Promise<{shown: object; may_see: boolean} | undefined> {
  const workspace_id = (call.query as {workspace_id?: string} | undefined)?.workspace_id ?? bodyWorkspace(call)
  const query = [{workspace_id, version: 'latest'}, {version: 'latest'}, {workspace_id}, {}]
    .map(each => view.query?.safeParse(each))
    .find(each => each === undefined || each.success)
  const {settled: _, ...app} = {...call.app, limits: NOTHING_USED}
  const input = {...call, app, query: query?.data, body: undefined, auditTarget: () => undefined}
  for (const actor of [...(sees(view, call) ? [call.actor] : []), {...call.actor, scopes: 'all' as const}]) {
    try {
      const shown = (await view.handle({...input, actor} as never)) as object
      return {shown: plain('data' in shown ? shown.data : shown), may_see: actor === call.actor}
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    }
  }
  return undefined
}

/** True when the caller could have requested the view. */
function sees({scopes, role_needs, flag}: AnyOperation, {actor, app}: AnyCall): boolean {
  if (role_needs && actor.person && !actor.person.role_scopes.has(role_needs)) return false
  if (flag && !app.settings[`${flag}_enabled`]) return false
  return !scopes?.length || isAllowed(actor, scopes)
}

function bodyWorkspace({body}: AnyCall): string | undefined {
  return (body as {workspace_id?: string} | undefined)?.workspace_id
}

/** The same call of a thing whose name in the path was changed by it. */
function renamed(call: AnyCall, id: string | undefined): AnyCall {
  const names = Object.keys((call.params as object | undefined) ?? {})
  if (id === undefined || !names.length) return call
  return {...call, params: {...(call.params as object), [names.at(-1)!]: id} as never}
}

/** As it goes over the wire, so that two views compare by what a client reads. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as object

/**
 * Ways to secrets that a body gives and no view says: at its top, or in an object of it. A mask that comes back is
 * none.
 */
function givenSecrets(body: unknown, shown: object): readonly (readonly string[])[] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, value]) => {
    if (isSecretName(name)) return isGiven(value) && !(name in shown) ? [[name]] : []
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
    return Object.entries(value).flatMap(([inner, secret]) =>
      isSecretName(inner) && isGiven(secret) ? [[name, inner]] : [],
    )
  })
}

const isGiven = (secret: unknown) => typeof secret === 'string' && !hasMask(secret)

/** The object at the end of a path in a view, made when it is missing; undefined when the value is no object. */
function placeOf(view: object, [name, inner]: readonly string[]): Record<string, unknown> | undefined {
  const places = view as Record<string, unknown>
  if (inner === undefined) return places
  const place = Object.hasOwn(places, name!) ? (places[name!] ?? {}) : {}
  return typeof place === 'object' && !Array.isArray(place) ? (place as Record<string, unknown>) : undefined
}

/** A view in which given secrets say only whether there is one. */
function marked(shown: object, secrets: readonly (readonly string[])[], when: 'before' | 'after'): object {
  const view = structuredClone(shown) as Record<string, unknown>
  for (const way of secrets) {
    const [name, inner] = way as readonly [string, string?]
    const place = placeOf(view, way)!
    if (inner !== undefined) view[name] = place
    const was = inner === undefined ? (view[`masked_${name}`] ?? null) : (place[inner] ?? null)
    place[inner ?? name] = when === 'after' ? REPLACED : was === null ? null : SET
  }
  return view
}
