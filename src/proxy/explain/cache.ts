import type {CacheParts} from '../../cache/lookup.ts'
import {maxAge} from '../../cache/rules.ts'
import type {FoundEntry} from '../../ports/cache/index.ts'
import type {ExplainedTarget} from '../../schema/explanations.ts'
import type {Call} from '../call/call.ts'
import {joinCache} from '../run/cache.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'

type Services = Uses<'now'>

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
    partition: {
      organisation_id: caller.organisation_id,
      workspace_id: caller.workspace_id,
      namespace,
      metadata: namespace === null ? metadata : null,
    },
  }
}
