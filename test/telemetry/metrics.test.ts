import {describe, expect, test} from 'vitest'
import type {Settlement} from '../../src/schema/records.ts'
import {emptyUsage} from '../../src/schema/usage.ts'
import type {TelemetryExport} from '../../src/settings/index.ts'
import {encodeSettlement} from '../../src/store/flush/index.ts'
import type {Mark} from '../../src/store/journal/index.ts'
import type {SendOutcome} from '../../src/telemetry/export/outcome.ts'
import {MetricSums} from '../../src/telemetry/metrics/sums.ts'
import {Telemetry} from '../../src/telemetry/run.ts'
import type {Generation} from '../../src/telemetry/semconv.ts'
import {exportedRecord} from '../../src/telemetry/spans/record.ts'
import {intent, logRecord, settlement} from '../support/records.ts'
import {Timers} from '../support/timers.ts'
import {type ForeignPoint, pointsIn, sumOf} from './metric-points.ts'

const NOW_MS = Date.parse('2026-03-04T05:06:08.000Z')
const MINUTE_MS = 60_000
const TAKEN: SendOutcome = {kind: 'taken', rejected: 0, reason: null}
const DOWN: SendOutcome = {kind: 'later', after_ms: null, reason: 'status 503'}

/** A journal in memory, and a receiver that answers as `reply` says. */
class MetricHouse {
  readonly timers = new Timers(NOW_MS)
  readonly requests: {at_ms: number; points: readonly ForeignPoint[]}[] = []
  reply: () => SendOutcome | Promise<SendOutcome> = () => TAKEN
  saved: Mark = {segment: 1, position: 0}
  passed: Mark = this.saved
  telemetry: Telemetry
  readonly #journal: Buffer[] = []
  readonly #generation: Generation
  readonly #protocol: 'http/json' | 'http/protobuf'

  constructor(generation: Generation = '1.40', protocol: 'http/json' | 'http/protobuf' = 'http/protobuf') {
    this.#generation = generation
    this.#protocol = protocol
    this.telemetry = this.start()
  }

