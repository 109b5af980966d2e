import {Refusal, type RefusalCode} from '../../base/errors.ts'
import {REQUEST_ENCODINGS} from '../../base/request-encoding.ts'
import {object} from './call-bodies.ts'
import {TRACE_ID} from './refusals.ts'

const text = {type: 'string'}
const free = {type: 'object', additionalProperties: true}
const list = (items: object) => ({type: 'array', items})
const BYTES = {schema: {type: 'string', format: 'binary'}, example: 'the bytes of the message'}

interface DocumentedSignal {
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly message: string
  readonly body: object
  readonly example: object
  /** The member of `partialSuccess` that counts. */
  readonly rejected: string
}

const ids = {traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331'}
const SERVICE = {attributes: [{key: 'service.name', value: {stringValue: 'shop'}}]}

const SIGNALS: readonly DocumentedSignal[] = [
  {
    id: 'otlp.traces',
    path: '/otel/v1/traces',
    summary: 'Put spans of an application into the log',
    message: 'ExportTraceServiceRequest',
    body: list(object({resource: free, scopeSpans: list(object({scope: free, spans: list(free)}))})),
    example: {
      resourceSpans: [
        {
          resource: SERVICE,
          scopeSpans: [
            {
              spans: [
                {
                  ...ids,
                  name: 'chat gpt-4o-mini',
                  kind: 3,
                  startTimeUnixNano: '1772600767000000000',
                  endTimeUnixNano: '1772600768500000000',
                  attributes: [{key: 'gen_ai.operation.name', value: {stringValue: 'chat'}}],
                },
              ],
            },
          ],
        },
      ],
    },
    rejected: 'rejectedSpans',
  },
  {
    id: 'otlp.logs',
    path: '/otel/v1/logs',
    summary: 'Put log records of an application into the log',
    message: 'ExportLogsServiceRequest',
    body: list(object({resource: free, scopeLogs: list(object({scope: free, logRecords: list(free)}))})),
    example: {
      resourceLogs: [
        {
          resource: SERVICE,
          scopeLogs: [
            {logRecords: [{...ids, timeUnixNano: '1772600767000000000', body: {stringValue: 'The cart is empty.'}}]},
          ],
        },
      ],
    },
    rejected: 'rejectedLogRecords',
  },
]

const REFUSED: readonly (readonly [RefusalCode, Readonly<Record<string, string | number>>, string])[] = [
  [
    'spans.unreadable',
    {reason: 'a field is cut off'},
    'The body is no OTLP in JSON or protobuf, or is nested too deep.',
  ],
  ['key.unknown', {}, 'No key was sent, or it is not known or has expired.'],
  ['scope.missing', {scope: 'logs.write'}, 'The key lacks the scope, or is not of a workspace.'],
  ['spans.too_many', {most: 10_000}, 'The body is too large, or has too many spans: send fewer at once.'],
  ['spans.type', {content_type: 'text/plain'}, 'The type or the coding of the body is not read here.'],
  ['spans.busy', {}, 'Too much waits: send it again after `retry-after`.'],
  ['internal', {}, 'A fault of the gateway; its log has the cause under the trace id.'],
  ['draining', {}, 'The gateway stops, or cannot write now: send it again after `retry-after`.'],
]

/** The paths where applications send spans and log records by OTLP over HTTP. */
export function ingestPaths(): Record<string, Record<string, unknown>> {
  return Object.fromEntries(SIGNALS.map(signal => [signal.path, {post: described(signal)}]))
}

function described({id, summary, message, body, example, rejected}: DocumentedSignal) {
  const members = Object.fromEntries(Object.keys(example).map(name => [name, body]))
  const count = {...text, description: 'How many were rejected: an int64.'}
  const partial = object({[rejected]: count, errorMessage: text})
  const reason = '1 span: began before the time for which the log is kept.'
  return {
    operationId: id,
    tags: ['Logs'],
    summary,
    description:
      `Takes an \`${message}\` of OTLP as JSON or protobuf, in the content codings ${REQUEST_ENCODINGS}. ` +
      'Each is a row ' +
      'once, and one that is bad is rejected alone. Needs the scope `logs.write`.',
    parameters: [],
    requestBody: {
      required: true,
      content: {'application/json': {schema: object(members), example}, 'application/x-protobuf': BYTES},
    },
    responses: {
      200: {
        description: 'Taken, but for those that `partialSuccess` counts. In the encoding of the request.',
        headers: TRACE_ID,
        content: {
          'application/json': {
            schema: object({partialSuccess: partial}),
            example: {partialSuccess: {[rejected]: '1', errorMessage: reason}},
          },
          'application/x-protobuf': BYTES,
        },
      },
      ...Object.fromEntries(REFUSED.map(refused)),
    },
  }
}

/** A fault is a `google.rpc.Status`. */
function refused([code, details, description]: (typeof REFUSED)[number]) {
  const {status, message} = new Refusal(code, {...details})
  const schema = object({'code!': {type: 'integer', description: 'As google.rpc.Code has it.'}, 'message!': text})
  const content = {
    'application/json': {schema, example: {code: RPC_CODES[status], message}},
    'application/x-protobuf': BYTES,
  }
  return [status, {description, headers: TRACE_ID, content}]
}

const RPC_CODES: Readonly<Record<number, number>> = {400: 3, 401: 16, 403: 7, 413: 8, 415: 3, 429: 8, 500: 13, 503: 14}
