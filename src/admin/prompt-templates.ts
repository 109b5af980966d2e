import {newId} from '../base/ids.ts'
import type {Node} from '../base/mustache/parse.ts'
import {parseTemplate, TemplateFault} from '../base/mustache/parse.ts'
import {authorOf} from '../identity/subject.ts'
import {type Prompt, readPrompt} from '../prompts/prompt.ts'
import type {PromptTemplate} from '../schema/prompts.ts'
import {giveUpSlug} from '../store/rows.ts'
import type {CollectionsTable, TemplatesTable} from '../store/tables/prompts.ts'
import {findTemplate, type TemplateTable, templateSlugTaken, updateTemplate} from '../store/templates.ts'
import type {OperationCall} from './operation.ts'
import {freeSlug, givenSlug} from './slugs.ts'
import {type CallerScope, found, invalid, visibilityOf} from './tenancy.ts'

/** The names of rows of either table. */
const OBJECTS = {prompts: 'prompt', prompt_partials: 'prompt partial'} as const

export async function reachTemplate(call: CallerScope, table: TemplateTable, named: string): Promise<TemplatesTable> {
  return found(await findTemplate(call.db, table, visibilityOf(call), named), OBJECTS[table])
}

/** A new row with its first version, which is published. */
export async function newTemplate(
  {actor, db, now}: Pick<OperationCall, 'actor' | 'db' | 'now'>,
  table: TemplateTable,
  {
    name,
    slug,
    collection,
  }: {readonly name: string; readonly slug: string | undefined; readonly collection: CollectionsTable},
): Promise<TemplatesTable> {
  const by = authorOf(actor.subject)
  const slugs = {
    taken: (slug: string) => templateSlugTaken(db, table, slug),
    giveUp: (slug: string) => giveUpSlug(db, table, collection.organisation_id, slug),
  }
  return {
    id: newId(),
    slug: slug ? await givenSlug(slug, OBJECTS[table], slugs) : await freeSlug('pp-', name, 10, slugs.taken),
    organisation_id: collection.organisation_id,
    workspace_id: collection.workspace_id,
    collection_id: collection.id,
    name,
    status: 'active',
    latest_version: 1,
    default_version: 1,
    owner_id: by,
    updated_by: by,
    created_at: now,
    last_updated_at: now,
  }
}

/** The columns that every version has. */
export function newVersion(
  {actor, now}: Pick<OperationCall, 'actor' | 'now'>,
  version: number,
  description: string | null | undefined,
) {
  return {
    id: newId(),
    version,
    description: description ?? null,
    status: 'active' as const,
    updated_by: authorOf(actor.subject),
    created_at: now,
  }
}

/** Writes a change, says what it is about, and has what is remembered of prompts forgotten. */
export async function changeTemplate(
  call: Pick<OperationCall, 'actor' | 'db' | 'now' | 'auditTarget'>,
  table: TemplateTable,
  row: TemplatesTable,
  change: Partial<TemplatesTable>,
) {
  const {actor, db, now} = call
  await updateTemplate(db, table, row.id, {...change, updated_by: authorOf(actor.subject), last_updated_at: now})
  call.auditTarget(row.id, row.workspace_id)
}

/** Refuses a `string` that cannot be read as a prompt, or as a partial. */
export function checkPrompt(template: Pick<PromptTemplate, 'string' | 'is_raw_template'>): Prompt {
  return asInvalid(() => readPrompt(template))
}

export function checkPartial(string: string): readonly Node[] {
  return asInvalid(() => parseTemplate(string))
}

function asInvalid<Read>(read: () => Read): Read {
  try {
    return read()
  } catch (fault) {
    if (fault instanceof TemplateFault) throw invalid('string', `is no template that can be rendered: ${fault.message}`)
    throw fault
  }
}
