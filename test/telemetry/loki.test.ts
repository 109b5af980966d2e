import {describe, expect, test} from 'vitest'
import {openLogPush} from '../../src/app/log-push.ts'
import {createLog} from '../../src/base/log.ts'
import {lokiSettings, readSettings, SettingsFault} from '../../src/settings/index.ts'
import {Delivery, noCounts} from '../../src/telemetry/export/delivery.ts'
import {outcomeOf, type SendOutcome} from '../../src/telemetry/export/outcome.ts'
import {lokiLine} from '../../src/telemetry/loki/log-line.ts'
import {type LokiEntry, LokiPush, lokiMeaning} from '../../src/telemetry/loki/push.ts'
import {startGateway} from '../support/gateway.ts'
import {Timers} from '../support/timers.ts'
import {startLoki} from './loki-server.ts'

const NOW_MS = Date.parse('2026-03-04T05:06:08.000Z')
const PLANTED = 'PLANTED prompt text'
const TAKEN: SendOutcome = {kind: 'taken', rejected: 0, reason: null}

/** A push over a clock of its own, with what Loki is sent. */
function pushing(answer: (tries: number) => SendOutcome, most_bytes?: number) {
  const timers = new Timers(NOW_MS)
  const counts = noCounts()
  const sent: {at_ms: number; entries: readonly LokiEntry[]}[] = []
  const delivery = new Delivery<LokiEntry>({
    encode: entries => Buffer.from(JSON.stringify(entries)),
    async send(body) {
      sent.push({at_ms: timers.now_ms - NOW_MS, entries: JSON.parse(body.toString())})
      return answer(sent.length)
    },
    most_items: 100_000,
    most_ms: 300_000,
    counts,
    now: timers.now,
    after: timers.after,
    random: () => 0.5,
    warn: () => undefined,
  })
  const push = new LokiPush({delivery, counts, after: timers.after, ...(most_bytes !== undefined && {most_bytes})})
  const add = (text: string, at_ms = timers.now_ms, level = 'info') => push.add({level, at_ms, text})
  const rest = () => new Promise(resolve => setImmediate(resolve))
  return {push, counts, sent, add, pass: (ms: number) => timers.pass(ms, rest)}
}

const answered = (status: number, retry_after: string | null = null) =>
  outcomeOf({status, retry_after, text: ''}, NOW_MS, () => ({rejected: 0, reason: null}), lokiMeaning)

