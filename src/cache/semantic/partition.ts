import {createHash} from 'node:crypto'
import type {CacheKey} from '../../ports/cache/index.ts'

/**
 * The digest of all that two requests must share to share an answer, but for their text: 64 hex digits. `masked` is
 * the simple key of the request with a mark in place of its text, so that everything which parts exact answers parts
 * these too: organisation, workspace, provider, model, other messages, tools, parameters, credential, guardrails,
 * metadata or namespace. `embedder` and `gate_version` say how its vector and its features were made: what was made
 * otherwise is not compared.
 */
export function partitionDigest(
  masked: CacheKey,
  {embedder, gate_version}: {readonly embedder: string; readonly gate_version: number},
): string {
  const parts = ['semantic', masked.workspace_id, masked.digest, embedder, gate_version]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
