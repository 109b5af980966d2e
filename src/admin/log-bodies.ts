import {promisify} from 'node:util'
import {brotliDecompress, constants, gunzip, inflate, zstdDecompress} from 'node:zlib'

const MOST_BYTES = 32 << 20

/** A body that was cut ends in the middle of its stream: what is there of it is read. */
const FLUSH = {maxOutputLength: MOST_BYTES, finishFlush: constants.Z_SYNC_FLUSH}
const gzip = (bytes: Uint8Array) => promisify(gunzip)(bytes, FLUSH)
const DECODERS: ReadonlyMap<string, (bytes: Uint8Array) => Promise<Buffer>> = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', bytes => promisify(inflate)(bytes, FLUSH)],
  ['br', bytes => promisify(brotliDecompress)(bytes, {maxOutputLength: MOST_BYTES, finishFlush: constants.BROTLI_OPERATION_FLUSH})],
  ['zstd', bytes => promisify(zstdDecompress)(bytes, {maxOutputLength: MOST_BYTES, finishFlush: constants.ZSTD_e_flush})],
])

/**
 * A kept body as it is shown: JSON where it is an object or a list, else text. What cannot be decoded, or comes to more than 32 MB, is
 * shown as it is stored: `{content_encoding, base64}`.
 */
export async function readLogBody(bytes: Uint8Array, encoding: string | null): Promise<unknown> {
  if (encoding === null || encoding === 'identity') return fromText(bytes)
  try {
    const plain = await DECODERS.get(encoding.toLowerCase())?.(bytes)
    if (plain) return fromText(plain)
  } catch {
    // not what its header says it is; shown as it is stored
  }
  return {content_encoding: encoding, base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')}
}

const decoder = new TextDecoder()

function fromText(bytes: Uint8Array): unknown {
  const text = decoder.decode(bytes)
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
