import {object, parsed} from '../../base/json-object.ts'
import type {BatchWords, CalledOperation} from '../vendor-operations/operation.ts'
import {anthropicBatches} from './anthropic.ts'
import {bedrockBatches, vertexBatches} from './clouds.ts'
import type {BatchDialect, VendorBatch} from './dialect.ts'
import {geminiBatches} from './gemini.ts'
import {mistralBatches} from './mistral.ts'

const DIALECTS: Readonly<Record<Exclude<BatchWords, 'unified'>, BatchDialect>> = {
  anthropic: anthropicBatches,
  gemini: geminiBatches,
  mistral: mistralBatches,
  vertex: vertexBatches,
  bedrock: bedrockBatches,
}

/** How batches of these words are read; null for those of the unified routes. */
export function batchDialect(words: string | undefined): BatchDialect | null {
  return words !== undefined && Object.hasOwn(DIALECTS, words) ? DIALECTS[words as keyof typeof DIALECTS] : null
}

/**
 * Kinds whose results are charged as they wrote them, also where the batch was begun by the unified routes: OpenAI's
 * rows have no place for all of what they bill (several models in one request).
 */
const READ_AS_WRITTEN: Readonly<Record<string, BatchWords>> = {anthropic: 'anthropic'}

/** How the results of a kind's batch are charged; null: by OpenAI's rows. */
export function chargedBatchDialect(kind: string, words: string | undefined): BatchDialect | null {
  return batchDialect(words ?? (Object.hasOwn(READ_AS_WRITTEN, kind) ? READ_AS_WRITTEN[kind] : undefined))
}

/** The batches that a whole reply describes. */
export function batchesInReply(words: BatchWords, body: Buffer): readonly VendorBatch[] {
  const reply = object(parsed(body.toString()))
  const dialect = batchDialect(words)
  if (dialect) return dialect.batchesIn(reply)
  return typeof reply.id === 'string' && reply.id !== '' ? [{id: reply.id, has_ended: false}] : []
}

/** The requests in the body that begins a batch: each names the model that runs it. Empty for all other operations. */
export function requestsOfBatch(
  called: CalledOperation | null,
  body: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  const batches = called?.operation.batches
  return batches?.role === 'begins' ? (batchDialect(batches.words)?.requestsIn(body) ?? []) : []
}
