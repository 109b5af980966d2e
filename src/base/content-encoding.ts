import {promisify} from 'node:util'
import {brotliDecompress, constants, gunzip, inflate, zstdDecompress} from 'node:zlib'

const MAX_BYTES = 32 << 20
/** Real senders encode a body no more often, and each time multiplies its possible size. */
const MAX_CODINGS = 3

/**
 * A `content-encoding` as it is read everywhere here: names in lower case in the order in which they were applied, each
 * by its usual name, without those that change nothing; null where none is left (RFC 9110, 8.4: names have no case, and
 * `x-gzip` is `gzip`).
 */
export function encodingOf(header: string | null | undefined): string | null {
  if (header === undefined || header === null || header === '') return null
  if (header === 'gzip' || header === 'br') return header
  const names = header
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '' && name !== 'identity')
  return names.length === 0 ? null : names.map(name => (name === 'x-gzip' ? 'gzip' : name)).join(',')
}

/**
 * The decoders for an encoding, as `encodingOf` gives it, in the order in which they are to be applied; null where one
 * is not known.
 */
export function decodersFor<T>(encoding: string, by: Readonly<Record<string, T>>): readonly T[] | null {
  const names = encoding.split(',')
  if (names.length > MAX_CODINGS || !names.every(name => Object.hasOwn(by, name))) return null
  return names.map(name => by[name]!).toReversed()
}

/** A body that was cut ends in the middle of its stream: what is there of it is read. */
const FLUSH = {maxOutputLength: MAX_BYTES, finishFlush: constants.Z_SYNC_FLUSH}
const DECODERS: Readonly<Record<string, (bytes: Uint8Array) => Promise<Buffer>>> = {
  gzip: bytes => promisify(gunzip)(bytes, FLUSH),
  deflate: bytes => promisify(inflate)(bytes, FLUSH),
  br: bytes =>
    promisify(brotliDecompress)(bytes, {maxOutputLength: MAX_BYTES, finishFlush: constants.BROTLI_OPERATION_FLUSH}),
  zstd: bytes => promisify(zstdDecompress)(bytes, {maxOutputLength: MAX_BYTES, finishFlush: constants.ZSTD_e_flush}),
}

/**
 * A body as it was before its `content-encoding`, also of one that was cut. Undefined where it cannot be decoded, or
 * comes to more than 32 MB.
 */
export async function decodedBody(bytes: Uint8Array, header: string | null): Promise<Uint8Array | undefined> {
  const encoding = encodingOf(header)
  if (encoding === null) return bytes
  const decoders = decodersFor(encoding, DECODERS)
  if (!decoders) return undefined
  try {
    let plain = bytes
    for (const decode of decoders) plain = await decode(plain)
    return plain
  } catch {
    return undefined // not what its header says it is
  }
}
