import type {FastifyInstance, FastifyRequest} from 'fastify'
import {Counter, Registry} from 'prom-client'
import type {Log} from '../base/log.ts'
import {cost} from '../pricing/cost.ts'
import type {Price} from '../pricing/price.ts'
import {authenticate} from '../proxy/call/authenticate.ts'
import {readCredentials} from '../proxy/inbound/request.ts'
import {ownHeaders} from '../schema/headers.ts'
import type {Store} from '../store/database.ts'
import {rowsOfTraces} from '../store/rows-of-traces.ts'
import {INGEST_PATHS, mountIngest} from '../telemetry/ingest/http.ts'
import type {IngestPorts, SpanSender} from '../telemetry/ingest/ports.ts'
import {type SpanIntake, SpanIntakes} from '../telemetry/ingest/spans.ts'
import type {DataPlane} from './data-plane.ts'

interface IngestParts {
  readonly plane: DataPlane
  readonly store: Store
  readonly log: Log
}

/** Takes spans of applications into the log. */
export interface Ingest {
  mount(server: FastifyInstance): void
  /** The text of /metrics. */
  metrics(): Promise<string>
}

const SCOPE = 'logs.write'

export function openIngest({plane, store, log}: IngestParts): Ingest {
  const {services, records} = plane
  const {settings, now, prices, masked} = services
  const {registry, counted} = intakeMetrics()
  const ports: IngestPorts = {
    note: (row, bodies, done) => records.recorder.note(row, bodies, done),
    settled: () => records.flushed(),
    rowsOfTraces: (workspace_id, trace_ids) => rowsOfTraces(store.db, workspace_id, trace_ids),
    cost(provider, models, usage, at_ms) {
      const price = firstOf(models, model => prices.find(provider, model, at_ms))
      return cost(usage, price, {at: at_ms})
    },
    pause: () => new Promise(resolve => setImmediate(resolve)),
    now,
    log_retention_days: settings.log_retention_days,
    most_body_bytes: settings.log_body_max_bytes,
    masked,
  }
  const intakes = new SpanIntakes(ports)
  return {
    mount: server =>
      mountIngest(server, {
        intakes,
        sender: request => senderOf(request, services),
        isDraining: () => plane.proxy.draining,
        counted,
        failed: (fault, trace_id) => log.error({fault, trace_id}, 'spans of an application could not be taken'),
        now,
        max_body_mb: settings.max_json_payload_size_in_mb,
      }),
    metrics: () => registry.metrics(),
  }
}

function firstOf(models: readonly string[], find: (model: string) => Price | undefined): Price | undefined {
  for (const model of models) {
    const price = find(model)
    if (price) return price
  }
  return undefined
}

async function senderOf(request: FastifyRequest, services: DataPlane['services']): Promise<SpanSender> {
  const {headers, raw} = request
  const own = ownHeaders(headers)
  const mark = request.url.indexOf('?')
  const route = {endpoint: undefined, path: INGEST_PATHS.traces[1], query: mark < 0 ? '' : request.url.slice(mark)}
  const caller = await authenticate(readCredentials({headers, own, route}), SCOPE, services, {request: raw})
  const {kind, id, organisation_id, workspace_id, user_id, metadata} = caller
  const keeps_bodies = own.values.debug !== 'false'
  return {principal: {kind, id}, organisation_id, workspace_id, user_id, metadata, keeps_bodies}
}

function intakeMetrics() {
  const registry = new Registry()
  const spans = new Counter({
    name: 'gateway_ingested_spans_total',
    help: 'Spans that applications sent, by what became of them: taken, or why they were rejected.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const counted = ({taken, rejected}: SpanIntake) => {
    spans.inc({outcome: 'taken'}, taken)
    for (const [outcome, count] of rejected) spans.inc({outcome}, count)
  }
  return {registry, counted}
}
