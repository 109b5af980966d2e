import {dispositionParameter, plainParameter} from './multipart-head.ts'

/** The head of a part. */
export interface PartHead {
  readonly name: string
  /** The same for readers that know of no other character sets; it differs from `name` where a head gives both. */
  readonly plain_name: string
  /** Null for a plain field. */
  readonly file_name: string | null
  readonly content_type: string | null
  /** Its content has a coding of its own. */
  readonly is_coded: boolean
}

/** A part of a form that was read whole: its head, and the range of its content. */
export interface FormSpan extends PartHead {
  readonly start: number
  readonly end: number
}

export const MAX_PART_HEAD = 16 << 10
export const MAX_PARTS = 1000
const PLAIN_CODINGS = /^(?:7bit|8bit|binary)$/i

/**
 * The parts of a `multipart` body (RFC 2046, 7578). Null where it is not well formed: two readers could find different
 * parts in it.
 */
export function formParts(body: Buffer, content_type: string): readonly FormSpan[] | null {
  const first = formBoundary(content_type)
  if (first === null) return null
  const mark = Buffer.concat([LINE_END, first])
  let at = body.subarray(0, first.length).equals(first) ? first.length : behind(body.indexOf(mark), mark)
  const parts: FormSpan[] = []
  while (at >= 0 && parts.length < MAX_PARTS) {
    if (body.toString('latin1', at, at + 2) === '--') return parts
    const head_end = body.indexOf(HEAD_END, at)
    if (head_end < 0 || head_end - at > MAX_PART_HEAD) return null
    const head = body.toString('latin1', at, head_end)
    const start = head_end + HEAD_END.length
    // an empty part ends with the line end that ends its head
    const end = body.indexOf(mark, start - LINE_END.length)
    if (!isPartHead(head) || end < 0) return null
    parts.push({...partHead(head), start: Math.min(start, end), end})
    at = end + mark.length
  }
  return null
}

/** The bytes before each part, the line end apart; null when a content type names no boundary, or several. */
export function formBoundary(content_type: string): Buffer | null {
  const named = [...content_type.matchAll(/;\s*boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/gi)]
  return named.length === 1 ? Buffer.from(`--${named[0]![1] ?? named[0]![2]}`, 'latin1') : null
}

/** A head that all readers understand alike. */
export function isPartHead(text: string): boolean {
  return HEAD.test(text) && (text.match(DISPOSITIONS)?.length ?? 0) <= 1
}

export function partHead(text: string): PartHead {
  const disposition = text.match(DISPOSITIONS)?.[0] ?? ''
  const coding = /^content-transfer-encoding:\s*(\S*)/im.exec(text)?.[1]
  return {
    name: dispositionParameter(disposition, 'name') ?? '',
    plain_name: plainParameter(disposition, 'name') ?? '',
    file_name: dispositionParameter(disposition, 'filename'),
    content_type: /^content-type:\s*([^\r\n]+)/im.exec(text)?.[1]?.trim() ?? null,
    is_coded: coding !== undefined && !PLAIN_CODINGS.test(coding),
  }
}

const DISPOSITIONS = /^content-disposition:.*$/gim
const LINE_END = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
/** Blanks behind the boundary, and lines each of which is a field, none of them folded. */
const HEAD = /^[ \t]*(?:\r\n[!#$%&'*+\-.^_`|~\w]+:[^\r\n]*)*$/

const behind = (at: number, mark: Buffer) => (at < 0 ? -1 : at + mark.length)

/** `body` with the content of a part replaced, every other byte as it was. */
export function withField(body: Buffer, {start, end}: Pick<FormSpan, 'start' | 'end'>, value: string): Buffer {
  return Buffer.concat([body.subarray(0, start), Buffer.from(value), body.subarray(end)])
}
