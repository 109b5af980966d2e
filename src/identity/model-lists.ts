import {anyGlob} from '../base/glob.ts'
import {readModelList} from '../schema/model-lists.ts'

/**
 * A list of models that a call is held to, and the name of its owner for messages. Plain data, as are all facts about a
 * caller.
 */
export interface ModelList {
  /** `the API key blue`. */
  readonly whose: string
  /** Null: all that is not denied. */
  readonly allow: readonly string[] | null
  readonly deny: readonly string[]
}

export const keyWords = (name: string) => `the API key ${name}`
export const workspaceWords = (name: string) => `the workspace ${name}`

/** Null where the column holds no list. */
export function openModelList(whose: string, column: string | null | undefined): ModelList | null {
  const list = readModelList(column)
  return list && {whose, ...list}
}

/**
 * True when a list admits a model, by its name at the provider. `slug`: of the managed provider; null for one that is
 * named by its kind.
 */
export function isOnList(list: ModelList, model: string, slug: string | null): boolean {
  const {allowed, denied} = compiled.get(list) ?? compile(list)
  const bare = folded(model)
  const qualified = slug === null ? null : folded(`@${slug}/${model}`)
  return !denied(bare, qualified) && (allowed?.(bare, qualified) ?? true)
}

interface Compiled {
  readonly allowed: Matcher | null
  readonly denied: Matcher
}

type Matcher = (bare: string, qualified: string | null) => boolean

/** Each list once: every call of its key is held to it. */
const compiled = new WeakMap<ModelList, Compiled>()

function compile(list: ModelList): Compiled {
  const made = {allowed: list.allow && matcher(list.allow), denied: matcher(list.deny)}
  compiled.set(list, made)
  return made
}

/**
 * A glob with a slug is held against the name with the slug; the name itself may begin with an at sign too
 * (`@cf/meta/…`).
 */
function matcher(globs: readonly string[]): Matcher {
  const isQualified = testOf(globs.filter(glob => glob[0] === '@'))
  const isBare = testOf(globs.filter(glob => glob[0] !== '@'))
  return (bare, qualified) =>
    isBare(bare) || (bare[0] === '@' && isQualified(bare)) || (qualified !== null && isQualified(qualified))
}

function testOf(globs: readonly string[]): (text: string) => boolean {
  return globs.length ? anyGlob(globs.map(folded)) : () => false
}

/** Engines that take a name in any case take it for the same model. */
function folded(text: string): string {
  return text.toLowerCase()
}
