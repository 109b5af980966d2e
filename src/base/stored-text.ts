import {createHash, hash} from 'node:crypto'

/**
 * Text of a call that is written to a store: a row, a label, the key of a counter. Databases bound what they take and
 * refuse NUL and halves of surrogate pairs; conditions and routing compare the text as it came.
 */

/** A longer model is refused; everything else is cut. */
export const MAX_MODEL_BYTES = 1024
export const MAX_ID_BYTES = 256
export const MAX_METADATA_KEY_BYTES = 256
export const MAX_METADATA_VALUE_BYTES = 1024
export const MAX_PATH_BYTES = 8192

/** A longer one is replaced by its hash in keys. */
const MAX_KEY_BYTES = 128
/** The bytes of a longer text that indexes hold, beside its hash. */
const MAX_INDEXED_BYTES = 255
/** A UTF-16 unit takes no more in UTF-8. */
const BYTES_PER_UNIT = 3
/** The prefix of a hash that replaces a text; a text that begins so itself is hashed too. */
const HASHED = 'sha256:'

const encoder = new TextEncoder()
const scratch = new Uint8Array(MAX_PATH_BYTES)

/** True when every database takes it as it is. */
export function isClean(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Without what no text column takes: NUL and halves of surrogate pairs become U+FFFD. */
export function cleaned(text: string): string {
  return isClean(text) ? text : text.replaceAll('\0', '\ufffd').toWellFormed()
}

/** Cleaned, and cut to `most_bytes` (of UTF-8, 8,192 at most) between two characters. */
export function storedText(text: string, most_bytes: number): string {
  return cleaned(cutTo(text, most_bytes))
}

/** The same where the bound holds for what was put in place of what no store takes, too. */
export function storedWord(text: string, most_bytes: number): string {
  return storedText(cleaned(text.slice(0, most_bytes)), most_bytes)
}

/** Cut alone, for who cleans the whole of what it writes at once. */
export function cutTo(text: string, most_bytes: number): string {
  if (text.length * BYTES_PER_UNIT <= most_bytes) return text
  const {read} = encoder.encodeInto(
    text.length > most_bytes ? text.slice(0, most_bytes + 1) : text,
    scratch.subarray(0, most_bytes),
  )
  return read === text.length ? text : text.slice(0, read)
}

/**
 * As keys of counters hold it: itself, or its hash where it is over 128 bytes, no database takes it, or it looks like a
 * hash.
 */
export function keyText(text: string): string {
  return isShort(text, MAX_KEY_BYTES) && isClean(text) && !text.startsWith(HASHED) ? text : hashedText(text)
}

/**
 * The hash of a text as keys hold it. What is not well-formed is hashed by its UTF-16 units: UTF-8 would make two such
 * texts one.
 */
export function hashedText(text: string): string {
  const bytes = text.isWellFormed() ? text : Buffer.from(text, 'utf16le')
  return HASHED + createHash('sha256').update(bytes).digest('hex')
}

/** As indexes hold it: itself up to 255 bytes, else so much of it and the hash of the whole. */
export function indexedText(text: string): string {
  return isShort(text, MAX_INDEXED_BYTES) ? text : `${cutTo(text, MAX_INDEXED_BYTES)}~${hash('sha256', text, 'hex')}`
}

export function isShort(text: string, most_bytes: number): boolean {
  return (
    text.length * BYTES_PER_UNIT <= most_bytes || (text.length <= most_bytes && Buffer.byteLength(text) <= most_bytes)
  )
}

/** Metadata as rows hold it: the same object where nothing has to change. */
export function storedMetadata(metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const key in metadata) if (!isStored(key, metadata[key]!)) return changedMetadata(metadata)
  return metadata
}

function isStored(key: string, value: string): boolean {
  return (
    isShort(key, MAX_METADATA_KEY_BYTES) && isShort(value, MAX_METADATA_VALUE_BYTES) && isClean(key) && isClean(value)
  )
}

function changedMetadata(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const each = Object.entries(metadata)
  return Object.fromEntries(
    each.map(([key, value]) => [storedText(key, MAX_METADATA_KEY_BYTES), storedText(value, MAX_METADATA_VALUE_BYTES)]),
  )
}
