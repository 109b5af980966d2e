import type {PromptTemplate} from '../schema/prompts.ts'
import type {Db} from './database.ts'
import type {PartialVersionsTable, PromptLabelsTable, PromptsTable, PromptVersionsTable} from './tables/prompts.ts'

/** Which version of a prompt is meant: a number, the newest, the published one, or the one that bears a label. */
export type Selector = number | 'latest' | 'default' | {readonly label: string}

export async function insertPromptVersion(db: Db, row: PromptVersionsTable) {
  await db.insertInto('prompt_versions').values(row).execute()
}

export async function insertPartialVersion(db: Db, row: PartialVersionsTable) {
  await db.insertInto('prompt_partial_versions').values(row).execute()
}

/** The active version of a prompt that is meant. */
export async function findPromptVersion(
  db: Db,
  prompt: Pick<PromptsTable, 'id' | 'workspace_id' | 'latest_version' | 'default_version'>,
  meant: Selector,
): Promise<PromptVersionsTable | undefined> {
  const version =
    typeof meant === 'object'
      ? await labelledVersion(db, prompt, meant.label)
      : meant === 'latest'
        ? prompt.latest_version
        : meant === 'default'
          ? prompt.default_version
          : meant
  if (version === undefined) return undefined
  return db
    .selectFrom('prompt_versions')
    .selectAll()
    .where('prompt_id', '=', prompt.id)
    .where('version', '=', version)
    .where('status', '=', 'active')
    .executeTakeFirst()
}

export function findPromptVersionById(db: Db, prompt_id: string, id: string): Promise<PromptVersionsTable | undefined> {
  return db
    .selectFrom('prompt_versions')
    .selectAll()
    .where('prompt_id', '=', prompt_id)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Newest first. */
export function promptVersions(db: Db, prompt_id: string): Promise<PromptVersionsTable[]> {
  return db
    .selectFrom('prompt_versions')
    .selectAll()
    .where('prompt_id', '=', prompt_id)
    .orderBy('version', 'desc')
    .execute()
}

/** The models of the published versions, by id of the prompt. */
export async function publishedModels(
  db: Db,
  prompts: readonly PromptsTable[],
): Promise<ReadonlyMap<string, string | null>> {
  if (!prompts.length) return new Map()
  const rows = await db
    .selectFrom('prompt_versions as v')
    .innerJoin('prompts as p', join =>
      join.onRef('p.id', '=', 'v.prompt_id').onRef('p.default_version', '=', 'v.version'),
    )
    .select(['p.id', 'v.template'])
    .where(
      'p.id',
      'in',
      prompts.map(({id}) => id),
    )
    .execute()
  return new Map(rows.map(({id, template}) => [id, (JSON.parse(template) as PromptTemplate).model]))
}

async function labelledVersion(
  db: Db,
  prompt: Pick<PromptsTable, 'id' | 'workspace_id'>,
  label: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('prompt_labels as a')
    .innerJoin('labels as l', 'l.id', 'a.label_id')
    .select('a.version')
    .where('a.prompt_id', '=', prompt.id)
    .where('l.name', '=', label)
    .where('l.status', '=', 'active')
    .where(e => e.or([e('l.workspace_id', '=', prompt.workspace_id), e('l.workspace_id', 'is', null)]))
    .executeTakeFirst()
  return row === undefined ? undefined : Number(row.version)
}

/** The labels of a prompt's versions, the last given first. */
export function promptLabels(db: Db, prompt_id: string): Promise<PromptLabelsTable[]> {
  return db
    .selectFrom('prompt_labels')
    .selectAll()
    .where('prompt_id', '=', prompt_id)
    .orderBy('assigned_at', 'desc')
    .orderBy('label_id')
    .execute()
}

/** Gives a version a label, which no other version of the prompt has then. */
export async function assignLabel(db: Db, row: PromptLabelsTable) {
  const {version, assigned_at} = row
  await db
    .insertInto('prompt_labels')
    .values(row)
    .onConflict(conflict => conflict.columns(['prompt_id', 'label_id']).doUpdateSet({version, assigned_at}))
    .execute()
}

export async function clearLabels(db: Db, prompt_id: string, version: number) {
  await db.deleteFrom('prompt_labels').where('prompt_id', '=', prompt_id).where('version', '=', version).execute()
}

/** The active version of a partial. */
export function findPartialVersion(
  db: Db,
  partial_id: string,
  version: number,
): Promise<PartialVersionsTable | undefined> {
  return db
    .selectFrom('prompt_partial_versions')
    .selectAll()
    .where('partial_id', '=', partial_id)
    .where('version', '=', version)
    .where('status', '=', 'active')
    .executeTakeFirst()
}

/** Newest first. */
export function partialVersions(db: Db, partial_id: string): Promise<PartialVersionsTable[]> {
  return db
    .selectFrom('prompt_partial_versions')
    .selectAll()
    .where('partial_id', '=', partial_id)
    .orderBy('version', 'desc')
    .execute()
}
