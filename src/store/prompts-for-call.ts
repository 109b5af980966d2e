import type {PromptTemplate} from '../schema/prompts.ts'
import type {VisibleTo} from './collections.ts'
import type {Db} from './database.ts'
import {findPartialVersion, findPromptVersion, type Selector} from './prompts.ts'
import {findTemplate} from './templates.ts'

/** A version of a prompt, as a call runs it. */
export interface FoundPrompt {
  readonly id: string
  readonly slug: string
  readonly workspace_id: string
  readonly version: number
  readonly version_id: string
  readonly template: PromptTemplate
}

/** The version that is meant of the active prompt whose slug or id is `named`; undefined where either is not there. */
export async function findPromptForCall(
  db: Db,
  reach: VisibleTo,
  named: string,
  meant: Selector,
): Promise<FoundPrompt | undefined> {
  const prompt = await findTemplate(db, 'prompts', reach, named)
  const version = prompt && (await findPromptVersion(db, prompt, meant))
  if (!version) return undefined
  const {id, slug, workspace_id} = prompt
  const template = JSON.parse(version.template) as PromptTemplate
  return {id, slug, workspace_id, version: version.version, version_id: version.id, template}
}

/** The text of an active partial of the workspace; undefined where there is none of that name and version. */
export async function findPartialForCall(
  db: Db,
  reach: VisibleTo,
  {name, version}: {readonly name: string; readonly version: number | 'latest' | 'default'},
): Promise<string | undefined> {
  const partial = await findTemplate(db, 'prompt_partials', reach, name)
  if (!partial) return undefined
  const number =
    version === 'latest' ? partial.latest_version : version === 'default' ? partial.default_version : version
  return (await findPartialVersion(db, partial.id, number))?.string
}
