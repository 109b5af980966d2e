import {anyGlob} from '../base/glob.ts'
import {readModelList} from '../schema/model-lists.ts'

/** Whose list of models a call is held to, in words, and what it lets through. */
export interface ModelList {
  /** `the API key blue`. */
  readonly whose: string
  /** `slug`: of the managed provider that is called; null for one that is named by its kind. The model is without it. */
  allows(model: string, slug: string | null): boolean
}

export const keyWords = (name: string) => `the API key ${name}`
export const workspaceWords = (name: string) => `the workspace ${name}`

/** Null where the column holds no list. */
export function openModelList(whose: string, column: string | null | undefined): ModelList | null {
  const list = readModelList(column)
  if (!list) return null
  const allowed = list.allow && matcher(list.allow)
  const denied = matcher(list.deny)
  return {
    whose,
    allows(model, slug) {
      const bare = folded(model)
      const qualified = slug === null ? null : folded(`@${slug}/${model}`)
      return !denied(bare, qualified) && (allowed?.(bare, qualified) ?? true)
    },
  }
}

type Matcher = (bare: string, qualified: string | null) => boolean

/** A glob with a slug is held against the name with the slug; the name itself may begin with an at sign too (`@cf/meta/…`). */
function matcher(globs: readonly string[]): Matcher {
  const [of_provider, of_any] = [globs.filter(isQualified), globs.filter(glob => !isQualified(glob))]
  const [isQualifiedMatch, isMatch] = [of_provider, of_any].map(some => (some.length ? anyGlob(some.map(folded)) : NEVER)) as [Test, Test]
  return (bare, qualified) =>
    isMatch(bare) || (bare[0] === '@' && isQualifiedMatch(bare)) || (qualified !== null && isQualifiedMatch(qualified))
}

type Test = (text: string) => boolean
const NEVER: Test = () => false
const isQualified = (glob: string) => glob[0] === '@'

/** Engines that take a name in any case take it for the same model. */
function folded(text: string): string {
  return text.toLowerCase()
}
