import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import {decodersFor, encodingOf} from './content-encoding.ts'
import {Refusal} from './errors.ts'
import {joined} from './joined.ts'

/** The value of our `accept-encoding`: the codings of requests that are decoded. */
export const REQUEST_ENCODINGS = 'gzip, br, deflate, zstd'

const MAX_CODINGS = 2
const PIECE_BYTES = 64 << 10
/** A decoder sets its window aside before it has made anything; of this coding none needs a larger one (RFC 9659). */
const ZSTD_WINDOW_LOG = 23

type Decoder = ReturnType<typeof createGunzip | typeof createBrotliDecompress | typeof createInflateRaw>
const options = {chunkSize: PIECE_BYTES}
const DECODERS: Readonly<Record<string, (bytes: Buffer) => Decoder>> = {
  gzip: () => createGunzip(options),
  br: () => createBrotliDecompress(options),
  deflate: bytes => (hasZlibHead(bytes) ? createInflate(options) : createInflateRaw(options)),
  zstd: () => createZstdDecompress({...options, params: {[constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG}}),
}

/**
 * The codings of a request's body, as `encodingOf` gives them, checked: null where it came plain. Refuses (415) what is
 * not decoded here.
 */
export function requestEncoding(header: string | undefined): string | null {
  const encoding = encodingOf(header)
  if (encoding !== null && (encoding.split(',').length > MAX_CODINGS || !decodersFor(encoding, DECODERS)))
    throw new Refusal('body.encoding', {encoding: header!.slice(0, 100), expected: REQUEST_ENCODINGS})
  return encoding
}

/**
 * A request's body as it was before its codings. Refuses one that comes to more than `limit_mb` (413), or is not what
 * its header says (400).
 */
export async function decodedRequest(bytes: Buffer, encoding: string, limit_mb: number): Promise<Buffer> {
  let plain = bytes
  for (const open of decodersFor(encoding, DECODERS)!) plain = await decoded(plain, open(plain), encoding, limit_mb)
  return plain
}

async function decoded(bytes: Buffer, decoder: Decoder, encoding: string, limit_mb: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  decoder.end(bytes)
  try {
    for await (const part of decoder as AsyncIterable<Buffer>) {
      length += part.length
      if (length > limit_mb * 2 ** 20) throw new Refusal('body.too_large', {limit_mb})
      parts.push(part)
    }
  } catch (fault) {
    throw fault instanceof Refusal ? fault : new Refusal('body.not_encoded', {encoding}, {cause: fault})
  } finally {
    decoder.destroy()
  }
  return joined(parts)
}

/** The coding means zlib's format (RFC 9110, 8.4.1.2); some senders leave its head out. */
function hasZlibHead(bytes: Buffer): boolean {
  return bytes.length > 1 && (bytes[0]! & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0
}
