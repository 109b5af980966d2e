import {generateKeyPairSync, randomBytes} from 'node:crypto'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test, vi} from 'vitest'
import {makeAuthority} from '../../src/base/certificates/make.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {forRing} from '../support/ring.ts'

import {type Collector, startCollector} from './collector.ts'
import type {ForeignSpan} from './decoder.ts'
import {json, REPLY, startUpstream} from './upstream.ts'

const SOON = {timeout: 30_000, interval: 25}
const SECRET = 'planted-7f3a'
const CLIENT = 3

async function house(env: Record<string, string> = {}) {
  const collector = await startCollector()
  const gateway = await startGateway({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    ...env,
  })
  onTestFinished(() => gateway.close())
  const upstream = await startUpstream()
  await gateway.provider('one', 'openai', upstream.url)
  const chat = async (config: object, body: object = {}, headers: Record<string, string> = {}) => {
    const reply = await gateway.chat(
      {model: 'gpt-4o', messages: [{role: 'user', content: `${SECRET}-prompt`}], ...body},
      {'x-gateway-config': JSON.stringify({provider: '@one', ...config}), ...headers},
    )
    await reply.text().catch(() => '')
    return reply.status
  }
  return {collector, gateway, upstream, chat}
}

const servers = ({spans}: Collector) => spans.filter(({kind}) => kind === 2)
const bytesOf = ({requests}: Collector) => Buffer.concat(requests.map(({body}) => body)).toString('latin1')

/** Calls of every kind with planted texts in whatever a call has. */
async function plant({chat, upstream, gateway}: Awaited<ReturnType<typeof house>>): Promise<number> {
  const hook = (deny: boolean) => ({
    type: 'guardrail',
    id: 'words',
    deny,
    checks: [{id: 'default.contains', parameters: {words: [`${SECRET}-prompt`], operator: 'none'}}],
  })
  const metadata = {'x-gateway-metadata': JSON.stringify({team: `${SECRET}-team`})}
  const tools = [{type: 'function', function: {name: `${SECRET}-tool`, parameters: {}}}]
  await chat({}, {tools, user: `${SECRET}-user`, stop: [`${SECRET}-stop`]}, metadata)
  await chat({before_request_hooks: [hook(false)]})
  await chat({before_request_hooks: [hook(true)]}, {}, {'x-planted': `${SECRET}-header`})
  const fault = {
    error: {message: `${SECRET}-error of sk-${SECRET}`, type: 'bad', code: 'bad', param: `${SECRET}-param`},
  }
  upstream.answer = reply => json(reply, 400, fault, {'x-said': `${SECRET}-said`})
  await chat({})
  await chat({}, {}, {'x-gateway-debug': 'false'})
  upstream.answer = reply => reply.writeHead(200, {'content-type': 'application/json'}).end(`${SECRET}-no json`)
  await chat({})
  upstream.answer = reply => {
    reply.writeHead(200, {'content-type': 'text/event-stream'})
    reply.write(`data: ${JSON.stringify({id: 'c', choices: [{index: 0, delta: {content: `${SECRET}-cut`}}]})}\n\n`)
    setTimeout(() => reply.destroy(), 20)
  }
  await chat({}, {stream: true})
  upstream.answer = reply => json(reply, 200, REPLY)
  await chat({provider: `@${SECRET}-provider`})
  await (
    await gateway.call(`/v1/${SECRET}-path/x?key=${SECRET}-query`, {headers: {'x-gateway-provider': '@one'}})
  ).text()
  return 8
}

test('TL11 M30: without content nothing planted is in a payload, of spans, analytics, or log records', async () => {
  const analytics = await startCollector()
  const of = await house({OTEL_LOGS_EXPORTER: 'otlp', OTEL_PUSH_ENABLED: 'true', OTEL_ENDPOINT: analytics.url})
  const calls = await plant(of)
  await vi.waitFor(() => expect(servers(of.collector).length).toBeGreaterThanOrEqual(calls), SOON)
  await vi.waitFor(() => expect(analytics.spans.length).toBeGreaterThanOrEqual(calls), SOON)
  const found = (text: string) => [...new Set(text.match(new RegExp(`.{0,60}${SECRET}-?\\w*`, 'g')) ?? [])]
  expect(found(bytesOf(of.collector))).toEqual([])
  // metadata is what the analytics are for, and `user` of a body is in it; so are paths without their queries
  expect(found(bytesOf(analytics)).filter(text => !/-(?:team|user|path)$/.test(text))).toEqual([])
  expect(bytesOf(of.collector) + bytesOf(analytics)).not.toContain(WORKSPACE_KEY)
  expect(of.gateway.lines.join('\n')).not.toContain('could not be made')
}, 60_000)

