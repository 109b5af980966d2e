import {once} from 'node:events'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {expect, onTestFinished, test, vi} from 'vitest'
import {WORKSPACE_KEY} from '../support/gateway.ts'
import {type Served, serve} from '../support/served.ts'
import {startCollector} from './collector.ts'
import {spansIn} from './decoder.ts'
import {PATH, request, span} from './ingest/house.ts'

const LANES = 4
const ROUNDS = 3
const HEADERS = {'x-gateway-api-key': WORKSPACE_KEY, 'content-type': 'application/json'}
const CHAT = JSON.stringify({model: 'echo', messages: [{role: 'user', content: 'hi'}]})

function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-killed-'))
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
  return folder
}

/** Works in lanes until so much is done, then kills the process with SIGKILL while the lanes are in the middle. */
async function killedInTheMiddle({child}: Served, enough: () => boolean, work: () => Promise<void>): Promise<void> {
  let is_over = false
  const lanes = Array.from({length: LANES}, async () => {
    while (!is_over) await work().catch(() => undefined)
  })
  await vi.waitFor(() => expect(enough()).toBe(true), {timeout: 60_000, interval: 5})
  // the command is what a shell became
  child.kill('SIGKILL')
  await once(child, 'exit')
  is_over = true
  await Promise.all(lanes)
}

test('TL16: after kill -9 the spans of every finished call arrive, and what is sent again is the same', async () => {
  const collector = await startCollector()
  // takes its time, so that a kill finds a batch that was taken and whose mark was not written
  collector.answer = (reply, {type, body}) => {
    collector.spans.push(...spansIn(type, body))
    setTimeout(() => reply.writeHead(200, {'content-type': type}).end(), 30)
  }
  const folder = dataFolder()
  const env = {OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100'}
  const finished = new Set<string>()
  let made = 0
  for (let round = 0; round < ROUNDS; round++) {
    const served = await serve(env, {folder})
    const call = async () => {
      const trace_id = `c${(++made).toString(16).padStart(31, '0')}`
      const reply = await fetch(`${served.url}/v1/chat/completions`, {
        method: 'POST',
        body: CHAT,
        headers: {...HEADERS, 'x-gateway-provider': '@demo', traceparent: `00-${trace_id}-${'b'.repeat(16)}-01`},
      })
      await reply.json()
      if (reply.status === 200) finished.add(trace_id)
    }
    const goal = finished.size + 150
    const sent = collector.spans.length
    await killedInTheMiddle(served, () => finished.size >= goal && collector.spans.length > sent, call)
  }
  const last = await serve(env, {folder})
  const kindsOf = () => {
    const kinds = new Map<string, Map<string, number>>()
    for (const {trace_id, span_id, kind} of collector.spans) {
      const of = kinds.get(trace_id) ?? new Map<string, number>()
      kinds.set(trace_id, of.set(span_id, kind))
    }
    return kinds
  }
  const [SERVER, CLIENT] = [2, 3]
  await vi.waitFor(
    () => {
      const kinds = kindsOf()
      expect([...finished].filter(trace_id => !kinds.has(trace_id))).toEqual([])
    },
    {timeout: 60_000, interval: 100},
  )
  const kinds = kindsOf()
  // a span that came twice has one id: of each call there are two in all
  for (const trace_id of finished) expect([...kinds.get(trace_id)!.values()].toSorted()).toEqual([SERVER, CLIENT])
  expect(finished.size).toBeGreaterThanOrEqual(150 * ROUNDS)
  expect((await last.stop()).signal).toBeNull()
}, 240_000)

test('TI3: after kill -9 every acknowledged span is in the log once, also where its request comes again', async () => {
  const folder = dataFolder()
  const acknowledged = new Set<string>()
  const sent: {readonly body: string; readonly ids: readonly string[]}[] = []
  const post = async (url: string, {body, ids}: (typeof sent)[number]) => {
    const reply = await fetch(url + PATH, {method: 'POST', body, headers: HEADERS})
    await reply.text()
    if (reply.status === 200) for (const id of ids) acknowledged.add(id)
    return reply.status
  }
  for (let round = 0; round < ROUNDS; round++) {
    const served = await serve({}, {folder})
    const goal = acknowledged.size + 400
    await killedInTheMiddle(
      served,
      () => acknowledged.size >= goal,
      async () => {
        const spans = Array.from({length: 20}, () => span())
        const one = {body: JSON.stringify(request(spans)), ids: spans.map(({spanId}) => String(spanId))}
        sent.push(one)
        await post(served.url, one)
      },
    )
  }
  const before = new Set(acknowledged)
  const last = await serve({}, {folder})
  // an exporter that heard nothing sends again; one that was answered may as well
  for (const one of sent) expect(await post(last.url, one)).toBe(200)
  expect((await last.stop()).signal).toBeNull()
  const db = new Sqlite(join(folder, 'traffic.db'), {readonly: true})
  onTestFinished(() => void db.close())
  const rows = db.prepare("select span_id from logs where endpoint = 'ingestTelemetry'").pluck().all() as string[]
  expect(before.size).toBeGreaterThanOrEqual(400 * ROUNDS)
  expect(rows.length).toBe(new Set(rows).size)
  expect(new Set(rows)).toEqual(new Set(sent.flatMap(({ids}) => ids)))
  expect(db.prepare('select count(*) from ledger_entries').pluck().get()).toBe(0)
}, 240_000)

test('TI3: what was acknowledged before a kill is there without being sent again', async () => {
  const folder = dataFolder()
  const served = await serve({}, {folder})
  const spans = Array.from({length: 50}, () => span())
  const reply = await fetch(served.url + PATH, {method: 'POST', body: JSON.stringify(request(spans)), headers: HEADERS})
  expect(reply.status).toBe(200)
  served.child.kill('SIGKILL')
  await once(served.child, 'exit')
  const next = await serve({}, {folder})
  await next.stop()
  const db = new Sqlite(join(folder, 'traffic.db'), {readonly: true})
  onTestFinished(() => void db.close())
  expect(db.prepare("select count(*) from logs where endpoint = 'ingestTelemetry'").pluck().get()).toBe(50)
}, 120_000)
