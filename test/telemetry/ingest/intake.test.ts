import {expect, onTestFinished, test, vi} from 'vitest'
import type {Settlement} from '../../../src/schema/records.ts'
import type {IngestPorts, SpanSender} from '../../../src/telemetry/ingest/ports.ts'
import {SpanIntakes} from '../../../src/telemetry/ingest/spans.ts'
import {startGateway} from '../../support/gateway.ts'
import {startCollector} from '../collector.ts'
import {attributes, PATH, request, span} from './house.ts'

const SENDER: SpanSender = {
  principal: {kind: 'api_key', id: 'key'},
  organisation_id: 'o',
  workspace_id: 'w',
  user_id: null,
  metadata: {},
  keeps_bodies: true,
}

const JSON_TRACES = {signal: 'traces', encoding: 'json'} as const

type Done = (fault?: Error) => void

/** An intake over ports that a test answers by hand. */
function intakeOf(given: Partial<IngestPorts> = {}) {
  const noted: {readonly row: Settlement; readonly done: Done}[] = []
  const ports: IngestPorts = {
    note: (row, _, done) => void noted.push({row, done}),
    settled: async () => undefined,
    rowsOfTraces: async () => [],
    cost: () => ({cost_nanousd: 0, unpriced: true, unpriced_units: [], mode_unpriced: null}),
    pause: () => new Promise(resolve => setImmediate(resolve)),
    now: Date.now,
    log_retention_days: 30,
    most_body_bytes: 1 << 20,
    masked: new Set(),
    ...given,
  }
  return {noted, intakes: new SpanIntakes(ports)}
}

const bodyOf = (count: number) => Buffer.from(JSON.stringify(request(Array.from({length: count}, () => span()))))
const turn = () => new Promise(resolve => setTimeout(resolve, 20))

test('a request is answered when the journal has all of its spans, and not before', async () => {
  const {noted, intakes} = intakeOf()
  let is_answered = false
  const taken = intakes.take(bodyOf(3), JSON_TRACES, SENDER).then(intake => {
    is_answered = true
    return intake
  })
  await vi.waitFor(() => expect(noted).toHaveLength(3))
  noted[0]!.done()
  noted[2]!.done()
  await turn()
  expect(is_answered).toBe(false)
  noted[1]!.done()
  expect(await taken).toMatchObject({taken: 3})
  // no attempt, no claim: neither the ledger nor a counter hears of it
  for (const {row} of noted) expect(row).toMatchObject({attempt: 0, counter_keys: [], endpoint: 'ingestTelemetry'})
})

test('a journal that takes one of them not is 503 for the whole', async () => {
  const {noted, intakes} = intakeOf()
  const taken = intakes.take(bodyOf(2), JSON_TRACES, SENDER)
  await vi.waitFor(() => expect(noted).toHaveLength(2))
  noted[0]!.done()
  noted[1]!.done(new Error('the journal is full'))
  await expect(taken).rejects.toMatchObject({code: 'journal.full', status: 503})
})

test('requests are read one after the other, and what waits has a bound', async () => {
  const {noted, intakes} = intakeOf()
  const results = Array.from({length: 66}, () =>
    intakes.take(bodyOf(1), JSON_TRACES, SENDER).then(
      () => 'taken',
      fault => fault.code,
    ),
  )
  await turn()
  expect(noted).toHaveLength(1)
  for (let at = 0; at < 64; at++) {
    await vi.waitFor(() => expect(noted.length).toBeGreaterThan(at))
    noted[at]!.done()
  }
  const outcomes = await Promise.all(results)
  expect(outcomes.filter(outcome => outcome === 'taken')).toHaveLength(64)
  expect(outcomes.filter(outcome => outcome === 'spans.busy')).toHaveLength(2)
  const large = intakeOf()
  const first = large.intakes.take(Buffer.alloc(100 << 20), JSON_TRACES, SENDER).catch(fault => fault.code)
  await expect(large.intakes.take(Buffer.alloc(100 << 20), JSON_TRACES, SENDER)).rejects.toMatchObject({status: 429})
  expect(await first).toBe('body.not_json')
})

test('a fault of one request is not that of the next', async () => {
  const {noted, intakes} = intakeOf()
  const bad = intakes.take(Buffer.from('{'), JSON_TRACES, SENDER)
  const good = intakes.take(bodyOf(1), JSON_TRACES, SENDER)
  await expect(bad).rejects.toMatchObject({code: 'body.not_json'})
  await vi.waitFor(() => expect(noted).toHaveLength(1))
  noted[0]!.done()
  expect(await good).toMatchObject({taken: 1})
})

test('TI8: spans of applications are not sent on to collectors, in whatever export', async () => {
  const collector = await startCollector()
  const gateway = await startGateway({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_PUSH_ENABLED: 'true',
    OTEL_ENDPOINT: `${collector.url}/analytics`,
    OTEL_LOGS_EXPORTER: 'otlp',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  })
  onTestFinished(() => gateway.close())
  const planted = span({name: 'planted-name', attributes: attributes({'gen_ai.operation.name': 'chat'})})
  const reply = await gateway.call(PATH, {
    method: 'POST',
    body: JSON.stringify(request([planted])),
    headers: {'content-type': 'application/json'},
  })
  expect(reply.status).toBe(200)
  const body = {model: 'echo', messages: [{role: 'user', content: 'hi'}]}
  await gateway.chat(body, {'x-gateway-provider': '@demo'})
  await vi.waitFor(() => expect(new Set(collector.requests.map(({path}) => path)).size).toBe(3), {timeout: 20_000})
  const trace_id = String(planted.traceId)
  expect(collector.spans.filter(each => each.trace_id === trace_id)).toEqual([])
  for (const {body: sent} of collector.requests) expect(sent.includes('planted-name')).toBe(false)
}, 60_000)