test('TL12 TL13: in full redactions hold, and a call without bodies quotes no error of its provider', async () => {
  const {collector, upstream, chat} = await house({OTEL_CONTENT: 'full', OTEL_LOGS_EXPORTER: 'otlp'})
  const redact = {
    type: 'guardrail',
    id: 'redacts',
    checks: [{id: 'default.regexReplace', parameters: {rule: `${SECRET}-prompt`, redactText: '[gone]'}}],
  }
  await chat({before_request_hooks: [redact]})
  await vi.waitFor(() => expect(servers(collector)).toHaveLength(1), SOON)
  expect(bytesOf(collector)).toContain('[gone]')
  upstream.answer = reply => json(reply, 400, {error: {message: `you said ${SECRET}-prompt`}})
  await chat({}, {}, {'x-gateway-debug': 'false'})
  await vi.waitFor(() => expect(servers(collector)).toHaveLength(2), SOON)
  await vi.waitFor(
    () => expect(collector.requests.filter(({path}) => path === '/v1/logs').length).toBeGreaterThan(1),
    SOON,
  )
  expect(bytesOf(collector)).not.toContain(SECRET)
}, 60_000)

test('M28: spans and rows of the log agree on tokens and cost, over many calls of every kind', async () => {
  const {collector, gateway, upstream, chat} = await house()
  const other = await startUpstream()
  await gateway.provider('two', 'openai', other.url)
  const stream =
    (is_cut: boolean): typeof upstream.answer =>
    reply => {
      reply.writeHead(200, {'content-type': 'text/event-stream'})
      const chunk = (more: object) =>
        reply.write(`data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', model: 'gpt-4o', ...more})}\n\n`)
      chunk({choices: [{index: 0, delta: {role: 'assistant', content: 'yes and no'}, finish_reason: null}]})
      if (is_cut) return void setTimeout(() => reply.destroy(), 5)
      chunk({choices: [{index: 0, delta: {}, finish_reason: 'stop'}]})
      chunk({choices: [], usage: {prompt_tokens: 31, completion_tokens: 3, total_tokens: 34}})
      reply.end('data: [DONE]\n\n')
    }
  const kinds: (() => Promise<unknown>)[] = [
    () => chat({}),
    () => chat({cache: {mode: 'simple'}}),
    () => {
      let times = 0
      upstream.answer = reply => (times++ ? json(reply, 200, REPLY) : json(reply, 429, {error: {message: 'slow'}}))
      return chat({retry: {attempts: 2, on_status_codes: [429]}})
    },
    () => {
      upstream.answer = reply => json(reply, 500, {error: {message: 'down'}})
      return chat({
        provider: undefined,
        strategy: {mode: 'fallback'},
        targets: [{provider: '@one'}, {provider: '@two'}],
      })
    },
    () => {
      upstream.answer = stream(false)
      return chat({}, {stream: true, stream_options: {include_usage: true}})
    },
    () => {
      upstream.answer = stream(true)
      return chat({}, {stream: true})
    },
    () => {
      upstream.answer = reply => json(reply, 400, {error: {message: 'bad'}})
      return chat({})
    },
    () => {
      upstream.answer = reply => void reply.destroy()
      return chat({})
    },
    () => {
      upstream.answer = reply => void setTimeout(() => json(reply, 200, REPLY), 150)
      return chat({request_timeout: 60})
    },
  ]
  const calls = forRing({own: 45, ci: 200, full: 200})
  for (let call = 0; call < calls; call++) {
    upstream.answer = reply => json(reply, 200, REPLY)
    await kinds[call % kinds.length]!()
  }
  await vi.waitFor(() => expect(servers(collector)).toHaveLength(calls), SOON)
  const found = new Map<string, ForeignSpan[]>()
  for (const span of collector.spans) found.set(span.trace_id, [...(found.get(span.trace_id) ?? []), span])
  const [sums, wrong] = [{input: 0, output: 0, cost: 0}, [] as string[]]
  for (const spans of found.values()) {
    const [server] = spans.filter(({kind}) => kind === 2)
    const clients = spans.filter(({kind}) => kind === CLIENT)
    if (!server || clients.some(({parent}) => parent !== server.span_id)) wrong.push('parent')
    for (const {start, end, attributes, kind} of spans) {
      if (start > end || start < server!.start || end > server!.end + 2_000_000n)
        wrong.push(`times ${kind} ${JSON.stringify(attributes)}`)
      const has = Object.keys(attributes).some(name => /usage|cost/.test(name))
      if (has && (kind !== CLIENT || Number(attributes['http.response.status_code']) >= 400)) wrong.push('tokens')
      sums.input += Number(attributes['gen_ai.usage.input_tokens'] ?? 0)
      sums.output += Number(attributes['gen_ai.usage.output_tokens'] ?? 0)
      sums.cost += Number(attributes['gateway.cost.nanousd'] ?? 0)
    }
  }
  const ids = collector.spans.map(({span_id}) => span_id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(wrong).toEqual([])
  const rows = await ledger(gateway)
  expect(sums).toEqual(rows)
}, 120_000)

async function ledger(gateway: TestGateway) {
  await gateway.logs()
  const {openStore} = await import('../../src/store/dialect/index.ts')
  const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'} as never)
  try {
    const rows = await store.db
      .selectFrom('traffic.ledger_entries')
      .select(['prompt_tokens', 'completion_tokens', 'cost_nanousd'])
      .execute()
    return {
      input: rows.reduce((sum, {prompt_tokens}) => sum + prompt_tokens, 0),
      output: rows.reduce((sum, {completion_tokens}) => sum + completion_tokens, 0),
      cost: rows.reduce((sum, {cost_nanousd}) => sum + Number(cost_nanousd), 0),
    }
  } finally {
    await store.close()
  }
}

test('certificates that cannot be used refuse the start and name the setting that was given', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-telemetry-'))
  onTestFinished(() => rmSync(folder, {recursive: true}))
  const of_key = () => generateKeyPairSync('ec', {namedCurve: 'P-256'}).privateKey
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const key = of_key()
  const validity = {begins_ms: Date.now() - 1000, ends_ms: Date.now() + 3_600_000}
  const cert = file('cert.pem', makeAuthority({name: 'c', key, serial: randomBytes(16), ...validity}))
  const pem = file('key.pem', key.export({type: 'pkcs8', format: 'pem'}) as string)
  const stranger = file('other.pem', of_key().export({type: 'pkcs8', format: 'pem'}) as string)
  const bad = file('bad.pem', `no pem ${SECRET}`)
  const refused = (env: Record<string, string>) =>
    startGateway({OTEL_EXPORTER_OTLP_ENDPOINT: 'https://127.0.0.1:1', ...env}).then(
      async gateway => {
        await gateway.close()
        return 'started'
      },
      (fault: Error) => fault.message,
    )
  expect(await refused({OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: join(folder, 'none')})).toContain(
    'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE cannot be read: ENOENT',
  )
  const garbage = await refused({OTEL_EXPORTER_OTLP_CERTIFICATE: bad})
  expect(garbage).toContain('OTEL_EXPORTER_OTLP_CERTIFICATE holds no PEM certificate')
  expect(garbage).not.toContain(SECRET)
  const pair = (path: string) => ({OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: cert, OTEL_EXPORTER_OTLP_CLIENT_KEY: path})
  expect(await refused(pair(bad))).toContain('OTEL_EXPORTER_OTLP_CLIENT_KEY holds no PEM key')
  expect(await refused(pair(stranger))).toContain('not that of its key')
  expect(await refused(pair(pem))).toBe('started')
}, 60_000)
