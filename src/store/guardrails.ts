import type {ExpressionBuilder} from 'kysely'
import type {Seal} from '../base/seal.ts'
import type {CallTarget} from '../schema/call-targets.ts'
import type {GuardrailActions, GuardrailCheck, UnreadableBodies} from '../schema/guardrails.ts'
import type {Page, Paged} from '../schema/paging.ts'
import type {Database, Db} from './database.ts'
import {paged} from './rows.ts'
import type {GuardrailsTable, GuardrailVersionsTable} from './tables/guardrails.ts'

/** A guardrail with the version that runs. */
export type GuardrailRow = GuardrailsTable &
  Pick<GuardrailVersionsTable, 'version' | 'checks' | 'checks_sealed' | 'actions'>

/** A guardrail as a call runs it, its secrets as they are. */
export interface FoundGuardrail {
  /** The reference that names it. */
  readonly ref: string
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly version_id: string
  readonly checks: readonly GuardrailCheck[]
  readonly actions: GuardrailActions
}

/** The reach of a caller: the guardrails that its organisation shares and those of its workspace. */
export interface GuardrailPlace {
  readonly organisation_id: string
  readonly workspace_id: string
}

interface GuardrailsNamed {
  readonly refs: readonly string[]
  /** Absent: of either. */
  readonly target?: CallTarget
}

/**
 * The active guardrails that a call of the workspace names by slug or id, in their latest version; of what it does not
 * reach, or what is for calls of another kind, there is no row. For the moment of a call, never to be shown.
 */
export async function findGuardrails(
  db: Db,
  {organisation_id, workspace_id, refs, target}: GuardrailPlace & GuardrailsNamed,
  seal: Seal,
): Promise<FoundGuardrail[]> {
  if (!refs.length) return []
  const named = target === undefined ? current(db) : current(db).where('g.target', '=', target)
  const rows = await named
    .where('g.organisation_id', '=', organisation_id)
    .where(e => e.or([e('g.workspace_id', '=', workspace_id), e('g.workspace_id', 'is', null)]))
    .where(e => e.or([e('g.slug', 'in', refs), e('g.id', 'in', refs)]))
    .execute()
  return [...new Set(refs)].flatMap(ref => {
    const row = rows.find(({id, slug}) => slug === ref || id === ref)
    if (!row) return []
    const {id, slug, name, version_id} = row
    return [
      {
        ...{ref, id, slug, name, version_id, checks: openChecks(seal, row)},
        actions: JSON.parse(row.actions) as GuardrailActions,
      },
    ]
  })
}

/** Slugs or ids of what runs on every call of a kind besides: the organisation's first, each once. */
export async function findDefaultGuardrails(
  db: Db,
  {organisation_id, workspace_id}: GuardrailPlace,
  target: CallTarget = 'llm',
): Promise<{input: string[]; output: string[]; unreadable_bodies?: UnreadableBodies}> {
  const organisation = await db
    .selectFrom('organisations')
    .select('defaults')
    .where('id', '=', organisation_id)
    .executeTakeFirst()
  const workspace = await db
    .selectFrom('workspaces')
    .select('defaults')
    .where('id', '=', workspace_id)
    .where('organisation_id', '=', organisation_id)
    .executeTakeFirst()
  const values = [organisation, workspace].map(readDefaults)
  const named = [...new Set(values.flatMap(({input, output}) => [...input, ...output]))]
  const of_tools = await namedForTools(db, organisation_id, named)
  const all = (side: 'input' | 'output') =>
    [...new Set(values.flatMap(defaults => defaults[side]))].filter(
      ref => of_tools.has(ref) === (target === 'mcp_tools'),
    )
  const {unreadable_bodies} = values[1]!
  return {input: all('input'), output: all('output'), ...(unreadable_bodies && {unreadable_bodies})}
}

/** Those of the slugs and ids that name guardrails for tools. */
async function namedForTools(db: Db, organisation_id: string, refs: readonly string[]): Promise<ReadonlySet<string>> {
  if (refs.length === 0) return new Set()
  const rows = await db
    .selectFrom('guardrails')
    .select(['id', 'slug'])
    .where('organisation_id', '=', organisation_id)
    .where('target', '=', 'mcp_tools')
    .where(e => e.or([e('slug', 'in', refs), e('id', 'in', refs)]))
    .execute()
  return new Set(rows.flatMap(({id, slug}) => [id, slug]))
}

interface KeptDefaults {
  readonly input_guardrails?: string[]
  readonly output_guardrails?: string[]
  readonly unreadable_bodies?: UnreadableBodies
}

function readDefaults(row: {defaults?: string | null} | undefined) {
  const {
    input_guardrails: input = [],
    output_guardrails: output = [],
    ...kept
  } = JSON.parse(row?.defaults ?? '{}') as KeptDefaults
  return {input, output, unreadable_bodies: kept.unreadable_bodies ?? null}
}

/**
 * The columns that hold the checks of the version `id`: as they may be shown, and sealed where that is not as they are.
 */
