import {onTestFinished} from 'vitest'
import {type LogRow, startGateway, type TestGateway} from '../../support/gateway.ts'

/** A span in the JSON of OTLP. */
export interface JsonSpan {
  readonly traceId?: unknown
  readonly spanId?: unknown
  readonly parentSpanId?: unknown
  readonly startTimeUnixNano?: unknown
  readonly endTimeUnixNano?: unknown
  readonly attributes?: readonly object[]
  readonly [name: string]: unknown
}

export const TRACE = '0af7651916cd43dd8448eb211c80319c'
export const PATH = '/v1/otel/v1/traces'

/** Nanoseconds, some milliseconds ago. */
export const ns = (ms_ago: number, more = 0n): string => String(BigInt(Date.now() - ms_ago) * 1_000_000n + more)

/** An attribute of the kind that its value has. */
export function attribute(key: string, value: string | number | boolean) {
  if (typeof value === 'string') return {key, value: {stringValue: value}}
  if (typeof value === 'boolean') return {key, value: {boolValue: value}}
  return {key, value: Number.isInteger(value) ? {intValue: String(value)} : {doubleValue: value}}
}

export const attributes = (of: Readonly<Record<string, string | number | boolean>>) =>
  Object.entries(of).map(([key, value]) => attribute(key, value))

let made = 0
/** Another id each time. */
export const spanId = (): string => `b${(++made).toString(16).padStart(15, '0')}`

export function span(given: JsonSpan = {}): JsonSpan {
  return {
    traceId: TRACE,
    spanId: spanId(),
    name: 'chat gpt-4o-mini',
    kind: 3,
    startTimeUnixNano: ns(2_000),
    endTimeUnixNano: ns(1_000),
    ...given,
  }
}

/** The work of a model that has a price. */
export const work = (of: Readonly<Record<string, string | number | boolean>> = {}, given: JsonSpan = {}) =>
  span({
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o-mini',
      ...of,
    }),
    ...given,
  })

export const request = (spans: readonly object[], service = 'shop') => ({
  resourceSpans: [
    {
      resource: {attributes: attributes({'service.name': service})},
      scopeSpans: [{scope: {name: 'instrumentation', version: '1.2.3'}, spans}],
    },
  ],
})

export interface IngestHouse {
  readonly gateway: TestGateway
  /** Posts bytes with these headers. */
  post(body: Uint8Array | string, headers?: Record<string, string>, path?: string): Promise<Response>
  /** Posts spans as JSON; gives the reply, whose status has to be 200. */
  send(...spans: readonly object[]): Promise<Record<string, unknown>>
  /** The rows of spans, the newest first. */
  rows(): Promise<LogRow[]>
}

export async function ingestHouse(env: Record<string, string> = {}): Promise<IngestHouse> {
  const gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env})
  onTestFinished(() => gateway.close())
  const post: IngestHouse['post'] = (body, headers = {}, path = PATH) =>
    gateway.call(path, {
      method: 'POST',
      body: body as NonNullable<RequestInit['body']>,
      headers: {'content-type': 'application/json', ...headers},
    })
  return {
    gateway,
    post,
    async send(...spans) {
      const reply = await post(JSON.stringify(request(spans)))
      if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`)
      return (await reply.json()) as Record<string, unknown>
    },
    rows: async () => (await gateway.logs()).filter(({source}) => source === 'otel'),
  }
}
