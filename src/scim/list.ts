import type {JsonObject} from '../base/json-member.ts'
import {badRequest} from './fault.ts'
import type {Filter} from './filter/filter.ts'
import {matches, valuesAt} from './filter/matches.ts'
import {readFilter} from './filter/parse.ts'
import {type MutableObject, nameIn} from './json.ts'
import {type AttributePath, readPath} from './path.ts'

/** The query of a list or a search (RFC 7644 §3.4.2). */
export interface ListQuery {
  readonly filter: Filter | null
  /** From 1. */
  readonly start_index: number
  readonly count: number
  readonly sort: {readonly path: AttributePath; readonly descends: boolean} | null
  readonly shape: Shape
}

/** The attributes that a reply shows. */
export interface Shape {
  readonly only: readonly AttributePath[] | null
  readonly without: readonly AttributePath[]
}

const USUAL = 100
const MOST = 200
const BATCH = 500
const ALWAYS: ReadonlySet<string> = new Set(['id', 'schemas'])

/** Reads the query, or the body of a search, whatever the case of its names; what is unknown is left alone. */
export function readListQuery(given: Readonly<Record<string, unknown>>): ListQuery {
  const [filter, sort_by, order] = ['filter', 'sortBy', 'sortOrder'].map(name => textOf(given, name))
  const sort = sort_by === undefined ? undefined : readPath(sort_by)
  if (sort_by !== undefined && !sort) throw badRequest('invalidPath', 'sortBy: is no attribute.')
  return {
    filter: filter === undefined || filter.trim() === '' ? null : readFilter(filter),
    start_index: Math.max(1, wholeOf(given, 'startIndex') ?? 1),
    count: Math.min(MOST, Math.max(0, wholeOf(given, 'count') ?? USUAL)),
    sort: sort ? {path: sort, descends: order?.toLowerCase() === 'descending'} : null,
    shape: readShape(given),
  }
}

export function readShape(given: Readonly<Record<string, unknown>>): Shape {
  const [only, without] = ['attributes', 'excludedAttributes'].map(name => pathsOf(given, name))
  return {only: only!.length > 0 ? only! : null, without: without!}
}

/** The rows of a kind of resource, for `listed`. */
export interface Source<Row, By> {
  /** The part of the filter that indexes know. */
  readonly by: By
  /** True where nothing is left to be judged row by row. */
  readonly is_whole: boolean
  rows(by: By, page: {readonly offset: number; readonly limit: number}): Promise<Row[]>
  count(by: By): Promise<number>
  views(rows: readonly Row[]): Promise<MutableObject[]>
}

export interface Listed {
  readonly total: number
  readonly resources: readonly MutableObject[]
}

/** One page. Where indexes know the filter the database counts and pages; else rows are judged in batches. */
export async function listed<Row, By>(query: ListQuery, source: Source<Row, By>): Promise<Listed> {
  const {filter, start_index, count, sort} = query
  const offset = start_index - 1
  if (source.is_whole && sort === null) {
    const total = await source.count(source.by)
    const rows = count === 0 ? [] : await source.rows(source.by, {offset, limit: count})
    return {total, resources: await source.views(rows)}
  }
  const all: MutableObject[] = []
  for (let at = 0; ; at += BATCH) {
    const rows = await source.rows(source.by, {offset: at, limit: BATCH})
    const views = await source.views(rows)
    all.push(...views.filter(each => filter === null || matches(each as JsonObject, filter)))
    if (rows.length < BATCH) break
    await new Promise(setImmediate) // calls are served meanwhile
  }
  if (sort) all.sort((one, other) => compared(one, other, sort.path) * (sort.descends ? -1 : 1))
  return {total: all.length, resources: all.slice(offset, offset + count)}
}

/** The resource with the attributes that the query names. */
export function shaped(resource: MutableObject, {only, without}: Shape): MutableObject {
  const kept: MutableObject = {}
  for (const [name, value] of Object.entries(resource)) {
    const is_asked = only === null || ALWAYS.has(name) || only.some(path => isNamed(path, name))
    const is_left_out = !ALWAYS.has(name) && without.some(path => path.sub === null && isNamed(path, name))
    if (is_asked && !is_left_out) kept[name] = value
  }
  return kept
}

function isNamed(path: AttributePath, name: string): boolean {
  return (path.urn ?? path.name).toLowerCase() === name.toLowerCase()
}

function compared(one: MutableObject, other: MutableObject, path: AttributePath): number {
  const [a, b] = [one, other].map(each => {
    const [value] = valuesAt(each as JsonObject, path)
    return value === undefined ? undefined : String(value).toLowerCase()
  })
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a < b ? -1 : 1
}

function textOf(given: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const key = nameIn(given as JsonObject, name)
  const value = key === undefined ? undefined : given[key]
  return typeof value === 'string' ? value : Array.isArray(value) && typeof value[0] === 'string' ? value[0] : undefined
}

function wholeOf(given: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const key = nameIn(given as JsonObject, name)
  const value = key === undefined ? undefined : given[key]
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^-?\d{1,9}$/.test(value)
        ? Number(value)
        : undefined
  return number === undefined ? undefined : Math.trunc(number)
}

function pathsOf(given: Readonly<Record<string, unknown>>, name: string): readonly AttributePath[] {
  const key = nameIn(given as JsonObject, name)
  const value = key === undefined ? undefined : given[key]
  const names = Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value.split(',') : []
  return names.flatMap(each => readPath(each.trim()) ?? [])
}
