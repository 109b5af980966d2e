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
import {decodersFor} from '../../base/content-encoding.ts'

const MAX_DECODED_BYTES = 32 << 20
type Whole = (
  body: Buffer,
  options: {maxOutputLength: number},
  done: (error: Error | null, plain: Buffer) => void,
) => void
const WHOLE: Readonly<Record<string, Whole>> = {
  gzip: gunzip,
  deflate: inflate,
  br: brotliDecompress,
  zstd: zstdDecompress,
}
const STREAMS = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const
type Opens = (typeof STREAMS)[keyof typeof STREAMS]

/**
 * The plain bytes of a whole body, for our own reading; null when it cannot be decoded. `encoding` is as `encodingOf`
 * gives it. `done` may run at once.
 */
export function decodeWhole(encoding: string | null, body: Buffer, done: (plain: Buffer | null) => void): void {
  if (encoding === null) return done(body)
  const decoders = decodersFor(encoding, WHOLE)
  if (!decoders) return done(null)
  const next = (at: number, bytes: Buffer) => {
    const decode = decoders[at]
    if (!decode) return done(bytes)
    decode(bytes, {maxOutputLength: MAX_DECODED_BYTES}, (error, plain) => (error ? done(null) : next(at + 1, plain)))
  }
  next(0, body)
}

/** Reads along an encoded stream: each chunk's plain bytes go to `seen` before the chunk itself may be sent. */
export interface Tap {
  /**
   * True when its bytes are not in the encoding of the header, or decode to more than the limit: nothing more is read.
   */
  readonly is_broken: boolean
  take(chunk: Buffer, then: () => void): void
  end(then: () => void): void
  /** Frees the decoders of a stream that is not read to its end. */
  close(): void
}

/**
 * A tap for `encoding`, as `encodingOf` gives it, or null for one we cannot read: such a stream is passed on unread.
 */
export function tap(encoding: string, seen: (plain: Buffer) => void): Tap | null {
  const opens = decodersFor<Opens>(encoding, STREAMS)
  if (!opens) return null
  return opens.toReversed().reduce<Tap | null>((inner, open) => layer(open, inner, seen), null)
}

/** One decoder; its output is passed to `inner`, or is seen. */
function layer(open: Opens, inner: Tap | null, seen: (plain: Buffer) => void): Tap {
  const stream = open()
  let broken = false
  /** The output of the chunk that is being read. */
  let plain: Buffer[] = []
  let plain_bytes = 0
  /** Chunks that may not be sent yet, the oldest first. A decoder that fails never answers for its current one. */
  const waiting: (() => void)[] = []
  const close = () => {
    broken = true
    plain = []
    stream.destroy()
    inner?.close()
  }
  stream.on('data', (bytes: Buffer) => {
    plain_bytes += bytes.length
    if (plain_bytes > MAX_DECODED_BYTES) close()
    else if (inner) plain.push(bytes)
    else seen(bytes)
  })
  const isBroken = () => broken || (stream.errored !== null && !isShort(stream.errored))
  const passOn = (then: () => void) => {
    plain_bytes = 0
    if (!inner || plain.length === 0) return then()
    const bytes = plain.length === 1 ? plain[0]! : Buffer.concat(plain)
    plain = []
    inner.take(bytes, then)
  }
  const release = () => {
    for (let then = waiting.shift(); then; then = waiting.shift()) passOn(then)
  }
  stream.on('error', release)
  stream.on('close', release)
  return {
    get is_broken() {
      return isBroken() || (inner?.is_broken ?? false)
    },
    take(chunk, then) {
      if (isBroken()) {
        release()
        return then()
      }
      waiting.push(then)
      stream.write(chunk, () => {
        const first = waiting.shift()
        if (first) passOn(first)
      })
    },
    end(then) {
      const over = () => passOn(() => (inner ? inner.end(then) : then()))
      if (isBroken()) {
        release()
        return over()
      }
      finished(stream, {writable: false}, over)
      stream.end()
    },
    close,
  }
}

/** The bytes ended before what they encode: it was cut off, and all of it that came was seen. */
function isShort(fault: Error): boolean {
  return 'code' in fault && fault.code === 'Z_BUF_ERROR'
}
