import {expect, onTestFinished, test} from 'vitest'
import {Egress} from '../../src/base/egress/pools.ts'
import type {Settlement} from '../../src/schema/records.ts'
import type {TelemetryExport, TraceSampling} from '../../src/settings/index.ts'
import {encodeSettlement} from '../../src/store/flush/index.ts'
import type {Mark} from '../../src/store/journal/index.ts'
import {sender} from '../../src/telemetry/export/http.ts'
import type {JournalReader} from '../../src/telemetry/export/journal-reader.ts'
import type {SendOutcome} from '../../src/telemetry/export/outcome.ts'
import {partialSuccess} from '../../src/telemetry/export/partial-success.ts'
import {type Send, Telemetry, type TelemetryReport} from '../../src/telemetry/run.ts'
import {exportedRecord} from '../../src/telemetry/spans/record.ts'
import {intent, logRecord, settlement} from '../support/records.ts'
import {forRing} from '../support/ring.ts'
import {Timers} from '../support/timers.ts'
import {startCollector} from './collector.ts'
import {type ForeignSpan, spansIn} from './decoder.ts'

const NOW_MS = Date.parse('2026-03-04T05:06:08.000Z')
const CALLS_A_SECOND = forRing({own: 5, ci: 50, full: 50})
const TAKEN: SendOutcome = {kind: 'taken', rejected: 0, reason: null}
const DOWN: SendOutcome = {kind: 'later', after_ms: null, reason: 'status 503'}
const TARGET: TelemetryExport = {
  name: 'calls',
  kind: 'calls',
  content: 'none',
  resource: {'service.name': 'gateway'},
  target: {
    url: 'http://127.0.0.1/v1/traces',
    protocol: 'http/protobuf',
    headers: {},
    timeout_ms: 10_000,
    compression: 'none',
    certificate: undefined,
    client_certificate: undefined,
    client_key: undefined,
  },
}

interface Given {
  readonly spool_bytes?: number
  readonly send?: Send
  readonly sampler?: TraceSampling
}

/** A journal in memory, and a receiver that answers as `reply` says. */
class House {
  readonly timers = new Timers(NOW_MS)
  readonly spans: ForeignSpan[] = []
  readonly tries_ms: number[] = []
  readonly reports: TelemetryReport[] = []
  readonly passed: Mark[] = []
  saved: Mark = {segment: 1, position: 0}
  reply: (spans: readonly ForeignSpan[], body: Buffer) => SendOutcome | Promise<SendOutcome> = () => TAKEN
  readonly #journal: {readonly payload: Buffer; readonly end: number}[] = []
  telemetry: Telemetry
  readonly #given: Given

  constructor(given: Given = {}) {
    this.#given = given
    this.telemetry = this.start()
  }

  /** As a process that begins where the mark is kept. */
  start(): Telemetry {
    this.telemetry = new Telemetry({
      exports: [this.#given.sampler ? {...TARGET, sampler: this.#given.sampler} : TARGET],
      generation: '1.40',
      delay_ms: 5_000,
      most_items: 512,
      metric_interval_ms: 60_000,
      instance: 'writer',
      spool_bytes: this.#given.spool_bytes ?? 256 << 20,
      reader: this.#reader,
      marks: new Map([['calls', this.saved]]),
      saveMark: async (_, mark) => {
        this.saved = mark
      },
      findBodies: async () => undefined,
      senderOf: () => this.#given.send ?? ((body, signal) => this.#send(body, signal)),
      report: report => void this.reports.push(report),
      onPassed: mark => void this.passed.push(mark),
      now: this.timers.now,
      after: this.timers.after,
      random: () => 0.5,
    })
    return this.telemetry
  }

  async #send(body: Buffer, signal: AbortSignal): Promise<SendOutcome> {
    this.tries_ms.push(this.timers.now_ms - NOW_MS)
    const spans = spansIn('application/x-protobuf', body)
    const cut = new Promise<SendOutcome>(resolve => signal.addEventListener('abort', () => resolve(DOWN)))
    const outcome = await Promise.race([this.reply(spans, body), cut])
    if (outcome.kind === 'taken') this.spans.push(...spans)
    return outcome
  }