describe('TL29 the push', () => {
  test('has 2 s of lines together, or 1 MB at once', async () => {
    const {sent, add, pass, counts} = pushing(() => TAKEN)
    add('one')
    await pass(1_900)
    add('two')
    expect(sent).toEqual([])
    await pass(100)
    expect(sent.map(({entries}) => entries.map(({text}) => text))).toEqual([['one', 'two']])
    for (let at = 0; at < 20; at++) add('x'.repeat(100_000))
    await pass(0)
    expect(sent).toHaveLength(4)
    await pass(2_000)
    expect(counts).toMatchObject({sent: 22, dropped: 0})
  })

  test('entries of a stream share no nanosecond, whatever the clock does, and a repeat has the same ones', async () => {
    const {sent, add, pass} = pushing(tries => (tries === 1 ? answered(503) : TAKEN))
    for (const ms of [0, 0, 0, 5, 3, 5, 6]) add('the same', NOW_MS + ms)
    add('the same', NOW_MS, 'warn')
    await pass(10_000)
    const [first, second] = sent
    expect(second!.entries).toEqual(first!.entries)
    const of_info = first!.entries.filter(({level}) => level === 'info').map(({at_ns}) => at_ns)
    expect(new Set(of_info).size).toBe(7)
    expect(of_info).toEqual(of_info.toSorted())
    expect(of_info[0]).toBe(`${NOW_MS}000000`)
    expect(of_info.at(-1)).toBe(`${NOW_MS + 6}000000`)
  })

  test('429 is obeyed, and 500 is tried again; neither loses a line', async () => {
    const {sent, add, pass, counts} = pushing(tries =>
      tries === 1 ? answered(429, '7') : tries === 2 ? answered(500) : TAKEN,
    )
    add('one')
    await pass(8_000)
    expect(sent).toHaveLength(1)
    await pass(1_000)
    expect(sent.map(({at_ms}) => at_ms)).toEqual([2_000, 9_000])
    await pass(1_000)
    expect(sent).toHaveLength(3)
    expect(counts).toMatchObject({sent: 1, refused: 0, failures: 2})
  })

  test.each([null, '3600'])('what Loki does not take for 5 min is dropped and counted (retry-after %s)', async wait => {
    let takes = false
    const {sent, add, pass, counts} = pushing(() => (takes ? TAKEN : answered(429, wait)))
    add('one')
    await pass(301_000)
    expect(counts).toMatchObject({sent: 0, refused: 0})
    await pass(61_000)
    expect(counts).toMatchObject({sent: 0, refused: 1})
    takes = true
    // a rest that Loki named holds for what comes later, too
    await pass(3_600_000)
    add('two')
    await pass(2_000)
    expect(sent.at(-1)!.entries.map(({text}) => text)).toEqual(['two'])
    expect(counts).toMatchObject({sent: 1, refused: 1})
  })

  test('400 is not repeated: the others of the request were taken', async () => {
    const {sent, add, pass, counts} = pushing(() => answered(400))
    add('one')
    add('two')
    await pass(100_000)
    expect(sent).toHaveLength(1)
    expect(counts).toMatchObject({refused: 2})
  })

  test('memory is bounded: the oldest lines are dropped and counted', async () => {
    const {push, sent, add, pass, counts} = pushing(tries => (tries === 1 ? answered(503) : TAKEN), 4 << 20)
    add('first')
    await pass(2_000)
    for (let at = 0; at < 1_000; at++) {
      add(`${at} ${'x'.repeat(10_000)}`)
      expect(push.waiting_bytes).toBeLessThanOrEqual(4 << 20)
    }
    await pass(10_000)
    const texts = sent.slice(1).flatMap(({entries}) => entries.map(({text}) => text.split(' ')[0]))
    expect(texts[0]).toBe('first')
    expect(texts.at(-1)).toBe('999')
    expect(counts.dropped).toBe(1_001 - texts.length)
    expect(counts.dropped).toBeGreaterThan(700)
    expect(push.waiting_bytes).toBe(0)
  })

  test('a stop spends at most a second, and none where Loki rests', async () => {
    const busy = pushing(() => TAKEN)
    busy.add('one')
    await busy.push.close()
    expect(busy.counts).toMatchObject({sent: 1, dropped: 0})
    const resting = pushing(() => answered(429, '600'))
    resting.add('one')
    await resting.pass(2_000)
    resting.add('two')
    await resting.push.close()
    expect(resting.counts).toMatchObject({sent: 0, dropped: 2})
  })
})

describe('TL29 lines', () => {
  const line = (facts: object, msg: string) => {
    const lines: string[] = []
    createLog('trace', 'gateway', text => void lines.push(text)).warn(facts, msg)
    return lines[0]!
  }
  const provider = Object.assign(new Error(`the provider said: ${PLANTED}\n    at ${PLANTED}`), {code: 'E_BAD'})

  test.each([
    ['a fault', {fault: provider}, 'a call failed inside the gateway'],
    ['its cause', {fault: new Error('outer', {cause: provider})}, 'a call failed inside the gateway'],
    ['a refusal', {refused: 'upstream.told', status: 502}, `the provider said: ${PLANTED}`],
    ['a reason', {reason: PLANTED, detail: PLANTED, error: {message: PLANTED}}, 'a server failed'],
    ['a list', {details: [PLANTED], nested: {id: PLANTED}}, 'a server failed'],
  ])('without content quote nobody: %s', (_, facts, msg) => {
    const {text} = lokiLine(line({...facts, trace_id: 't-1'}, msg), false)!
    expect(text).not.toContain('PLANTED')
    expect(JSON.parse(text)).toMatchObject({level: 'warn', service: 'gateway', trace_id: 't-1'})
    expect(lokiLine(line(facts, msg), true)!.text).toContain('PLANTED')
  })

  test('keep what helps without words: kind, code and place of a fault, and the code of a refusal', () => {
    const fault = Object.assign(new TypeError('secret words'), {code: 'ECONNREFUSED'})
    const {text} = lokiLine(line({fault, status: 502, refused: 'upstream.told'}, 'words'), false)!
    const facts = JSON.parse(text)
    expect(facts).toMatchObject({status: 502, refused: 'upstream.told', msg: 'a call was refused'})
    expect(facts.fault).toMatchObject({name: 'TypeError', code: 'ECONNREFUSED'})
    expect(facts.fault.stack).toContain('loki.test.ts')
  })

  test('are cut at 256 KB', () => {
    const {text} = lokiLine(line({reason: '🚀'.repeat(200_000)}, 'long'), true)!
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(256 * 1024)
    expect(Buffer.byteLength(text)).toBeGreaterThan(200 * 1024)
    expect(text.isWellFormed()).toBe(true)
  })

  test.each(['', 'no JSON', '[]', '{"level":7}', '{"level":"info","time":"never"}'])(
    'that are none are left: %j',
    text => {
      expect(lokiLine(text, false)).toBeUndefined()
    },
  )
})

