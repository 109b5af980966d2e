import {DraftFault} from './draft.ts'

const SLUG = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

/** `name` when it is a slug. */
export function slugIn(name: string): string {
  if (SLUG.test(name)) return name
  const like = dashed(name)
  const example = SLUG.test(like) ? `, for example ${like}` : ''
  throw new DraftFault(`${JSON.stringify(name)} is not a slug: use small letters, digits and dashes${example}.`)
}

/** `starts-with` and `starts_with` as `startsWith`. */
export function camel(name: string): string {
  return name.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** `startsWith` and `starts_with` as `starts-with`. */
export function dashed(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/[_\s.]+/g, '-')
    .toLowerCase()
}

/** `starts-with` as `Starts with`. */
export function title(name: string): string {
  const words = name.replaceAll(/[-_]/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** One of several: `widgets` as `widget`, `policies` as `policy`. */
export function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/s$/, '')
}
