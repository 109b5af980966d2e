import {createHash} from 'node:crypto'

const MAX_CHARS = 256

/**
 * A model or a namespace as entries of the cache are marked with it, so that it can be stored and compared anywhere: a
 * longer one, or one that no database takes, is its digest.
 */
export function markOf(text: string | null | undefined): string | null {
  if (!text) return null
  if (text.length <= MAX_CHARS && !text.includes('\0') && text.isWellFormed()) return text
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}