test('TL29 Loki gets each line of a gateway once, in order, with its labels and the login', async () => {
  const loki = await startLoki()
  const env = {ENABLE_LOKI: 'true', LOKI_HOST: loki.url, LOKI_AUTH: 'user:pass:word', LOKI_TENANT: 'house'}
  const gateway = await startGateway({...env, NODE_ENV: 'production', SERVICE_NAME: 'gate'})
  let tries = 0
  loki.answer = reply => {
    if (++tries === 2) loki.answer = null
    reply.writeHead(503).end()
  }
  for (let at = 0; at < 5; at++) await gateway.call('/chat/completions', {method: 'POST', body: 'no JSON'})
  await expect.poll(() => loki.rows.length, {timeout: 20_000}).toBeGreaterThan(5)
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  expect(text).toMatch(/^gateway_log_push_lines_total\{outcome="sent"\} [1-9]/m)
  await gateway.close()
  const written = gateway.lines.map(line => JSON.parse(line))
  expect(loki.rows).toHaveLength(written.length)
  for (const level of ['info', 'warn']) {
    const rows = loki.rows.filter(({stream}) => stream.level === level)
    const times = rows.map(({line}) => JSON.parse(line).time)
    expect(times).toEqual(
      written
        .filter(each => each.level === level)
        .map(({time}) => time)
        .slice(0, times.length),
    )
    expect(new Set(rows.map(({at_ns}) => at_ns)).size).toBe(rows.length)
    for (const {stream} of rows) expect(stream).toEqual({app: 'gate', env: 'production', level})
  }
  const {headers, path} = loki.requests[0]!
  expect(path).toBe('/loki/api/v1/push')
  expect(headers).toMatchObject({
    authorization: `Basic ${Buffer.from('user:pass:word').toString('base64')}`,
    'x-scope-orgid': 'house',
    'content-encoding': 'gzip',
  })
})

test('a Loki that hangs holds a stop for no more than a second', async () => {
  const loki = await startLoki()
  loki.answer = () => undefined
  const {settings} = readSettings({env: {LOKI_PUSH_ENABLED: 'true', LOKI_HOST: loki.url}})
  const log = createLog('info', 'gateway', () => {})
  const push = openLogPush({loki: lokiSettings(settings)!, settings, log})
  log.info('one')
  const began = performance.now()
  await push.close()
  expect(performance.now() - began).toBeLessThan(3_000)
  expect(loki.requests).toHaveLength(1)
  log.info('two')
})

test('settings of Loki that lack the address are refused, and no secret is shown', () => {
  const fault = (env: Record<string, string>) => {
    try {
      readSettings({env})
    } catch (thrown) {
      if (thrown instanceof SettingsFault) return thrown.message
    }
    return ''
  }
  expect(fault({ENABLE_LOKI: 'true'})).toContain('ENABLE_LOKI=true needs LOKI_HOST')
  expect(fault({LOKI_PUSH_ENABLED: 'true'})).toContain('LOKI_PUSH_ENABLED=true needs LOKI_HOST')
  expect(fault({LOKI_AUTH: 'PLANTED'})).toMatch(/LOKI_AUTH/)
  expect(fault({LOKI_AUTH: 'PLANTED'})).not.toContain('PLANTED')
  const {settings} = readSettings({env: {LOKI_HOST: 'http://loki:3100/prefix/'}})
  expect(lokiSettings(settings)).toBeUndefined()
  const on = readSettings({env: {ENABLE_LOKI: 'ON', LOKI_HOST: 'http://loki:3100/prefix/'}}).settings
  expect(lokiSettings(on)).toMatchObject({
    url: 'http://loki:3100/prefix/loki/api/v1/push',
    headers: {},
    labels: {app: 'gateway'},
    has_content: false,
  })
})
