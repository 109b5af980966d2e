import {isAlias, isPair, LineCounter, parseAllDocuments, stringify, visit} from 'yaml'
import {isObject} from '../../src/base/json-object.ts'
import {usageFault} from '../fault.ts'

export type Spec = Readonly<Record<string, unknown>>

/** The name of a resource in files: never an id. */
export interface Address {
  readonly kind: string
  /** Slug of the workspace it lives in, `default` for the default one; null for the organisation's. */
  readonly workspace: string | null
  /** Its slug, or what stands for one: the name of an API key, `provider/model` of a price. */
  readonly slug: string
}

/** A resource as a file says it; `spec` in the words of the administration, references by slug. */
export interface Resource extends Address {
  readonly spec: Spec
  /** The file that it was read from. */
  readonly file?: string
}

/** `config default/pc-main` */
export function called({kind, workspace, slug}: Address): string {
  return `${kind} ${workspace === null ? '' : `${workspace}/`}${slug}`
}

/** The text of a resource's file: the same resource is always the same text. */
export function written({kind, workspace, slug, spec}: Resource): string {
  const whole = {kind, ...(workspace !== null && {workspace}), slug, spec: sorted(spec)}
  return stringify(whole, {lineWidth: 0, aliasDuplicateObjects: false})
}

/** The resources in a file, one a YAML document. Faults name the file and the place in it; values are not echoed. */
export function read(text: string, file: string): Resource[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, {prettyErrors: false, lineCounter: lines})
  if (!Array.isArray(documents)) return []
  return documents.flatMap((document, index) => {
    const place = documents.length > 1 ? `${file} (document ${index + 1})` : file
    const [wrong] = document.errors
    if (wrong)
      throw usageFault(`${file}: line ${lines.linePos(wrong.pos[0]).line} cannot be read as YAML (${wrong.code}).`)
    let has_alias = false
    visit(document, (_, node) => {
      if (isAlias(node) || (isPair(node) && isAlias(node.key))) has_alias = true
    })
    if (has_alias) throw usageFault(`${place}: YAML aliases are not taken; write the value again.`)
    const value = document.toJS() as unknown
    return value === null || value === undefined ? [] : [resourceOf(value, place)]
  })
}

const MEMBERS = ['kind', 'workspace', 'slug', 'spec']

function resourceOf(value: unknown, file: string): Resource {
  if (!isObject(value)) throw usageFault(`${file}: expected an object with kind, slug and spec.`)
  const unknown = Object.keys(value).find(key => !MEMBERS.includes(key))
  if (unknown !== undefined)
    throw usageFault(`${file}: ${unknown.slice(0, 80)} is not known here; expected ${MEMBERS.join(', ')}.`)
  const {kind, workspace = null, slug, spec = {}} = value
  for (const [name, text] of Object.entries({kind, slug, ...(workspace !== null && {workspace})}))
    if (typeof text !== 'string' || text === '') throw usageFault(`${file}: ${name}: expected a text.`)
  if (!isObject(spec)) throw usageFault(`${file}: spec: expected an object.`)
  return {kind: kind as string, workspace: workspace as string | null, slug: slug as string, spec, file}
}

/** The same with the members of each object in the order of their names. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(key => [key, sorted(value[key])]),
  )
}

/** True when two values say the same, whatever the order of members. */
export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
}

/** `value` with every text in it put through `change`, which gets the path to it. */
export function mapTexts(
  value: unknown,
  change: (text: string, path: readonly (string | number)[]) => unknown,
  path: readonly (string | number)[] = [],
): unknown {
  if (typeof value === 'string') return change(value, path)
  if (Array.isArray(value)) return value.map((each, index) => mapTexts(each, change, [...path, index]))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, mapTexts(member, change, [...path, key])]),
  )
}

/** The value at a path; undefined for none. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, key)
        ? (at as Record<string, unknown>)[key]
        : undefined,
    value,
  )
}

/** A name as part of a path: letters, digits, `_` and `-`; one that is not so itself gets a mark of its own. */
export function fileName(name: string): string {
  if (/^[a-z0-9_-]{1,100}$/.test(name)) return name
  let mark = 0
  for (const letter of name) mark = (Math.imul(mark, 31) + letter.codePointAt(0)!) >>> 0
  const stem = name
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 80)
  return `${stem || 'x'}~${mark.toString(16).padStart(8, '0')}`
}
