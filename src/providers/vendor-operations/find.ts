import {LRUCache} from 'lru-cache'
import type {CalledOperation, VendorOperation} from './operation.ts'
import {VENDOR_OPERATIONS} from './table.ts'

interface Pattern {
  readonly operation: VendorOperation
  readonly whole: RegExp
  /** For a path that is known by its end. */
  readonly end: RegExp | null
}

/** A path that is written out goes before one that leaves a segment open: `/threads/runs` is no thread. */
const PATTERNS: readonly Pattern[] = VENDOR_OPERATIONS.toSorted((one, other) => openness(one) - openness(other)).map(
  operation => {
    const body = expression(operation.path)
    return {operation, whole: new RegExp(`^${body}$`), end: operation.anywhere ? new RegExp(`${body}$`) : null}
  },
)

const ofMethod = Map.groupBy(PATTERNS, ({operation}) => operation.method as string)

/**
 * Parts of a path before an operation: versions, once or repeated, and names that some vendors put before OpenAI's
 * paths.
 */
const PREFIX = /^(?:\/(?:v\d+(?:(?:alpha|beta)\d*)?|openai|api(?=\/v\d)|inference(?=\/v\d)))+(?=\/)/
/** Paths differ by the ids in them; more than so many are not remembered. */
const MOST_REMEMBERED = 2048
const LONGEST_REMEMBERED = 256
const remembered = new LRUCache<string, {found: CalledOperation | null}>({max: MOST_REMEMBERED})

/**
 * The operation that a call means, by a kind of provider's own path after `/v1`, without its query; null for one that
 * the table does not know. Percent-encoding hides nothing: `/%63hat/completions` is chat.
 */
export function vendorOperation(kind: string, method: string, path: string): CalledOperation | null {
  if (path.length > LONGEST_REMEMBERED) return search(kind, method, path)
  const key = `${kind} ${method} ${path}`
  const known = remembered.get(key)
  if (known) return known.found
  const found = search(kind, method, path)
  remembered.set(key, {found})
  return found
}

/** True for a path that is an operation of Google's own API, at any provider. */
export function isGoogleOperation(method: string, path: string): boolean {
  return vendorOperation('google', method, path)?.operation.kinds.includes('google') ?? false
}

function search(kind: string, method: string, path: string): CalledOperation | null {
  const plain = withoutRepeats(decoded(path))
  const bare = plain.replace(PREFIX, '')
  const all = ofMethod.get(method) ?? []
  const of_all = all.filter(({operation}) => operation.kinds === 'all')
  const of_kind = all.filter(({operation}) => operation.kinds !== 'all' && operation.kinds.includes(kind))
  return match(of_kind, plain, bare) ?? match(of_all, plain, bare) ?? matchEnd(of_all, bare)
}

function match(patterns: readonly Pattern[], plain: string, bare: string): CalledOperation | null {
  for (const {operation, whole} of patterns) {
    const found = whole.exec(bare) ?? whole.exec(plain)
    if (found) return called(operation, found)
  }
  return null
}

function matchEnd(patterns: readonly Pattern[], path: string): CalledOperation | null {
  for (const {operation, end} of patterns) {
    const found = end?.exec(path)
    if (found) return called(operation, found)
  }
  return null
}

function called(operation: VendorOperation, {groups}: RegExpExecArray): CalledOperation {
  const model = groups?.model
  // The one segment of Vertex AI's endpoints that is no model: OpenAI's words are below it.
  return {operation, path_model: model === undefined || model === 'openapi' ? null : model}
}

/**
 * `//` and a slash at the end are written by clients whose base has one; a server reads them as if they were not there.
 */
function withoutRepeats(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}

/** Escapes of ASCII, once: what stands for nothing stays. */
function decoded(path: string): string {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return path.replace(/%[0-7][\da-f]/gi, code => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
  }
}

function openness({path}: VendorOperation): number {
  return path.split(/[{*]/).length - 1 + (path.includes('+}') || path.includes('*') ? 10 : 0)
}

function expression(path: string): string {
  return path
    .replace(/[.+?^$()[\]|\\*](?![^{]*\})/g, '\\$&')
    .replaceAll('{model}', '(?<model>[^/]+?)')
    .replaceAll('{model+}', '(?<model>.+?)')
    .replaceAll('{@model+}', '(?<model>@.+?)')
    .replaceAll('{id}', '[^/]+')
    .replaceAll('\\*', '.+')
}
