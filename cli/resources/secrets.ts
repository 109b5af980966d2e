import {dirname, isAbsolute, join} from 'node:path'
import {mask} from '../../src/schema/secrets.ts'
import {fieldPath} from '../../src/schema/validation-message.ts'
import {fileReason, usageFault} from '../fault.ts'
import {mapTexts, type Resource, type Spec, same, valueAt} from './document.ts'

type Path = readonly (string | number)[]

/** Which texts of a resource may be secrets. */
export interface SecretPlaces {
  /** Members of `spec` with masks of secrets below them. */
  readonly below: readonly string[]
  /** True for a text that is certainly a secret: a file may not hold it in plain. */
  isSecret(path: Path): boolean
  /** True when secrets would go elsewhere by `after`: the gateway then wants each of them again. */
  moves?(before: Spec, after: Spec): boolean
}

const MASK = /^(?:.{3}•{5}.{4}|•{5})$/u
const REFERENCE = /^\$\{(env|file):([^}]+)\}$/

/** True for a text that stands for a secret somewhere else. */
export function isReference(value: unknown): value is string {
  return typeof value === 'string' && REFERENCE.test(value)
}

/**
 * `spec` as a file may hold it: each mask of a secret turned into a reference, the one that the file `before` had there
 * or one made of the resource's name.
 */
export function withReferences(
  {kind, workspace, slug, spec}: Resource,
  places: SecretPlaces,
  before: Spec | undefined,
): Spec {
  return mapTexts(spec, (text, path) => {
    if (!places.below.includes(String(path[0]))) return text
    if (/^\$+\{(env|file):/.test(text)) return `$${text}`
    if (!MASK.test(text)) return text
    const known = valueAt(before, path)
    if (isReference(known)) return known
    const at = path[0] === 'configurations' || path[0] === 'model_config' ? path.slice(1) : path
    const words = ['secret', kind, ...(workspace === null || workspace === 'default' ? [] : [workspace]), slug, ...at]
    return `\${env:${words
      .join('_')
      .replace(/[^a-zA-Z0-9]+/g, '_')
      .toUpperCase()}}`
  }) as Spec
}

/** The values of references. */
export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readFile(path: string): string
  /** Every secret that has a value is written, also one that looks as it was. */
  readonly rewrites: boolean
  /** Every secret that was read is put in here, so that none is shown. */
  readonly seen: Set<string>
}

/**
 * `spec` as it is sent: each reference resolved; one without a value, or with the value that is kept already, turned
 * into the mask of what is kept, which the gateway puts back. Refuses a secret in the file itself, and a
 * reference without a value, or with a mask for another place than it is kept for.
 */
export function resolved(
  resource: Resource,
  places: SecretPlaces,
  current: Spec | undefined,
  sources: SecretSources,
): Spec {
  const {spec, file = 'the file'} = resource
  const moves = current !== undefined && places.moves?.(current, spec) === true
  return mapTexts(spec, (text, path) => {
    if (!places.below.includes(String(path[0]))) return text
    const found = REFERENCE.exec(text)
    const place = `${file}: spec.${fieldPath(path)}`
    if (!found) {
      if (text && places.isSecret(path))
        throw usageFault(`${place}: holds a secret.`, 'Write ${env:NAME} or ${file:path}, and keep the secret there.')
      return text.replace(/^\$(\$+\{(?:env|file):)/, '$1')
    }
    const value = lookUp(found[1]!, found[2]!, file, place, sources)
    const kept = valueAt(current, path)
    const is_kept = typeof kept === 'string' && MASK.test(kept)
    if (value === undefined) {
      if (is_kept && !moves && standsAsItDid(spec, current, path)) return kept
      throw usageFault(
        `${place}: ${text} has no value${is_kept ? ', and what stands beside it has changed' : ''}.`,
        'Set it, and apply again.',
      )
    }
    sources.seen.add(value)
    const looks_kept = is_kept && mask(value) === kept && value.length >= 16 && !sources.rewrites && !moves
    return looks_kept ? kept : value
  }) as Spec
}

/**
 * In a list a secret is known by its place alone; it is known again only where its list has the same length and its
 * entry says the same.
 */
function standsAsItDid(spec: Spec, current: Spec | undefined, path: Path): boolean {
  const hidden = (value: unknown) => mapTexts(value, text => (isReference(text) || MASK.test(text) ? null : text))
  return path.every((key, index) => {
    if (typeof key !== 'number') return true
    const [one, other] = [valueAt(spec, path.slice(0, index)), valueAt(current, path.slice(0, index))] as unknown[][]
    return one?.length === other?.length && same(hidden(one?.[key]), hidden(other?.[key]))
  })
}

function lookUp(
  source: string,
  name: string,
  file: string,
  place: string,
  {env, readFile}: SecretSources,
): string | undefined {
  if (source === 'env') return env[name]?.trim() || undefined
  const path = isAbsolute(name) ? name : join(dirname(file.replace(/ \(document \d+\)$/, '')), name)
  try {
    return readFile(path).trim() || undefined
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw usageFault(`${place}: the file of the secret cannot be read: ${fileReason(cause)}.`)
  }
}
