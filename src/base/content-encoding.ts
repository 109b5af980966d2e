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

/** A body as it was before its `content-encoding`, also of one that was cut. Undefined where it cannot be decoded, or comes to more than 32 MB. */
export async function decodedBody(bytes: Uint8Array, encoding: string | null): Promise<Uint8Array | undefined> {
  if (encoding === null || encoding === 'identity') return bytes
  try {
    return await DECODERS.get(encoding.toLowerCase())?.(bytes)
  } catch {
    return undefined // not what its header says it is
  }
}
