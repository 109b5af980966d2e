import {finished} from 'node:stream'
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  inflate,
  zstdDecompress,
} from 'node:zlib'

const MOST_DECODED_BYTES = 32 << 20
type Encoding = keyof typeof STREAMS
type Whole = (body: Buffer, options: {maxOutputLength: number}, done: (error: Error | null, plain: Buffer) => void) => void
const WHOLE: Readonly<Record<Encoding, Whole>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: inflate,
  br: brotliDecompress,
  zstd: zstdDecompress,
}
const STREAMS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const

const isKnown = (encoding: string): encoding is Encoding => Object.hasOwn(WHOLE, encoding)

/** The plain bytes of a whole body, for our own reading; null when they cannot be had. `done` may run at once. */
export function decodeWhole(encoding: string | null, body: Buffer, done: (plain: Buffer | null) => void): void {
  if (encoding === null || encoding === 'identity') return done(body)
  if (!isKnown(encoding)) return done(null)
  WHOLE[encoding](body, {maxOutputLength: MOST_DECODED_BYTES}, (error, plain) => done(error ? null : plain))
}

/** Reads along an encoded stream: each chunk's plain bytes go to `seen` before the chunk itself may go on. */
export interface Tap {
  take(chunk: Buffer, then: () => void): void
  end(then: () => void): void
  /** Frees the decoder of a stream that is not read to its end. */
  close(): void
}

/** A tap for `encoding`, or null for one we cannot read: such a stream goes on unread. */
export function tap(encoding: string, seen: (plain: Buffer) => void): Tap | null {
  if (!isKnown(encoding)) return null
  const stream = STREAMS[encoding]()
  let broken = false
  stream.on('data', seen)
  stream.on('error', () => {
    broken = true
  })
  return {
    take(chunk, then) {
      if (broken) then()
      else stream.write(chunk, () => then())
    },
    end(then) {
      if (broken) return then()
      finished(stream, {writable: false}, () => then())
      stream.end()
    },
    close() {
      broken = true
      stream.destroy()
    },
  }
}
