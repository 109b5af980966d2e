import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {openStore} from '../../../src/store/dialect/index.ts'
import {startGateway} from '../../support/gateway.ts'
import {type Case, optionsOf, reportOfWhole, reportsOf, typeOf} from './cases.ts'
import {SETTINGS, WAYS} from './ways.ts'
import type {Counts} from './words.ts'

/** How long the provider gives a client to leave, and the gateway to hear of it. */
const LEAVES_MS = 6
const HEARS_MS = 25

/** What the provider sent of a case. */
export interface Sent {
  hits: number
  /** Usage was requested of it. */
  asked: boolean
  asked_bytes: number
  /** The last event that it sent before anybody left. */
  last: number
  readonly reports: Counts[]
  readonly bytes: Buffer[]
}

/** What a client saw of a case. */
export interface Seen {
  /** 0: it was gone before any answer. */
  readonly status: number
  readonly type: string | null
  readonly bytes: Buffer
}

/** An upstream attempt as the ledger holds it. */
export interface Entry {
  readonly attempt: number
  readonly outcome: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cost_nanousd: number
  readonly usage_source: string
}

interface Playing {
  readonly one: Case
  readonly sent: Sent
  readonly leave: () => void
}

export interface House {
  play(one: Case, trace: string, key: 'limited' | 'free'): Promise<{seen: Seen; sent: Sent}>
  /** Entries by trace, once each of so many traces has some. */
  entries(traces: number): Promise<ReadonlyMap<string, readonly Entry[]>>
  close(): Promise<void>
}

export async function openHouse(): Promise<House> {
  const playing = new Map<string, Playing>()
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('error', () => undefined)
    request.on('end', () => void answer(Buffer.concat(parts), request, response, playing))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  for (const kind of new Set(WAYS.map(({provider}) => provider)))
    await gateway.provider(kind, kind, url, {configurations: {custom_host: url, ...SETTINGS[kind]?.()}})
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const keyWith = async (name: string, more: object) => {
    const body = {name, workspace_id: workspace!.id, scopes: ['completions.write'], ...more}
    return (await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)).key
  }
  const keys = {
    limited: await keyWith('limited', {usage_limits: {type: 'tokens', credit_limit: 1e15}}),
    free: await keyWith('free', {}),
  }
  return {
    async play(one, trace, key) {
      const gone = new AbortController()
      const sent: Sent = {hits: 0, asked: false, asked_bytes: 0, last: -1, reports: [], bytes: []}
      playing.set(trace, {one, sent, leave: () => gone.abort()})
      const is_stream = one.end !== 'whole'
      const body = {...one.way.body(`${trace}. Tell of Vienna, and of the river.`, is_stream), ...optionsOf(one)}
      const headers = {
        'content-type': 'application/json',
        'x-gateway-api-key': keys[key],
        'x-gateway-provider': `@${one.way.provider}`,
        'x-gateway-trace-id': trace,
      }
      const path = `/v1${one.way.paths[is_stream ? 0 : 1]}`
      const seen = await readWhole(gateway.url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: gone.signal,
      })
      return {seen, sent}
    },
    async entries(traces) {
      const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'})
      try {
        for (const until = Date.now() + 10_000; ; ) {
          await gateway.app.flushed()
          const rows = await store.db.selectFrom('traffic.ledger_entries').selectAll().orderBy('sequence').execute()
          const by_trace = new Map<string, Entry[]>()
          for (const row of rows) by_trace.set(row.trace_id!, [...(by_trace.get(row.trace_id!) ?? []), row as Entry])
          if (by_trace.size >= traces || Date.now() > until) return by_trace
          await new Promise(resolve => setTimeout(resolve, 50))
        }
      } finally {
        await store.close()
      }
    },
    async close() {
      await gateway.close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** Reads as far as it comes: what breaks off has been seen all the same. */
async function readWhole(url: string, init: RequestInit): Promise<Seen> {
  const parts: Buffer[] = []
  let [status, type]: [number, string | null] = [0, null]
  try {
    const reply = await fetch(url, init)
    status = reply.status
    type = reply.headers.get('content-type')
    for await (const part of reply.body ?? []) parts.push(Buffer.from(part as Uint8Array))
  } catch {
    // the connection broke, or the client left
  }
  return {status, type, bytes: Buffer.concat(parts)}
}

/** Plays the case that the request names. */
async function answer(
  body: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
  playing: ReadonlyMap<string, Playing>,
) {
  response.on('error', () => undefined)
  const found = playing.get(/ms-\d+-\w/.exec(body.toString())?.[0] ?? '')
  if (!found) return void response.writeHead(500).end(`unknown: ${request.url} ${body.toString().slice(0, 200)}`)
  const {one, sent, leave} = found
  sent.hits++
  sent.asked = /"include_usage":\s*true/.test(body.toString())
  sent.asked_bytes = body.length
  const {told, late} = reportsOf(one, sent.asked)
  const type = typeOf(one)
  response.sendDate = false
  response.writeHead(200, type === null ? {} : {'content-type': type})
  if (one.end === 'whole') {
    const report = reportOfWhole(one)
    if (report) sent.reports.push(report)
    const bytes = Buffer.from(JSON.stringify(one.way.words.whole(one.pieces.join(''), report)))
    sent.bytes.push(bytes)
    return void response.end(bytes)
  }
  const write = (at: number) => {
    const step = one.steps[at]!
    const report = told.get(at)
    if (step.place === 'usage' && !report) return
    const bytes = step.bytes(report ?? (one.way.on_request && sent.asked ? null : undefined))
    if (report) sent.reports.push(report)
    sent.bytes.push(bytes)
    response.write(bytes)
  }
  response.flushHeaders()
  for (let at = 0; at <= one.last; at++) {
    write(at)
    // some come together, some apart
    if (at % 2 === 1) await soon()
  }
  sent.last = one.last
  switch (one.end) {
    case 'stream': {
      const rest = late && one.way.words.late(late)
      if (rest) sent.bytes.push(rest)
      return void (rest ? response.end(rest) : response.end())
    }
    case 'ends early':
      return void response.end()
    case 'reset':
      return void setImmediate(() => response.socket?.destroySoon())
    case 'client gone': {
      const left = new Promise<void>(resolve => response.on('close', resolve))
      await waits(LEAVES_MS)
      leave()
      await Promise.race([left, waits(HEARS_MS)])
      for (let at = one.last + 1; at < one.steps.length && !response.destroyed; at++) write(at)
      return void response.end()
    }
  }
}

const soon = () => new Promise<void>(resolve => setImmediate(resolve))
const waits = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
