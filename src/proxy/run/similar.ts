import {edited} from '../../base/json.ts'
import {spliced} from '../../base/json-splice.ts'
import {partitionDigest} from '../../cache/semantic/partition.ts'
import type {FoundSimilar, SemanticCache, SemanticQuestion} from '../../cache/semantic/semantic-cache.ts'
import {type SemanticText, semanticText} from '../../cache/semantic/text.ts'
import {isWholeAnswer} from '../../cache/semantic/whole-answer.ts'
import {type JsonBody, readJson, wholeOf} from '../inbound/body.ts'
import {embeddingCharge} from '../records/embedding.ts'
import {buildUpstreamRequest} from '../upstream/build-request.ts'
import {keyOf} from './cache.ts'
import {serveHit} from './local-answer.ts'
import type {StageResult} from './pipeline.ts'
import type {TargetRun} from './target-run.ts'

/** A longer request is compared exactly alone: all of it would be read and made twice. */
const MAX_BODY_BYTES = 256 << 10

/**
 * Answers the call with what a request that means the same was answered. Otherwise the provider is called, and its
 * answer is kept for others. Whatever fails here is a miss.
 */
export async function serveSimilar(run: TargetRun): Promise<StageResult> {
  const found = await findSimilar(run).catch((fault: unknown) => {
    run.services.log.error({fault}, 'the semantic cache failed a call')
    return null
  })
  if (!found || run.has_ended) return undefined
  const {call, target, cache, services} = run
  const similar = {similarity: Math.round(found.similarity * 10_000) / 10_000, log_id: found.log_id}
  const route = {...run.route, cache_status: 'SEMANTIC HIT' as const, similar: {...similar, served: true}}
  if (!serveHit(call, target, route, found.answer, services)) return undefined
  // it may answer another system prompt: a copy would still be found when those part answers again
  if (services.settings.semantic_cache_ignore_system_prompt) cache?.give(found.answer)
  // for the next who asks in the same words, and for those that wait; it ends when the answer ends
  else cache?.copy(found.answer, found.ends_at_ms - services.now())
  run.cache = null
  run.release()
  return 'done'
}

/** The answer that is to be given; null: the provider is called. */
async function findSimilar(run: TargetRun): Promise<FoundSimilar | null> {
  const {target, cache, services} = run
  const semantic = await services.semantic()
  const question = await questionOf(run, semantic)
  if (!question || !cache || run.has_ended) return null
  const {endpoint, log_id} = run.call
  const {digest} = cache.key
  const keep = (answer: unknown) => {
    if (isWholeAnswer(endpoint, answer)) semantic.keep(question, {digest, log_id, max_age_ms: cache.max_age_ms})
  }
  cache.onKept = keep
  const threshold = semantic.threshold(target.cache?.threshold ?? null)
  if (cache.status === 'REFRESH') {
    await semantic.forget(question, threshold)
    return null
  }
  run.route = {...run.route, cache_status: 'SEMANTIC MISS'}
  const found = await semantic.find(question, threshold, cache.max_age_ms)
  if (!found || !semantic.is_shadow) return found
  const similarity = Math.round(found.similarity * 10_000) / 10_000
  const similar = {similarity, log_id: found.log_id, served: false}
  run.route = {...run.route, similar}
  // the row of the call is written after its answer is kept
  cache.onKept = answer => {
    keep(answer)
    const agreement = semantic.compare(found.answer, answer)
    run.route = {...run.route, similar: {...similar, agreement}}
  }
  return null
}

/** The text of the request with its vector; null where it is not searched. */
async function questionOf(run: TargetRun, semantic: SemanticCache): Promise<SemanticQuestion | null> {
  const {call, services} = run
  const {body} = call
  const {make, embedder} = semantic
  if (body.kind !== 'json' || body.bytes.length > MAX_BODY_BYTES || !make || !embedder) return null
  const ignores_system = services.settings.semantic_cache_ignore_system_prompt
  const found = semanticText(call.endpoint, wholeOf(body), {ignores_system})
  const masked = found && maskedKey(run, body, found)
  if (!found || !masked) return null
  const {workspace_id, about} = masked
  const place = {workspace_id, partition: partitionDigest(masked, make), about}
  return semantic.ask(found.text, place, embeddingCharge(call, embedder.service, found.text, services))
}

/** The key of the same request with a mark in place of its text, made as that of the request was. */
function maskedKey({call, target, credentials, services}: TargetRun, body: JsonBody, of: SemanticText) {
  const {member, masked, ignored} = of
  const span = body.members.get(member)
  if (!span) return null
  const text = body.bytes.toString('utf8', span.start, span.end)
  const edits = new Map<string, string | undefined>([[member, spliced(text, wholeOf(body)[member], masked)]])
  for (const name of ignored) edits.set(name, undefined)
  const bytes = edited(body.bytes, body.members, edits)
  const other = {...call, body: readJson(bytes, call.incoming.route.endpoint)}
  return keyOf(other, target, buildUpstreamRequest(other, target, credentials, services))
}