export function sealChecks(
  seal: Seal,
  version: {readonly id: string; readonly organisation_id: string},
  checks: readonly GuardrailCheck[],
  shown: readonly GuardrailCheck[],
): Pick<GuardrailVersionsTable, 'checks' | 'checks_sealed'> {
  const [plain, masked] = [JSON.stringify(checks), JSON.stringify(shown)]
  return {
    checks: masked,
    checks_sealed: plain === masked ? null : seal.close(plain, place(version.id, version.organisation_id)),
  }
}

/** The checks of a row with their secrets as they are. */
export function openChecks(
  seal: Seal,
  row: Pick<GuardrailRow, 'version_id' | 'organisation_id' | 'checks' | 'checks_sealed'>,
): GuardrailCheck[] {
  return JSON.parse(
    row.checks_sealed ? seal.open(row.checks_sealed, place(row.version_id, row.organisation_id)) : row.checks,
  )
}

function place(row: string, organisation_id: string) {
  return {table: 'guardrail_versions', column: 'checks_sealed', row, organisation_id}
}

export async function insertGuardrail(db: Db, row: GuardrailsTable, version: GuardrailVersionsTable) {
  await db.insertInto('guardrails').values(row).execute()
  await insertGuardrailVersion(db, version)
}

export async function insertGuardrailVersion(db: Db, row: GuardrailVersionsTable) {
  await db.insertInto('guardrail_versions').values(row).execute()
}

export async function updateGuardrail(db: Db, id: string, change: Partial<GuardrailsTable>) {
  await db.updateTable('guardrails').set(change).where('id', '=', id).execute()
}

export interface GuardrailFilter {
  readonly organisation_id: string
  /** One workspace's alone; null: the organisation's own alone. */
  readonly workspace_id?: string | null | undefined
  /** With those of a workspace the organisation's own too, which its calls may name. */
  readonly with_shared?: boolean
}

/** The active guardrail whose slug or id is `named`. */
export function findGuardrail(db: Db, filter: GuardrailFilter, named: string): Promise<GuardrailRow | undefined> {
  return current(db)
    .where(e => e.and([standing(e, filter), e.or([e('g.slug', '=', named), e('g.id', '=', named)])]))
    .executeTakeFirst()
}

/** Newest first. */
export async function listGuardrails(db: Db, filter: GuardrailFilter, page: Page): Promise<Paged<GuardrailsTable>> {
  const matching = db
    .selectFrom('guardrails as g')
    .where('g.status', '=', 'active')
    .where(e => standing(e, filter))
  return paged(matching.selectAll('g').orderBy('g.created_at', 'desc').orderBy('g.id'), page)
}

/** Newest first. */
export function guardrailVersions(db: Db, guardrail_id: string): Promise<GuardrailVersionsTable[]> {
  return db
    .selectFrom('guardrail_versions')
    .selectAll()
    .where('guardrail_id', '=', guardrail_id)
    .orderBy('version', 'desc')
    .execute()
}

export async function guardrailSlugTaken(db: Db, slug: string): Promise<boolean> {
  return (await db.selectFrom('guardrails').select('id').where('slug', '=', slug).executeTakeFirst()) !== undefined
}

/**
 * Describes the users that would refuse or lose calls without the guardrail: those that have it as a default, and saved
 * configs that name it.
 */
export async function guardrailUsers(
  db: Db,
  {organisation_id, id, slug}: Pick<GuardrailsTable, 'organisation_id' | 'id' | 'slug'>,
): Promise<string[]> {
  const organisations = await db
    .selectFrom('organisations')
    .select(['name', 'defaults'])
    .where('id', '=', organisation_id)
    .execute()
  const workspaces = await db
    .selectFrom('workspaces')
    .select(['name', 'defaults'])
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .execute()
  const configs = await db
    .selectFrom('configs')
    .select(['slug', 'config'])
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .where(e => e.or([e('config', 'like', `%"${slug}"%`), e('config', 'like', `%"${id}"%`)]))
    .execute()
  const uses = (row: {defaults?: string | null}) => {
    const {input, output} = readDefaults(row)
    return [...input, ...output].some(named => named === slug || named === id)
  }
  return [
    ...organisations.filter(uses).map(({name}) => `the organisation ${JSON.stringify(name)}`),
    ...workspaces.filter(uses).map(({name}) => `the workspace ${JSON.stringify(name)}`),
    ...configs.map(config => `the config ${config.slug}`),
  ]
}

function current(db: Db) {
  return db
    .selectFrom('guardrails as g')
    .innerJoin('guardrail_versions as v', 'v.id', 'g.version_id')
    .selectAll('g')
    .select(['v.version', 'v.checks', 'v.checks_sealed', 'v.actions'])
    .where('g.status', '=', 'active')
}

function standing(
  e: ExpressionBuilder<Database & {g: GuardrailsTable}, 'g'>,
  {organisation_id, workspace_id, with_shared}: GuardrailFilter,
) {
  const ours = e('g.organisation_id', '=', organisation_id)
  if (workspace_id === undefined) return ours
  const shared = e('g.workspace_id', 'is', null)
  if (workspace_id === null) return e.and([ours, shared])
  const own = e('g.workspace_id', '=', workspace_id)
  return e.and([ours, with_shared ? e.or([own, shared]) : own])
}
