/** HTTP/1.1 as goldens read it: by code of their own, since what they hold to account is the gateway's. */

const END = '\r\n\r\n'

export interface Message {
  /** The head as it came, its last line ended. */
  readonly head: string
  /** The body without its framing. */
  readonly body: Buffer
  /** False where the connection ended before the message did. */
  readonly is_whole: boolean
  /** Bytes of the message on the wire. */
  readonly size: number
}

/**
 * The message that `bytes` begin with; null while its head is not there. `has_body`: false for an answer that has none
 * by its kind.
 */
export function readMessage(bytes: Buffer, {is_over = false, has_body = true} = {}): Message | null {
  const ends = bytes.indexOf(END)
  if (ends < 0) return null
  const head = bytes.toString('latin1', 0, ends + 2)
  const start = ends + END.length
  const rest = bytes.subarray(start)
  const plain = (length: number): Message => {
    const body = rest.subarray(0, length)
    return {head, body, is_whole: body.length === length, size: start + body.length}
  }
  if (!has_body || /^HTTP\/1\.1 (1\d\d|204|304)/.test(head)) return plain(0)
  if (/\r\ntransfer-encoding: *chunked\r\n/i.test(head)) {
    const {body, is_whole, size} = unchunked(rest)
    return {head, body, is_whole, size: start + size}
  }
  const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head)?.[1]
  if (length !== undefined) return plain(Number(length))
  // an answer without either ends with its connection; a request has no body then
  return head.startsWith('HTTP/') ? {head, body: rest, is_whole: is_over, size: bytes.length} : plain(0)
}

/** The bytes of chunks. Where they were cut is not kept: that is up to the kernel as much as to who sends. */
function unchunked(bytes: Buffer): {body: Buffer; is_whole: boolean; size: number} {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return {body: Buffer.concat(parts), is_whole: false, size: bytes.length}
    const length = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (length === 0) {
      const end = bytes.indexOf('\r\n', line + 2)
      return {body: Buffer.concat(parts), is_whole: end >= 0, size: end < 0 ? bytes.length : end + 2}
    }
    parts.push(bytes.subarray(line + 2, line + 2 + length))
    at = line + 2 + length + 2
  }
}

export const chunked = (parts: readonly (Buffer | string)[]): Buffer =>
  Buffer.concat(
    parts.flatMap(part =>
      part.length
        ? [Buffer.from(`${Buffer.byteLength(part).toString(16)}\r\n`), Buffer.from(part), Buffer.from('\r\n')]
        : [],
    ),
  )

export const lines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
