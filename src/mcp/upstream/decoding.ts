import {pipeline, type Readable} from 'node:stream'
import {createBrotliDecompress, createGunzip, createInflate, createZstdDecompress} from 'node:zlib'
import {decodersFor, encodingOf} from '../../base/content-encoding.ts'

type Decoder = () => ReturnType<typeof createGunzip>

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** A body before its `content-encoding`, as it comes; null where the encoding is not known. */
export function decodedStream(body: Readable, header: string | undefined): Readable | null {
  const encoding = encodingOf(header)
  if (encoding === null) return body
  const decoders = decodersFor(encoding, DECODERS)
  if (!decoders) return null
  return decoders.reduce<Readable>((from, open) => {
    const decoder = open()
    pipeline(from, decoder, nothing) // an end of one is an end of both; who reads hears of it
    return decoder
  }, body)
}

function nothing() {}
