import type {Dispatcher} from 'undici'
import {JsonSkim} from '../../../base/json-skim.ts'
import {batchDialect} from '../../../providers/vendor-batches/index.ts'
import type {PlanTarget} from '../../../routing/plan.ts'
import type {AskAgain, Deferred} from '../../../schema/deferred.ts'
import {dryRunCall} from '../../call/offline-call.ts'
import {enterTarget} from '../../call/operation.ts'
import type {Uses} from '../../services.ts'
import {atModel} from '../../targets/model-place.ts'
import {openTarget} from '../../targets/open-target.ts'
import {checkManaged, resolveTarget, type TargetServices} from '../../targets/target.ts'
import {buildUpstreamRequest, dispatcherOf, dispatchOf, withCredentials} from '../../upstream/build-request.ts'
import type {MultiRequestServices} from '../../upstream/multi-request.ts'
import {chargeTold, toldOf} from './charge.ts'

type Services = MultiRequestServices &
  TargetServices &
  Uses<
    | 'administered'
    | 'after'
    | 'deferred'
    | 'limits'
    | 'masked'
    | 'metrics'
    | 'now'
    | 'prices'
    | 'recorder'
    | 'secrets'
    | 'steady'
  >

const LEAF: PlanTarget = {kind: 'leaf', path: 'config', name: null, weight: 1, breaker: null, target: {}}
/** A provider is waited for so long. */
const MAX_WAIT_MS = 60_000

/**
 * Polls a provider for work that continues behind a call, as that call's client might, with the credentials of the
 * integration that it was made by; what it tells to have ended is charged as by any answer. Nothing of the asking is
 * recorded, as it costs nothing.
 */
export function openAsking(services: Services): AskAgain {
  return async (work, lost) => {
    const path = pathOf(work)
    const {workspace_id, organisation_id, provider_slug, integration_id} = work.charge.intent
    if (path === null || provider_slug === null || integration_id === null) return 'unknown'
    const provider = `@${provider_slug}`
    const imagined = dryRunCall(
      {method: 'GET', path, headers: {'x-gateway-provider': provider}},
      {
        caller: {organisation_id, workspace_id, workspace_slug: '', metadata: {}, config_id: null},
        config: undefined,
        at_ms: services.now(),
        services,
      },
    )
    const {call, credentials} = imagined
    const selectors = {provider, virtual_key: undefined, config: undefined, custom_host: undefined, options: {}}
    const found = await resolveTarget(LEAF, selectors, null, {
      incoming: call.incoming,
      caller: call.caller,
      config_id: null,
      services,
    })
    if (found.managed?.integration_id !== integration_id) return 'unknown' // the slug is another integration's by now
    checkManaged(found, services.now())
    const open = await openTarget(found, services)
    const target = atModel(open, work.charge.intent.model, services) // work is where its model is
    enterTarget(call, target)
    const out = await withCredentials(buildUpstreamRequest(call, target, credentials, services), target, services)
    const answer = await answerOf(
      dispatcherOf(out, call, services),
      dispatchOf(out),
      AbortSignal.any([lost, AbortSignal.timeout(MAX_WAIT_MS)]),
    )
    if (answer.status === 404 || answer.status === 410) return 'gone'
    const {secrets} = target
    if (secrets?.values && (answer.status === 401 || answer.status === 403))
      await services.secrets.refused(secrets.fields, secrets.values) // the next poll uses another
    if (answer.status !== 200 || answer.plain === null)
      throw new Error(`${target.provider.slug} answered ${answer.status}`)
    const result = {
      statuses: {provider: answer.status},
      outcome: 'ok' as const,
      stream: null,
      source: null,
      received_bytes: answer.bytes,
    }
    const statuses = toldOf(
      {call, target, request: out, intent: work.charge.intent, result, plain: answer.plain},
      services,
    )
    if (!statuses?.ended.has(work.id)) return 'under_way'
    await chargeTold(work.charge.intent, statuses.ended, services)
    return 'charged'
  }
}

/** The path that shows it; null when the id alone does not determine it. */
function pathOf({id, charge}: Deferred): string | null {
  const {endpoint} = charge.intent
  const {words} = charge
  const dialect = batchDialect(words)
  if (dialect && !dialect.is_unified) return `/v1/proxy${dialect.pathOf(id)}`
  if (words !== undefined || endpoint === 'createBatch') return `/v1/batches/${encodeURIComponent(id)}`
  return endpoint === 'createModelResponse' || id.startsWith('resp_') ? `/v1/responses/${encodeURIComponent(id)}` : null
}

interface Answer {
  readonly status: number
  readonly bytes: number
  /** Without what is long in it; null where it cannot be read. */
  readonly plain: Buffer | null
}

function answerOf(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  options: Dispatcher.DispatchOptions,
  ends: AbortSignal,
): Promise<Answer> {
  const {promise, resolve, reject} = Promise.withResolvers<Answer>()
  const skim = new JsonSkim()
  let status = 0
  let bytes = 0
  let is_encoded = false
  let controller: Dispatcher.DispatchController | undefined
  const stop = () => {
    const fault = new Error('nobody waits for the answer any more')
    reject(fault)
    controller?.abort(fault)
  }
  ends.addEventListener('abort', stop, {once: true})
  if (ends.aborted) stop()
  else
    dispatcher.dispatch(options, {
      onRequestStart(given) {
        controller = given
        if (ends.aborted) given.abort(new Error('nobody waits for the answer any more'))
      },
      onResponseStart(_, given, headers) {
        if (given < 200) return
        status = given
        is_encoded = !['', 'identity'].includes(String(headers['content-encoding'] ?? ''))
      },
      onResponseData(_, chunk) {
        bytes += chunk.length
        if (!is_encoded) skim.push(chunk)
      },
      onResponseEnd: () => resolve({status, bytes, plain: is_encoded ? null : skim.bytes()}),
      onResponseError: (_, fault) => reject(fault),
    })
  return promise.finally(() => ends.removeEventListener('abort', stop))
}
