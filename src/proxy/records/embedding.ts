import {isoTime} from '../../base/clock.ts'
import {newSpanId, newTimeId} from '../../base/ids.ts'
import type {Embedder, EmbeddingAdmission, EmbeddingCharge, EmbeddingPayer} from '../../cache/semantic/embedder.ts'
import {aboutTokens} from '../../cache/semantic/tokens.ts'
import {charged, NOTHING_OWED} from '../../charge/charged.ts'
import {intent} from '../../charge/intent.ts'
import {logRow} from '../../charge/log-row.ts'
import {ChargedWork} from '../../charge/work.ts'
import {spent} from '../../schema/spent.ts'
import type {Call} from '../call/call.ts'
import type {Uses} from '../services.ts'

type Services = Uses<'limits' | 'log' | 'metrics' | 'now' | 'prices' | 'recorder' | 'settings' | 'steady'>

/** The user that these rows of the log name. */
const USER = 'Semantic Cache'

/**
 * The request to a service for embeddings that a call needs: an entry of the ledger and a row of the log of its own, in
 * the call's trace, charged to who made the call. Null where there is no service.
 */
export function embeddingCharge(
  call: Call,
  service: Embedder['service'],
  text: string,
  services: Services,
): EmbeddingCharge | null {
  const {caller, trace} = call
  const {organisation_id, workspace_id, kind, id, user_id} = caller
  const counter_keys = call.admissions.flatMap(each => each.counter_keys)
  const payer = {organisation_id, workspace_id, principal: {kind, id}, user_id, trace, counter_keys}
  return paidEmbedding(payer, service, text, services)
}

/** The same for a payer whose call it is not. */
export function paidEmbedding(
  payer: EmbeddingPayer,
  service: Embedder['service'],
  text: string,
  services: Services,
): EmbeddingCharge | null {
  if (!service) return null
  const {provider, model, url} = service
  const {trace, counter_keys} = payer
  const at_ms = services.now()
  const started = services.steady()
  const id = newTimeId(at_ms)
  const about = aboutTokens(text)
  const charges = services.settings.semantic_cache_charge_embeddings
  const cost = (tokens: number) =>
    services.prices.cost({input_uncached_tokens: tokens}, services.prices.find(provider, model, at_ms), at_ms)
  let admission: EmbeddingAdmission | null = null
  let work: ChargedWork | undefined
  const open = () =>
    new ChargedWork(
      intent({
        kind: 'call',
        call_id: id,
        trace_id: trace.trace_id,
        organisation_id: payer.organisation_id,
        workspace_id: payer.workspace_id,
        principal: payer.principal,
        user_id: payer.user_id,
        managed: null,
        config_id: null,
        provider,
        model,
        endpoint: 'embed',
        admitted_at: isoTime(at_ms),
        counter_keys: admission?.counter_keys ?? counter_keys,
        held_keys: admission?.held_keys,
        hold_nanousd: cost(about).cost_nanousd,
      }),
      services,
    )
  return {
    async begin() {
      if (!charges) return
      admission = (await payer.admit?.(id, spent(about, cost(about).cost_nanousd))) ?? null
      work = open()
      try {
        await begun(work)
      } catch (fault) {
        admission?.release()
        throw fault
      }
    },
    end({status, tokens, error}) {
      const log = rowOf(payer, {id, at_ms, url, text, status, error, took_ms: services.steady() - started})
      work ??= open()
      const is_served = status === 200
      const used = tokens ?? about
      if (is_served) payer.onCost?.(cost(used).cost_nanousd)
      const end = {
        outcome: is_served ? ('ok' as const) : ('failed' as const),
        status,
        model,
        delivered: true,
      }
      if (!charges) {
        work.note(
          {...end, usage: {}, usage_source: 'none', charged: NOTHING_OWED},
          {log, bodies: null, counted_as: 'nothing'},
        )
        return
      }
      work.settle(
        {
          ...end,
          usage: is_served ? {input_uncached_tokens: used} : {},
          usage_source: !is_served ? 'none' : tokens === null ? 'estimated' : 'provider',
          charged: is_served ? charged(cost(used), NOTHING_OWED.usage_unknown, false) : NOTHING_OWED,
        },
        {
          log,
          bodies: null,
          counted_as: 'part',
          spend: actual => (admission ? admission.settle(actual) : void services.limits.add(counter_keys, actual)),
        },
        () => undefined,
      )
    },
  }
}

function begun(work: ChargedWork): Promise<void> {
  return new Promise((resolve, reject) => work.begin(fault => (fault ? reject(fault) : resolve())))
}

interface EndedEmbedding {
  readonly id: string
  readonly at_ms: number
  readonly url: string
  readonly text: string
  readonly status: number | null
  readonly error: string | null
  readonly took_ms: number
}

function rowOf({trace}: EmbeddingPayer, {id, at_ms, url, text, status, error, took_ms}: EndedEmbedding) {
  return logRow({
    id,
    created_at: isoTime(at_ms),
    span_id: newSpanId(),
    parent_span_id: trace.span_id,
    span_name: USER,
    method: 'POST',
    url: '/v1/embeddings',
    upstream_url: url,
    response_status: status ?? 0,
    metadata: {_user: USER},
    request_bytes: Buffer.byteLength(text),
    error,
    last_byte_ms: took_ms,
  })
}
