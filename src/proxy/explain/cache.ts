import type {CacheParts} from '../../cache/lookup.ts'
import {maxAge} from '../../cache/rules.ts'
import {BUILTIN_THRESHOLD, BUILTIN_TOKENS, fits, SERVICE_THRESHOLD} from '../../cache/semantic/embedder.ts'
import {semanticText} from '../../cache/semantic/text.ts'
import {windowOf} from '../../cache/semantic/tokens.ts'
import type {FoundEntry} from '../../ports/cache/index.ts'
import type {ExplainedTarget} from '../../schema/explanations.ts'
import type {Call} from '../call/call.ts'
import {wholeOf} from '../inbound/body.ts'
import {joinCache} from '../run/cache.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'

type Services = Uses<'now' | 'settings'>

type ExplainedCache = ExplainedTarget['cache']

const FOUND: FoundEntry = {body: Buffer.alloc(0), stored_at_ms: 0, expires_at_ms: 0}

/** The cache key of a call at a target: the call goes to a cache that notes the key, and nothing else. */
export function explainCache(
  call: Call,
  target: Target,
  out: UpstreamRequest | null,
  services: Services,
): ExplainedCache {
  const {cache: rule} = target
  const settings = {mode: rule?.mode ?? null, max_age_s: null}
  let digest: string | null = null
  const noting: CacheParts = {
    cache: {
      peek(key) {
        digest = key.digest
        return FOUND
      },
      get: () => undefined,
      set: () => undefined,
      delete: () => undefined,
      purge: () => undefined,
      close: async () => undefined,
    },
    flights: {
      size: 0,
      // a call that looks nothing up: the key is known before its mark
      join(name) {
        digest = name.split(' ', 1)[0]!
        return {
          role: 'leader',
          followed: false,
          complete: () => undefined,
          fail: () => undefined,
          decline: () => undefined,
          passLead: () => undefined,
          leave: () => false,
        }
      },
    },
  }
  const cached = out && joinCache(call, target, out, {...services, cache: noting})
  if (!cached || digest === null) return {status: 'DISABLED', ...settings, digest: null, partition: null}
  const {caller, incoming, metadata} = call
  const namespace = incoming.own.values['cache-namespace'] || null
  return {
    status: cached.status,
    ...settings,
    max_age_s: maxAge(rule?.max_age_s ?? null, null),
    digest,
    ...(rule?.mode === 'semantic' && {semantic: explainSemantic(call, target, services)}),
    partition: {
      organisation_id: caller.organisation_id,
      workspace_id: caller.workspace_id,
      namespace,
      metadata: namespace === null ? metadata : null,
    },
  }
}

/** The search for other words, as far as it is known without making it. */
function explainSemantic(
  {body, endpoint}: Call,
  {cache}: Target,
  {settings}: Services,
): NonNullable<ExplainedCache['semantic']> {
  const {semantic_cache_embedder: embedder, semantic_cache_gate: gate} = settings
  const is_builtin = embedder === 'builtin'
  const least = settings.semantic_cache_similarity_threshold ?? (is_builtin ? BUILTIN_THRESHOLD : SERVICE_THRESHOLD)
  const ignores_system = settings.semantic_cache_ignore_system_prompt
  const found = body.kind === 'json' ? semanticText(endpoint, wholeOf(body), {ignores_system}) : null
  const max_tokens = is_builtin
    ? BUILTIN_TOKENS
    : (settings.semantic_cache_embedding_max_tokens ?? windowOf(settings.semantic_cache_embedding_model ?? USUAL_MODEL))
  const because =
    embedder === 'none'
      ? 'SEMANTIC_CACHE_EMBEDDER is none'
      : !found
        ? 'the request has no text to compare, more than 4 messages, or more than text in them'
        : fits(found.text, {max_tokens})
          ? null
          : 'the text is longer than the embedder reads'
  return {searches: because === null, because, embedder, threshold: Math.max(least, cache?.threshold ?? 0), gate}
}

/** Of a service whose model is not set; that of Google reads less. */
const USUAL_MODEL = 'text-embedding-3-small'
