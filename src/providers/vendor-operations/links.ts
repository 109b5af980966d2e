import {readString, walkStrings} from '../../base/json-strings.ts'
import type {ReplyLink} from './operation.ts'

/**
 * Headers with the address that a client sends a file's bytes to (Google's resumable uploads), whatever they come with.
 */
const UPLOAD = ['x-goog-upload-url', 'x-goog-upload-control-url'] as const
/** The older form of the same tells it as any reply tells a place. */
const UPLOAD_ANSWERED = [...UPLOAD, 'location'] as const

/** Headers of a reply in which an address may be that its client calls next. */
export function linkHeaders(links: ReplyLink | null): readonly string[] {
  return links === 'upload' ? UPLOAD_ANSWERED : UPLOAD
}

/** The address by which the client reached us; null when it is not known. */
export interface LinkReader {
  readonly origin: string | null
  /** The request's own path. */
  readonly url: string
}

const RESULTS = 'results_url'
const BATCHES = '/messages/batches'
/** A path of Anthropic's message batches (platform.claude.com/docs, Message Batches). */
const RESULTS_PATH = /\/messages\/batches\/[^/?#]+\/results$/
const ABSOLUTE = /^[a-z][a-z\d+.-]*:|^\/\//i

/**
 * JSON with each absolute `results_url` as one of ours: the client fetches it with its key, which is ours and no other
 * host is to have. One that is no path of results becomes null. What is not read as JSON stays as it is, for no client
 * reads it either.
 */
export function withOwnLinks(
  bytes: Buffer,
  {origin, url}: LinkReader,
): {readonly bytes: Buffer; readonly changed: string | null} {
  const before = url.slice(0, Math.max(url.indexOf(BATCHES), 0))
  const pieces: Buffer[] = []
  let from = 0
  let dropped = 0
  for (const {start, end} of valuesOf(bytes, RESULTS)) {
    const value = text(bytes, start, end)
    if (value === undefined || !ABSOLUTE.test(value)) continue
    const tail = URL.canParse(value) ? RESULTS_PATH.exec(new URL(value).pathname)?.[0] : undefined
    const own = tail === undefined || origin === null ? null : origin + before + tail
    if (own === null) dropped++
    pieces.push(bytes.subarray(from, start), Buffer.from(JSON.stringify(own)))
    from = end
  }
  if (pieces.length === 0) return {bytes, changed: null}
  const changed =
    dropped > 0
      ? `${RESULTS} was left out of the reply, as it leads to another place`
      : `${RESULTS} leads to the gateway`
  return {bytes: Buffer.concat([...pieces, bytes.subarray(from)]), changed}
}

/** The string values of a key, at any depth. */
function valuesOf(bytes: Buffer, name: string): readonly {readonly start: number; readonly end: number}[] {
  const found: {start: number; end: number}[] = []
  let is_next = false
  for (const at of walkStrings(bytes, 0, bytes.length)) {
    if (!at) continue
    if (at.is_key) is_next = text(bytes, at.start, at.end) === name
    else {
      if (is_next) found.push({start: at.start, end: at.end})
      is_next = false
    }
  }
  return found
}

function text(bytes: Buffer, start: number, end: number): string | undefined {
  const read = readString(bytes, start, end)
  for (;;) {
    const {done, value} = read.next()
    if (done) return value
  }
}