  /** As a process that begins where the mark is kept. */
  start(): Telemetry {
    const target: TelemetryExport['target'] = {
      ...{url: 'http://127.0.0.1/v1/metrics', protocol: this.#protocol, headers: {}, timeout_ms: 10_000},
      ...{compression: 'none', certificate: undefined, client_certificate: undefined, client_key: undefined},
    }
    this.telemetry = new Telemetry({
      exports: [{name: 'metrics', kind: 'metrics', content: 'none', resource: {'service.name': 'gate'}, target}],
      ...{generation: this.#generation, delay_ms: 5_000, most_items: 512, metric_interval_ms: MINUTE_MS},
      ...{instance: 'writer-1', spool_bytes: 1 << 20},
      reader: {
        read: (from, up_to, most) => {
          const end = Math.min(up_to.position, from.position + most)
          const records = this.#journal.slice(from.position, end).map(payload => exportedRecord(payload)!)
          return {records, end: {segment: 1, position: end}}
        },
        bytes: (from, to) => to.position - from.position,
      },
      marks: new Map([['metrics', this.saved]]),
      saveMark: async (_, mark) => {
        this.saved = mark
      },
      findBodies: async () => undefined,
      senderOf: () => async (body, signal) => {
        const type = this.#protocol === 'http/json' ? 'application/json' : 'application/x-protobuf'
        const cut = new Promise<SendOutcome>(resolve => signal.addEventListener('abort', () => resolve(DOWN)))
        const outcome = await Promise.race([this.reply(), cut])
        if (outcome.kind === 'taken')
          this.requests.push({at_ms: this.timers.now_ms - NOW_MS, points: pointsIn(type, body)})
        return outcome
      },
      report: ({text, level}) => {
        if (level === 'error') throw new Error(text)
      },
      onPassed: mark => {
        this.passed = mark
      },
      ...{now: this.timers.now, after: this.timers.after, random: () => 0.5},
    })
    return this.telemetry
  }

  call(given: Partial<Settlement> = {}, log: Parameters<typeof logRecord>[0] = {}): void {
    const begun = intent({call_id: `call-${this.#journal.length}`})
    this.#journal.push(
      Buffer.from(encodeSettlement(settlement(begun, {log: logRecord(log), settled_at: begun.admitted_at, ...given}))),
    )
    this.telemetry.committed({segment: 1, position: this.#journal.length})
  }

  pass = (ms: number) => this.timers.pass(ms, settle)

  get last(): readonly ForeignPoint[] {
    return this.requests.at(-1)?.points ?? []
  }
}

/** Everything that waits for no timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** 100 tokens in, 20 out. */
const USED: Partial<Settlement> = {
  usage: {
    ...emptyUsage(),
    ...{input_uncached_tokens: 60, cache_read_tokens: 40, output_text_tokens: 15, output_reasoning_tokens: 5},
  },
  cost_nanousd: 1_234_567,
}
const STREAMED = {is_stream: true, first_byte_ms: 130, last_byte_ms: 2_100, overhead_ms: 100}
const names = (points: readonly ForeignPoint[]) => [...new Set(points.map(({metric}) => metric))].toSorted()

describe.each(['http/json', 'http/protobuf'] as const)('metrics as %s', protocol => {
  test('M26 M27: generation 1.40 has its names alone, in seconds and with the bounds of the conventions', async () => {
    const house = new MetricHouse('1.40', protocol)
    house.call(USED, STREAMED)
    await house.pass(MINUTE_MS)
    expect(names(house.last)).toEqual([
      'gateway.cost',
      'gen_ai.client.operation.duration',
      'gen_ai.client.operation.time_to_first_chunk',
      'gen_ai.client.token.usage',
    ])
    const of = (metric: string) => house.last.filter(point => point.metric === metric)
    const [duration] = of('gen_ai.client.operation.duration')
    expect(duration).toMatchObject({unit: 's', count: 1, sum: 2})
    expect(duration!.bounds).toEqual([
      0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
    ])
    expect(duration!.counts.indexOf(1)).toBe(8)
    expect(duration!.attributes).toMatchObject({'gen_ai.operation.name': 'chat', 'gen_ai.system': 'openai'})
    expect(of('gen_ai.client.operation.time_to_first_chunk')[0]).toMatchObject({unit: 's', count: 1, sum: 0.03})
    const [input, output] = ['input', 'output'].map(type =>
      of('gen_ai.client.token.usage').find(({attributes}) => attributes['gen_ai.token.type'] === type),
    )
    expect([input!.sum, output!.sum]).toEqual([100, 20])
    expect(input!.bounds).toEqual(Array.from({length: 14}, (_, power) => 4 ** power))
    expect(of('gateway.cost')[0]).toMatchObject({sum: 1_234_567, unit: '{nanousd}'})
    expect(duration!.resource).toMatchObject({'service.name': 'gate', 'service.instance.id': 'writer-1'})
  })

  test('M26 M27: generation latest has its names alone', async () => {
    const house = new MetricHouse('latest', protocol)
    house.call(USED, STREAMED)
    house.call({endpoint: 'embed', usage: emptyUsage()})
    await house.pass(MINUTE_MS)
    expect(names(house.last)).toEqual([
      'gateway.cost',
      'gen_ai.client.inference.duration',
      'gen_ai.client.inference.operation.input_tokens',
      'gen_ai.client.inference.operation.output_tokens',
      'gen_ai.client.inference.time_to_first_chunk',
      'gen_ai.client.inference.usage.cache_read.input_tokens',
      'gen_ai.client.inference.usage.input_tokens',
      'gen_ai.client.inference.usage.output_tokens',
      'gen_ai.client.inference.usage.reasoning.output_tokens',
      'gen_ai.client.operation.duration',
    ])
    const durations = house.last.filter(({metric}) => metric === 'gen_ai.client.operation.duration')
    expect(durations.map(({attributes}) => attributes['gen_ai.operation.name'])).toEqual(['embeddings'])
    for (const {attributes} of house.last) expect(attributes).not.toHaveProperty('gen_ai.system')
    expect(sumOf(house.last, 'gen_ai.client.inference.usage.cache_read.input_tokens')).toBe(40)
  })
})

test('sums are cumulative: each request has all since the start, and a call is counted once', async () => {
  const house = new MetricHouse()
  for (let minute = 1; minute <= 3; minute++) {
    house.call(USED)
    await house.pass(MINUTE_MS)
    expect(sumOf(house.last, 'gen_ai.client.token.usage', {'gen_ai.token.type': 'input'})).toBe(100 * minute)
    expect(house.last.every(({start}) => start === BigInt(NOW_MS) * 1_000_000n)).toBe(true)
    expect(house.last.every(({time}) => time === BigInt(house.timers.now_ms) * 1_000_000n)).toBe(true)
  }
  expect(house.requests.map(({at_ms}) => at_ms)).toEqual([60_000, 120_000, 180_000])
})

test('an end of the process loses no call and counts none twice: what receivers add up has each once', async () => {
  const house = new MetricHouse()
  const input = () => sumOf(house.last, 'gen_ai.client.token.usage', {'gen_ai.token.type': 'input'})
  const call = () => house.call(USED)
  call()
  await house.pass(MINUTE_MS)
  const first = input()
  call()
  house.reply = () => DOWN
  await house.pass(MINUTE_MS)
  expect(house.saved.position).toBe(1)
  expect(house.passed.position).toBe(1)
  // killed: the sums are gone, and so is a request that was tried again
  house.reply = () => TAKEN
  house.start()
  house.telemetry.committed({segment: 1, position: 2})
  const {start} = house.last[0]!
  const own = house.requests.length
  await house.telemetry.flush()
  expect(house.requests.length).toBeGreaterThan(own)
  expect(house.last[0]!.start).toBeGreaterThan(start)
  expect([first, input()]).toEqual([100, 100])
  expect(house.saved.position).toBe(2)
})

test('while a receiver is down the journal is read on, and the sums have all when it is back', async () => {
  const house = new MetricHouse()
  house.reply = () => DOWN
  for (let minute = 0; minute < 10; minute++) {
    house.call(USED)
    await house.pass(MINUTE_MS)
  }
  expect(house.requests).toEqual([])
  house.reply = () => TAKEN
  await house.pass(3 * MINUTE_MS)
  expect(sumOf(house.last, 'gen_ai.client.token.usage', {'gen_ai.token.type': 'input'})).toBe(1_000)
  expect(house.saved.position).toBe(10)
})

test('a stop sends the last sums, and spends at most a second where the receiver hangs', async () => {
  const house = new MetricHouse()
  house.call()
  await house.telemetry.close()
  expect(house.requests).toHaveLength(1)
  const hung = new MetricHouse()
  hung.call()
  hung.reply = () => new Promise(() => undefined)
  let is_closed = false
  const closed = hung.telemetry.close().then(() => {
    is_closed = true
  })
  await hung.pass(900)
  expect(is_closed).toBe(false)
  await hung.pass(200)
  await closed
  expect(hung.saved.position).toBe(0)
})

test('series of a metric are bounded: what is beyond them is one series, and no value is lost', () => {
  const sums = new MetricSums(0, 10)
  const of = {name: 'n', description: 'd', unit: 'u'}
  for (let at = 0; at < 100; at++) sums.add({of, attributes: [['model', `m${at}`]], value: 1})
  const [metric] = sums.metrics(1)
  const points = metric!.points.kind === 'sum' ? metric!.points.of : []
  expect(points).toHaveLength(10)
  expect(points.at(-1)).toMatchObject({attributes: [['otel.metric.overflow', true]], value: 91})
  expect(points.reduce((sum, {value}) => sum + value, 0)).toBe(100)
})

test('a value on a bound is in the bucket below it', () => {
  const sums = new MetricSums(0)
  const of = {name: 'n', description: 'd', unit: 'u', bounds: [1, 4]}
  for (const value of [0, 1, 1.5, 4, 5]) sums.add({of, attributes: [], value})
  const [metric] = sums.metrics(1)
  const point = metric!.points.kind === 'histogram' ? metric!.points.of[0] : undefined
  expect(point).toMatchObject({counts: [2, 2, 1], count: 5, sum: 11.5, min: 0, max: 5})
})
