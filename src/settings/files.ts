import {closeSync, openSync, readSync} from 'node:fs'
import {isMap, isScalar, isSeq, LineCounter, parseDocument} from 'yaml'

const MAX_BYTES = 2 ** 20

/** Gives the text of a file, or throws an error with a `code` as node:fs does. */
export type ReadFile = (path: string) => string

/** The text of a file of at most 1 MiB; a pipe will do, a longer file (or a device without end) throws EFBIG. */
export const readText: ReadFile = path => {
  const descriptor = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(MAX_BYTES + 1)
    let length = 0
    for (let read = -1; read !== 0 && length <= MAX_BYTES; length += read)
      read = readSync(descriptor, buffer, length, buffer.length - length, null)
    if (length > MAX_BYTES) throw Object.assign(new Error('file too large'), {code: 'EFBIG'})
    return buffer.toString('utf8', 0, length)
  } finally {
    closeSync(descriptor)
  }
}

/** The reason why reading failed, to follow "cannot be read:". */
export function reason(error: unknown): string {
  const code = codeOf(error)
  return REASONS[code] ?? `the system says ${code || 'no more'}`
}

export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error))
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'this process may not read it',
  EPERM: 'this process may not read it',
  EISDIR: 'it is a directory',
  EFBIG: 'it is larger than 1 MiB',
}

/** A value of the settings file: its text as written, and whether it stood as a list. */
export interface FileEntry {
  readonly text: string
  readonly list: boolean
}

/**
 * The entries of a settings file: key → text, or list of texts joined by commas. Numbers and booleans keep their
 * spelling; an empty value and `null` are left out. Faults are named by line, never by content, for it may hold
 * secrets.
 */
export function parseEntries(yaml: string): {entries: Map<string, FileEntry>; wrong: string[]} {
  const lines = new LineCounter()
  const document = parseDocument(yaml, {prettyErrors: false, lineCounter: lines})
  const line = (offset: number | undefined) => lines.linePos(offset ?? 0).line
  const entries = new Map<string, FileEntry>()
  if (document.errors.length > 0) {
    return {
      entries,
      wrong: document.errors.slice(0, 5).map(({code, pos}) => `line ${line(pos[0])} is not valid YAML (${code})`),
    }
  }
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null))
    return {entries, wrong: []}
  if (!isMap(document.contents)) return {entries, wrong: ['it holds no settings; write one "key: value" a line']}
  const wrong: string[] = []
  for (const {key, value} of document.contents.items) {
    const name = scalarText(key)
    const at = `line ${line(isScalar(key) ? key.range?.[0] : 0)}`
    if (name === undefined) wrong.push(`${at} has a key that is no text`)
    else if (value === null || isScalar(value)) {
      const text = scalarText(value)
      if (text) entries.set(name, {text, list: false})
    } else {
      const texts = isSeq(value) ? value.items.map(scalarText) : [undefined]
      if (texts.includes(undefined))
        wrong.push(`${at}: ${JSON.stringify(name.slice(0, 80))} takes a text, a number or a plain list, nothing nested`)
      else entries.set(name, {text: texts.join(','), list: true})
    }
  }
  return {entries, wrong}
}

function scalarText(node: unknown): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
