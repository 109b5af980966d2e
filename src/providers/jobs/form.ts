import {randomUUID} from 'node:crypto'

/** A part of a form that is sent. */
export type OutPart =
  | {readonly name: string; readonly value: string}
  | {
      readonly name: string
      readonly file_name: string
      readonly content_type: string
      readonly content: AsyncIterable<Buffer>
    }

/** A `multipart/form-data` body (RFC 7578) that is sent as its parts come. */
export function formOf(parts: readonly OutPart[]): {
  readonly headers: Record<string, string>
  readonly body: AsyncIterable<Buffer>
} {
  const boundary = `form-${randomUUID()}`
  return {headers: {'content-type': `multipart/form-data; boundary=${boundary}`}, body: written(parts, boundary)}
}

async function* written(parts: readonly OutPart[], boundary: string): AsyncGenerator<Buffer> {
  for (const part of parts) {
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(part.name)}"`
    if ('value' in part) yield Buffer.from(`${head}\r\n\r\n${part.value}\r\n`)
    else {
      const type = headerText(part.content_type)
      yield Buffer.from(`${head}; filename="${quoted(part.file_name)}"\r\ncontent-type: ${type}\r\n\r\n`)
      yield* part.content
      yield Buffer.from('\r\n')
    }
  }
  yield Buffer.from(`--${boundary}--\r\n`)
}

/** As browsers write names (WHATWG HTML, multipart form data). */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** A `multipart/related` body (RFC 2387): JSON that describes the content, and the content as it comes. */
export function relatedOf(json: object, content_type: string, content: AsyncIterable<Buffer>) {
  const boundary = `related-${randomUUID()}`
  async function* body(): AsyncGenerator<Buffer> {
    const type = headerText(content_type)
    yield Buffer.from(
      `--${boundary}\r\ncontent-type: application/json; charset=utf-8\r\n\r\n${JSON.stringify(json)}\r\n`,
    )
    yield Buffer.from(`--${boundary}\r\ncontent-type: ${type}\r\n\r\n`)
    yield* content
    yield Buffer.from(`\r\n--${boundary}--\r\n`)
  }
  return {headers: {'content-type': `multipart/related; boundary=${boundary}`}, body: body()}
}

/** A content type that is safe in a header. */
export function headerText(type: string): string {
  return /^[\x20-\x7e]{1,255}$/.test(type) ? type : 'application/octet-stream'
}