  get #reader(): JournalReader {
    return {
      read: (from, up_to, most) => {
        const records = []
        let [low, high] = [0, this.#journal.length]
        while (low < high) {
          const middle = (low + high) >> 1
          if (this.#journal[middle]!.end <= from.position) low = middle + 1
          else high = middle
        }
        for (let at = low; at < this.#journal.length; at++) {
          const {payload, end} = this.#journal[at]!
          if (end > up_to.position) break
          records.push(exportedRecord(payload)!)
          if (records.length === most) return {records, end: {segment: 1, position: end}}
        }
        return {records, end: up_to}
      },
      bytes: (from, to) => Math.max(0, to.position - from.position),
    }
  }

  get end(): number {
    return this.#journal.at(-1)?.end ?? 0
  }

  call(at_ms = this.timers.now_ms, given: Partial<Settlement> = {}): void {
    const time = new Date(at_ms).toISOString()
    const begun = intent({call_id: `call-${this.#journal.length}`, admitted_at: time})
    const payload = Buffer.from(
      encodeSettlement(settlement(begun, {log: logRecord({created_at: time}), settled_at: time, ...given})),
    )
    this.#journal.push({payload, end: this.end + payload.length})
  }

  commit(): void {
    this.telemetry.committed({segment: 1, position: this.end})
  }

  pass = (ms: number) => this.timers.pass(ms, settle)

  get counts() {
    return this.telemetry.status()[0]!
  }

  get ids(): readonly string[] {
    return this.spans.map(({trace_id, span_id}) => `${trace_id} ${span_id}`)
  }
}

/** Everything that waits for no timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await new Promise(resolve => setImmediate(resolve))
}

test(`TL14: a collector is down for 10 minutes at ${CALLS_A_SECOND} calls a second: all spans arrive, none twice`, async () => {
  const house = new House()
  house.reply = () => DOWN
  const calls = CALLS_A_SECOND * 600
  for (let second = 0; second < 600; second += 10) {
    for (let call = 0; call < 10 * CALLS_A_SECOND; call++) house.call()
    house.commit()
    await house.pass(10_000)
  }
  expect(house.spans).toEqual([])
  const waits = house.tries_ms.slice(1).map((at_ms, place) => at_ms - house.tries_ms[place]!)
  expect(waits.slice(0, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  house.reply = () => TAKEN
  await house.pass(120_000)
  expect(house.spans).toHaveLength(2 * calls)
  expect(new Set(house.ids).size).toBe(2 * calls)
  expect(house.counts).toMatchObject({sent: 2 * calls, dropped: 0, refused: 0, behind_bytes: 0})
}, 120_000)

test('TL15: past the bound the oldest is passed over, and the counter is the number of it', async () => {
  const house = new House({spool_bytes: 1 << 20})
  house.reply = () => DOWN
  const calls = 1_500
  for (let call = 0; call < calls; call++) house.call()
  expect(house.end).toBeGreaterThan(1.2 * (1 << 20))
  house.commit()
  await house.pass(20_000)
  house.reply = () => TAKEN
  await house.pass(120_000)
  const {dropped, sent} = house.counts
  expect(dropped).toBeGreaterThan(200)
  expect(sent + dropped).toBe(2 * calls)
  expect(new Set(house.ids).size).toBe(sent)
  expect(house.spans.at(-1)!.attributes['gateway.call.id']).toBe(`call-${calls - 1}`)
  expect(house.spans.some(({attributes}) => attributes['gateway.call.id'] === 'call-0')).toBe(false)
})

test('TL15: a slice that was taken in part before the bound is counted once', async () => {
  const house = new House({spool_bytes: 1 << 20})
  for (let call = 0; call < 201; call++) house.call()
  let times = 0
  house.reply = () => {
    times++
    return times === 1 ? {kind: 'too_large', reason: 'status 413'} : times === 2 ? TAKEN : DOWN
  }
  house.commit()
  await house.pass(6_000)
  expect(house.counts.sent).toBeGreaterThan(0)
  expect(house.counts.behind_bytes).toBe(house.end)
  for (let call = 0; call < 1_400; call++) house.call()
  house.commit()
  await house.pass(20_000)
  house.reply = () => TAKEN
  await house.pass(120_000)
  const {sent, dropped} = house.counts
  expect(dropped).toBeGreaterThan(200)
  expect(sent + dropped).toBe(2 * 1_601)
  expect(new Set(house.ids).size).toBe(sent)
}, 60_000)

test('TL15: on a full disk what waits is passed over at once and counted, and what comes later is sent', async () => {
  const house = new House()
  house.reply = () => DOWN
  for (let call = 0; call < 700; call++) house.call()
  house.commit()
  await house.pass(20_000)
  expect(house.counts).toMatchObject({sent: 0, dropped: 0, behind_bytes: house.end})
  house.telemetry.passOver()
  await settle()
  expect(house.counts).toMatchObject({sent: 0, dropped: 1_400, behind_bytes: 0})
  expect(house.passed.at(-1)).toEqual({segment: 1, position: house.end})
  expect(house.saved).toEqual({segment: 1, position: house.end})
  house.reply = () => TAKEN
  house.call()
  house.commit()
  await house.pass(120_000)
  expect(house.counts).toMatchObject({sent: 2, dropped: 1_400, behind_bytes: 0})
})

test('a record that nothing can be made of is counted and holds back no other', async () => {
  const house = new House()
  const created_at = new Date(NOW_MS).toISOString()
  house.call()
  house.call(NOW_MS, {log: logRecord({created_at, hook_results: {before_request_hooks: [{id: 'x'}]} as never})})
  house.call()
  house.commit()
  await house.pass(10_000)
  expect(house.counts).toMatchObject({sent: 4, dropped: 1, behind_bytes: 0})
  expect(house.reports).toMatchObject([{level: 'warn', facts: {call_id: 'call-1', reason: 'TypeError'}}])
})

test('TL15: what is older than 24 hours is passed over as well', async () => {
  const house = new House()
  house.call(NOW_MS - 25 * 3_600_000)
  house.call()
  house.commit()
  await house.pass(10_000)
  expect([house.counts.dropped, house.counts.sent]).toEqual([2, 2])
})

test('TL16: an end of the process at any moment loses nothing, and what is sent again has the same ids', async () => {
  const house = new House()
  for (let call = 0; call < 600; call++) house.call()
  house.commit()
  let requests = 0
  house.reply = () => (++requests === 2 ? new Promise<SendOutcome>(() => undefined) : TAKEN)
  await house.pass(6_000)
  expect(house.spans.length).toBeGreaterThan(0)
  const before = house.ids
  house.start() // of the process before nothing is left but the mark
  house.reply = () => TAKEN
  house.commit()
  await house.pass(10_000)
  expect(new Set(house.ids).size).toBe(1_200)
  expect(house.ids.filter(id => before.includes(id)).length).toBeLessThan(1_200)
})

test('TL16: calls that the sampler leaves out move the mark as well: the journal does not wait for them', async () => {
  const house = new House({sampler: {name: 'parentbased_always_off', ratio: 1}})
  for (let call = 0; call < 10; call++) house.call()
  house.commit()
  await house.pass(10_000)
  expect(house.spans).toEqual([])
  expect(house.saved).toEqual({segment: 1, position: house.end})
  expect(house.counts).toMatchObject({sent: 0, dropped: 0, behind_bytes: 0})
})

test('TL17: 503 with Retry-After 7 is tried again after 7 s, and not before', async () => {
  const house = new House()
  house.call()
  house.reply = () => (house.tries_ms.length === 1 ? {kind: 'later', after_ms: 7_000, reason: 'status 503'} : TAKEN)
  house.commit()
  await house.pass(30_000)
  expect(house.tries_ms).toEqual([5_000, 12_000])
})

test('TL18: 400 drops the batch, with one warning a minute', async () => {
  const house = new House()
  house.reply = () => ({kind: 'refused', reason: 'status 400'})
  for (let batch = 0; batch < 3; batch++) {
    house.call()
    house.commit()
    await house.pass(10_000)
  }
  expect(house.counts).toMatchObject({refused: 6, sent: 0, behind_bytes: 0})
  expect(house.tries_ms).toHaveLength(3)
  expect(house.reports.map(({level, facts}) => [level, facts.reason])).toEqual([['warn', 'status 400']])
})

test('TL18: 413 halves the batch down to what is taken; a span that is too large by itself is dropped', async () => {
  const house = new House()
  for (let call = 0; call < 40; call++) house.call()
  house.reply = (spans, body) =>
    body.length > 4_000 || spans.some(({attributes}) => attributes['gateway.call.id'] === 'call-7')
      ? {kind: 'too_large', reason: 'status 413'}
      : TAKEN
  house.commit()
  await house.pass(10_000)
  expect(house.counts).toMatchObject({sent: 78, refused: 2, failures: 0})
  const tries = house.tries_ms.length
  house.call()
  house.commit()
  await house.pass(10_000)
  expect(house.tries_ms.length - tries).toBeLessThanOrEqual(3)
})

test('TL19: 3 rejected of a batch are counted and never sent again', async () => {
  const house = new House()
  for (let call = 0; call < 5; call++) house.call()
  house.reply = () => ({kind: 'taken', rejected: 3, reason: null})
  house.commit()
  await house.pass(20_000)
  expect(house.counts).toMatchObject({sent: 7, rejected: 3})
  expect(house.tries_ms).toHaveLength(1)
})

test('TL33: a stop is not prolonged by a collector that said Retry-After: 600, nor by one that hangs', async () => {
  const late = new House()
  late.call()
  late.reply = () => ({kind: 'later', after_ms: 600_000, reason: 'status 503'})
  late.commit()
  await late.pass(6_000)
  await late.telemetry.close()
  expect(late.saved.position).toBe(0)
  const hung = new House()
  hung.call()
  hung.reply = () => new Promise(() => undefined)
  hung.commit()
  const closed = hung.telemetry.close()
  await hung.pass(1_000)
  await closed
  expect(hung.saved.position).toBe(0)
  const well = new House()
  well.call()
  well.commit()
  await well.telemetry.close()
  expect(well.spans).toHaveLength(2)
})

test('TL34 TL19 TL25: a reply over HTTP that never ends is over at the timeout; rejections are read', async () => {
  const collector = await startCollector()
  const egress = new Egress()
  onTestFinished(() => egress.destroy())
  const send = (timeout_ms = 300) =>
    sender(
      egress,
      {
        url: `${collector.url}/v1/traces`,
        content_type: 'application/json',
        headers: {authorization: 'Bearer secret-of-the-collector'},
        compression: 'gzip',
        timeout_ms,
        rejectedOf: partialSuccess,
      },
      () => NOW_MS,
    )(Buffer.from('{}'), new AbortController().signal)
  const answers = (status: number, body: string | Buffer, headers: Record<string, string> = {}) => {
    collector.answer = reply => reply.writeHead(status, {'content-type': 'application/json', ...headers}).end(body)
  }
  collector.answer = () => undefined
  expect(await send()).toEqual({kind: 'later', after_ms: null, reason: 'no answer in time'})
  collector.answer = reply => reply.writeHead(200, {'content-length': '100'}).write('{')
  expect(await send()).toMatchObject({kind: 'later'})
  answers(503, '', {'retry-after': '7'})
  expect(await send(5_000)).toMatchObject({kind: 'later', after_ms: 7_000})
  answers(200, '{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "no"}}')
  expect(await send(5_000)).toEqual({kind: 'taken', rejected: 3, reason: 'no'})
  answers(200, Buffer.from([0x0a, 0x02, 0x08, 0x03]), {'content-type': 'application/x-protobuf'})
  expect(await send(5_000)).toMatchObject({kind: 'taken', rejected: 3})
  answers(400, 'http: request body too large')
  expect(await send(5_000)).toMatchObject({kind: 'too_large'})
  answers(413, '')
  expect(await send(5_000)).toMatchObject({kind: 'too_large'})
  answers(401, 'no')
  expect(await send(5_000)).toEqual({kind: 'refused', reason: 'status 401'})
  expect(collector.requests.every(({headers}) => headers['content-encoding'] === 'gzip')).toBe(true)
})
