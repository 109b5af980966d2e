import {createHash} from 'node:crypto'
import {LRUCache} from 'lru-cache'
import {parsed} from '../../base/json-object.ts'
import type {EmbeddingRequest, EmbeddingWire} from '../../schema/embeddings.ts'
import {type Embedder, type EmbeddingCharge, SERVICE_THRESHOLD} from './embedder.ts'
import {aboutTokens, isCut, windowOf} from './tokens.ts'
import {unitVector} from './vector.ts'

export interface ServiceEmbedderOptions {
  readonly wire: EmbeddingWire
  /** Sends a request and reads its answer, within a deadline. */
  readonly send: (request: EmbeddingRequest) => Promise<{readonly status: number; readonly body: string}>
  readonly now: () => number
  /** The length of its vectors; undefined: as they come. */
  readonly dimensions?: number | undefined
  readonly max_tokens?: number | undefined
  /** Called with why a text has no vector; no word of the text is in it. */
  readonly onFault: (reason: string) => void
}

const FAILURES = 5
const OPEN_MS = 30_000
const REMEMBERED = 10_000
const REMEMBERED_BYTES = 32 << 20
const LONGEST_VECTOR = 8_192

/**
 * Vectors of a service. One that fails five times in a row is left alone for 30 seconds; then one request tries it.
 * Texts of late are remembered by their digest, and one that is being embedded is not sent twice.
 */
export function createServiceEmbedder(options: ServiceEmbedderOptions): Embedder {
  const {wire, send, now, dimensions, onFault} = options
  const {max_tokens = windowOf(wire.model)} = options
  const remembered = new LRUCache<string, Float32Array>({
    max: REMEMBERED,
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: vector => vector.byteLength + 128,
  })
  const pending = new Map<string, Promise<Float32Array | null>>()
  let failures = 0
  let open_until_ms = Number.NEGATIVE_INFINITY

  return {
    identity: JSON.stringify([wire.provider, wire.url, wire.model, dimensions ?? null, wire.task]),
    name: `${wire.provider}/${wire.model}`,
    service: {provider: wire.provider, model: wire.model, url: wire.url},
    threshold: SERVICE_THRESHOLD,
    max_tokens,
    embed(text, charge) {
      const digest = createHash('sha256').update(text).digest('base64')
      const known = remembered.get(digest) ?? pending.get(digest)
      if (known) return known
      if (now() < open_until_ms) return null
      // until the first request after a pause has ended no other one leaves
      if (failures >= FAILURES) open_until_ms = now() + OPEN_MS
      const vector = ask(text, charge)
        .then(vector => {
          if (vector) remembered.set(digest, vector)
          return vector
        })
        .finally(() => pending.delete(digest))
      pending.set(digest, vector)
      return vector
    },
  }

  async function ask(text: string, charge: EmbeddingCharge | null): Promise<Float32Array | null> {
    let request: EmbeddingRequest
    try {
      request = await wire.request(text)
    } catch {
      return failed('no request could be made')
    }
    try {
      await charge?.begin()
    } catch {
      return null
    }
    let reply: {readonly status: number; readonly body: string}
    try {
      reply = await send(request)
    } catch {
      charge?.end({status: null, tokens: null, error: 'the service did not answer'})
      return failed('the service did not answer')
    }
    const {status, body} = reply
    const answer = status === 200 ? wire.read(parsed(body)) : undefined
    const fault =
      status !== 200
        ? `the service answered ${status}`
        : !answer
          ? 'the answer holds no vector'
          : answer.is_truncated || isCut(answer.tokens, aboutTokens(text))
            ? 'the service read a part of the text only'
            : null
    charge?.end({status, tokens: answer?.tokens ?? null, error: fault})
    if (fault !== null || !answer) return failed(fault ?? '')
    const {length} = answer.vector
    if (length > LONGEST_VECTOR || (dimensions !== undefined && length !== dimensions))
      return failed(`the vector has ${length} places`)
    const vector = unitVector(answer.vector)
    if (!vector) return failed('the vector is no direction')
    failures = 0
    open_until_ms = Number.NEGATIVE_INFINITY
    return vector
  }

  function failed(reason: string): null {
    failures++
    if (failures >= FAILURES) open_until_ms = now() + OPEN_MS
    onFault(reason)
    return null
  }
}
