/** What a gateway asks of the provider, as far as an answer depends on it. */
export interface Asked {
  readonly path: string
  readonly is_stream: boolean
  /** The credential that came, without its scheme. */
  readonly key: string
  /** Request line and headers as they came. */
  readonly head: string
}

/** Bytes of one answer, and what becomes of the connection behind them. */
export interface HostileReply {
  /** Each piece leaves by itself, and the next only once the socket took it. A string is UTF-8. */
  readonly pieces: Iterable<Buffer | string>
  /** `keeps`: the next request may come. `ends`: FIN. `resets`: RST. `waits`: nothing more comes, for ever. */
  readonly after: 'keeps' | 'ends' | 'resets' | 'waits'
}

export type Play = (asked: Asked) => HostileReply

/** Cases of one kind by name; a name is part of a model's name, so it has small letters, digits and hyphens only. */
export type CaseTable = Readonly<Record<string, Play>>

interface HeadParts {
  readonly status?: string
  /** Null: no content type. */
  readonly type?: string | null
  /** Further lines of the head; Latin-1, as the wire has them. */
  readonly lines?: readonly string[]
}

/** A head with these lines and the blank one behind them. It says nothing of the body's length. */
export function head({status = '200 OK', type = 'application/json', lines = []}: HeadParts = {}): Buffer {
  const of_type = type === null ? [] : [`Content-Type: ${type}`]
  return Buffer.from([`HTTP/1.1 ${status}`, ...of_type, ...lines, '', ''].join('\r\n'), 'latin1')
}

/** A body with its true length. */
export function whole(body: Buffer | string, {lines = [], ...parts}: HeadParts = {}): HostileReply {
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  return {pieces: [Buffer.concat([head({...parts, lines: [...lines, length]}), Buffer.from(body)])], after: 'keeps'}
}

/** A body in chunks, one for each piece, and the chunk that ends it. */
export function chunked(pieces: Iterable<Buffer | string>, {lines = [], ...parts}: HeadParts = {}): HostileReply {
  function* all() {
    yield head({...parts, lines: [...lines, 'Transfer-Encoding: chunked']})
    for (const piece of pieces) if (piece.length > 0) yield chunk(piece)
    yield '0\r\n\r\n'
  }
  return {pieces: all(), after: 'keeps'}
}

/** A body that ends where the connection does. */
export function untilClosed(pieces: Iterable<Buffer | string>, {lines = [], ...parts}: HeadParts = {}): HostileReply {
  function* all() {
    yield head({...parts, lines: [...lines, 'Connection: close']})
    yield* pieces
  }
  return {pieces: all(), after: 'ends'}
}

export function chunk(piece: Buffer | string): Buffer {
  const bytes = Buffer.from(piece)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

/** Exactly these bytes. */
export const raw = (pieces: Iterable<Buffer | string>, after: HostileReply['after'] = 'ends'): HostileReply => ({
  pieces,
  after,
})
