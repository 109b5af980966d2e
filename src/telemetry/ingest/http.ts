import type {FastifyError, FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../../base/errors.ts'
import {newTimeId} from '../../base/ids.ts'
import {vouchFor} from '../../base/ingress/govern.ts'
import {decodedRequest, REQUEST_ENCODINGS, requestEncoding} from '../../base/request-encoding.ts'
import {storeRefusal} from '../../base/store-fault.ts'
import {ownHeaders} from '../../schema/headers.ts'
import {encodingOfType, faultAnswer, type IngestAnswer, intakeAnswer} from './answers.ts'
import type {SpanSender} from './ports.ts'
import type {IngestSignal} from './received.ts'
import type {IngestForm, SpanIntake, SpanIntakes} from './spans.ts'

/** The paths: exporters put `/v1/traces` behind their endpoint, which is the gateway's base and `/otel`. */
export const INGEST_PATHS = {
  traces: ['/v1/otel/v1/traces', '/otel/v1/traces'],
  logs: ['/v1/otel/v1/logs', '/otel/v1/logs'],
} as const satisfies Record<IngestSignal, readonly string[]>

export interface IngestServices {
  readonly intakes: Pick<SpanIntakes, 'take'>
  /** The caller by its key or token. Refuses one without the scope for writing logs. */
  sender(request: FastifyRequest): Promise<SpanSender>
  /** True when the gateway stops. */
  isDraining(): boolean
  counted(intake: SpanIntake): void
  failed(fault: unknown, trace_id: string): void
  now(): number
  readonly max_body_mb: number
}

/** The facts of a request before its body is read. */
interface Admitted {
  readonly sender: SpanSender
  readonly form: IngestForm
  /** Of its `content-encoding`. */
  readonly coding: string | null
}

const admitted = new WeakMap<FastifyRequest, Admitted>()

/** Takes spans and log records by OTLP over HTTP. In this order: caller, type and coding, and only then the body. */
export function mountIngest(server: FastifyInstance, services: IngestServices): void {
  server.register(async scope => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', {parseAs: 'buffer'}, async (_: FastifyRequest, body: Buffer) => body)
    scope.setErrorHandler<FastifyError>((fault, request, reply) => refuse(fault, request, reply, services))
    for (const signal of ['traces', 'logs'] as const)
      for (const url of INGEST_PATHS[signal])
        scope.route({
          method: 'POST',
          url,
          bodyLimit: services.max_body_mb * 2 ** 20,
          onRequest: (request, reply) => admit(signal, request, reply, services),
          handler: (request, reply) => take(request, reply, services),
        })
  })
}

async function admit(
  signal: IngestSignal,
  request: FastifyRequest,
  reply: FastifyReply,
  services: IngestServices,
): Promise<void> {
  reply.header(traceHeader(request), newTimeId(services.now()))
  if (services.isDraining()) throw new Refusal('draining')
  const sender = await services.sender(request)
  vouchFor(request.raw)
  const {'content-type': type, 'content-encoding': coding} = request.headers
  const encoding = encodingOfType(type)
  if (!encoding) throw new Refusal('spans.type', {content_type: (type ?? 'none').slice(0, 100)})
  admitted.set(request, {sender, form: {signal, encoding}, coding: requestEncoding(coding)})
}

async function take(request: FastifyRequest, reply: FastifyReply, services: IngestServices) {
  const {sender, form, coding} = admitted.get(request)!
  const came = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const decoded = coding === null ? undefined : (body: Buffer) => decodedRequest(body, coding, services.max_body_mb)
  const intake = await services.intakes.take(came, form, sender, decoded)
  services.counted(intake)
  return send(reply, 200, intakeAnswer(intake, form))
}

function refuse(fault: FastifyError, request: FastifyRequest, reply: FastifyReply, services: IngestServices) {
  const refusal = asRefusal(fault, services)
  if (refusal.code === 'internal') services.failed(fault, String(reply.getHeader(traceHeader(request))))
  if (refusal.code === 'body.encoding') reply.header('accept-encoding', REQUEST_ENCODINGS)
  const {status} = refusal
  // exporters send again what is answered so, after the time that it names
  if (status === 429 || status === 503) reply.header('retry-after', refusal.retry_after_s ?? RETRY_S)
  return send(reply, status, faultAnswer(refusal, encodingOfType(request.headers['content-type']) ?? 'json'))
}

const RETRY_S = 2

/** Faults of the parser of bodies have statuses of their own. */
function asRefusal(fault: FastifyError, {max_body_mb, isDraining}: IngestServices): Refusal {
  if (fault instanceof Refusal) return fault
  const {statusCode = 500} = fault
  if (statusCode === 413) return new Refusal('body.too_large', {limit_mb: max_body_mb}, {cause: fault})
  if (statusCode === 415) return new Refusal('spans.type', {content_type: 'none'})
  if (statusCode >= 400 && statusCode < 500)
    return new Refusal('request.malformed', {reason: fault.message}, {cause: fault})
  const of_store = storeRefusal(fault)
  if (of_store) return of_store
  // what ends with the process takes requests along, and exporters drop what is answered with 500
  return isDraining() ? new Refusal('draining', {}, {cause: fault}) : new Refusal('internal', {}, {cause: fault})
}

function send(reply: FastifyReply, status: number, {type, body}: IngestAnswer) {
  return reply.code(status).header('content-type', type).send(body)
}

const traceHeader = ({headers}: FastifyRequest) => `${ownHeaders(headers).prefix}-trace-id`
