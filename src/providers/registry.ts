import {nearest} from '../base/nearest.ts'
import {clouds} from './catalog/clouds.ts'
import {compatible} from './catalog/compatible.ts'
import {engines} from './catalog/engines.ts'
import {native} from './catalog/native.ts'
import {demo} from './demo/index.ts'
import type {Provider} from './provider.ts'

/** The slug of the provider that echoes, for code that sets it up. */
export const DEMO = demo.slug

/** Other names that are understood and never listed (decisions: providers). */
const ALIASES: Readonly<Record<string, string>> = {'open-ai': 'openai', 'hugging-face': 'huggingface'}

const ALL: readonly Provider[] = [...compatible, ...native, ...clouds, ...engines, demo].toSorted((one, other) =>
  one.slug < other.slug ? -1 : 1,
)
const BY_SLUG: ReadonlyMap<string, Provider> = new Map(ALL.map(provider => [provider.slug, provider]))
const MAX_NEAR = 3

/** The provider of this slug or alias; undefined when there is none. */
export function find(slug: string): Provider | undefined {
  return BY_SLUG.get(Object.hasOwn(ALIASES, slug) ? ALIASES[slug]! : slug)
}

/** Every provider, by slug. */
export function list(): readonly Provider[] {
  return ALL
}

/** Up to three slugs most like `slug`, the likest first; none when nothing is like it. */
export function nearestSlugs(slug: string): readonly string[] {
  const left = new Set(BY_SLUG.keys())
  const near: string[] = []
  while (near.length < MAX_NEAR) {
    const found = nearest(slug, left)
    if (found === undefined) break
    near.push(found)
    left.delete(found)
  }
  return near
}
