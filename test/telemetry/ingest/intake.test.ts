import {expect, onTestFinished, test, vi} from 'vitest'
import {startGateway} from '../../support/gateway.ts'
import {startCollector} from '../collector.ts'
import {intakeOf, SENDER} from './hand.ts'
import {attribute, attributes, PATH, request, span, work} from './house.ts'

const JSON_TRACES = {signal: 'traces', encoding: 'json'} as const

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

test('a body is decoded in its turn: few bytes that become many are never many at once', async () => {
  const {noted, intakes} = intakeOf()
  const plain = bodyOf(1)
  let [open, most] = [0, 0]
  const decoded = async () => {
    open++
    most = Math.max(most, open)
    await turn()
    open--
    return plain
  }
  const taken = Array.from({length: 4}, () => intakes.take(Buffer.alloc(9), JSON_TRACES, SENDER, decoded))
  for (let at = 0; at < 4; at++) {
    await vi.waitFor(() => expect(noted.length).toBeGreaterThan(at))
    noted[at]!.done()
  }
  await Promise.all(taken)
  expect(most).toBe(1)
  const bad = intakes.take(Buffer.alloc(9), JSON_TRACES, SENDER, () => Promise.reject(new Error('no gzip')))
  await expect(bad).rejects.toThrow('no gzip')
})

test('behind a slow database, a request whose sender has given up is 429, and no work is done for it', async () => {
  let now = Date.now()
  const waits: (() => void)[] = []
  const {noted, intakes} = intakeOf({now: () => now, settled: () => new Promise(resolve => void waits.push(resolve))})
  const first = intakes.take(bodyOf(1), JSON_TRACES, SENDER)
  const late = Array.from({length: 10}, () => intakes.take(bodyOf(1), JSON_TRACES, SENDER).catch(fault => fault.code))
  await vi.waitFor(() => expect(waits).toHaveLength(1))
  now += 6_000
  const fresh = intakes.take(bodyOf(1), JSON_TRACES, SENDER)
  waits[0]!()
  await vi.waitFor(() => expect(noted).toHaveLength(1))
  noted[0]!.done()
  await first
  expect(await Promise.all(late)).toEqual(Array(10).fill('spans.busy'))
  await vi.waitFor(() => expect(waits).toHaveLength(2))
  waits[1]!()
  await vi.waitFor(() => expect(noted).toHaveLength(2))
  noted[1]!.done()
  expect(await fresh).toMatchObject({taken: 1})
})

test('bodies are handed on no faster than the database takes them: none is lost, nor one of a call', async () => {
  const waits: (() => void)[] = []
  let unwritten = 0
  let most = 0
  const {intakes} = intakeOf({
    note(_, bodies, done) {
      unwritten += bodies?.request_body?.length ?? 0
      most = Math.max(most, unwritten)
      setImmediate(done)
    },
    settled: () => new Promise(resolve => void waits.push(resolve)),
  })
  const spans = Array.from({length: 400}, () => span({attributes: [attribute('text', 'x'.repeat(50_000))]}))
  const taken = intakes.take(Buffer.from(JSON.stringify(request(spans))), JSON_TRACES, SENDER)
  let is_over = false
  void taken.finally(() => {
    is_over = true
  })
  while (!is_over) {
    await new Promise(resolve => setImmediate(resolve))
    const written = waits.splice(0)
    if (written.length > 0) unwritten = 0
    for (const each of written) each()
  }
  expect(await taken).toMatchObject({taken: 400})
  expect(most).toBeGreaterThan(1 << 20)
  expect(most).toBeLessThan(5 << 20)
})

test('prices are not looked up by names that are longer than those of a call', async () => {
  const names: (readonly string[])[] = []
  const {noted, intakes} = intakeOf({
    cost(provider, models) {
      names.push([provider, ...models])
      return {cost_nanousd: 0, unpriced: true, unpriced_units: [], mode_unpriced: null}
    },
  })
  const [long, usage] = ['x'.repeat(2_000), {'gen_ai.usage.input_tokens': 5}]
  const spans = [
    work({...usage, 'gen_ai.request.model': long, 'gen_ai.response.model': 'gpt-4o-mini'}),
    work({...usage, 'gen_ai.provider.name': long}),
  ]
  const taken = intakes.take(Buffer.from(JSON.stringify(request(spans))), JSON_TRACES, SENDER)
  await vi.waitFor(() => expect(noted).toHaveLength(2))
  for (const {done} of noted) done()
  await taken
  expect(names).toEqual([['openai', 'gpt-4o-mini'], [long]])
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
