/** Where a plain form field's value stands in a multipart body. */
export interface FieldSpan {
  readonly value: string
  readonly start: number
  readonly end: number
}

/**
 * The first form field called `name` in a `multipart/form-data` body (RFC 7578); parts with a file name are passed over.
 * Undefined when there is none or the body is not well formed: the provider judges the form.
 */
export function formField(body: Buffer, contentType: string, name: string): FieldSpan | undefined {
  const boundary = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType)
  if (!boundary) return undefined
  const mark = Buffer.from(`--${boundary[1] ?? boundary[2]}`)
  let at = body.indexOf(mark)
  while (at >= 0) {
    const head = at + mark.length + 2
    const start = body.indexOf('\r\n\r\n', head - 2)
    if (start < 0 || start - head > MAX_PART_HEAD) return undefined
    const next = body.indexOf(mark, start + 4)
    if (next < 0) return undefined
    const disposition = /content-disposition:\s*form-data\s*;([^\r\n]*)/i.exec(body.toString('latin1', head - 2, start))?.[1] ?? ''
    const named = /(?:^|;)\s*name="([^"]*)"/i.exec(disposition)?.[1] ?? /(?:^|;)\s*name=([^\s;"]+)/i.exec(disposition)?.[1]
    if (named === name && !/(?:^|;)\s*filename\*?=/i.test(disposition)) {
      return {value: body.toString('utf8', start + 4, next - 2), start: start + 4, end: next - 2}
    }
    at = next
  }
  return undefined
}

const MAX_PART_HEAD = 16 << 10

/** `body` with a field's value replaced, every other byte as it was. */
export function withField(body: Buffer, {start, end}: FieldSpan, value: string): Buffer {
  return Buffer.concat([body.subarray(0, start), Buffer.from(value), body.subarray(end)])
}
