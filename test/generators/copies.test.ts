import {readdirSync, readFileSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {LEFT_ALONE} from '../../src/guardrails/left-alone.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type Answer, type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {forRing, generated} from '../support/ring.ts'
import {type BodyString, keyOf, leavesOf, withLeaf} from './every-string/leaves.ts'
import {REQUESTS} from './every-string/requests.ts'

// Where a redaction is attached, an address in a request rests nowhere in clear, whichever way the call ended: not in
// rows, bodies, metadata, sums, the journal, exports or lines of the process log.

const STRINGS = forRing({own: 8, ci: 100, full: 10_000})
const CANARY = 'canary.zebra@mail.example'
const WORD = 'canary.zebra'

let provider: FakeProvider
let gateway: TestGateway
let workspace: string
let nothing_key: string

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', LOG_LEVEL: 'trace'})
  await gateway.provider('a', 'openai', provider.url)
  await gateway.provider('b', 'openai', provider.url)
  const [found] = (await gateway.admin<{data: {id: string; slug: string}[]}>('GET', '/admin/workspaces')).data
  workspace = found!.slug
  const checks = [{id: 'default.pii', parameters: {redact: true}}]
  const {slug} = await gateway.admin<{slug: string}>('POST', '/guardrails', {
    name: 'red',
    workspace_id: found!.id,
    checks,
    actions: {},
  })
  await gateway.admin('PUT', `/admin/workspaces/${workspace}`, {defaults: {input_guardrails: [slug]}})
  const key = {name: 'none', workspace_id: found!.id, scopes: ['completions.write'], models: {allow: ['no-such-model']}}
  nothing_key = (await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', key)).key
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const reply = {
  id: 'c',
  object: 'chat.completion',
  choices: [{index: 0, message: {role: 'assistant', content: 'it is said'}, finish_reason: 'stop'}],
  usage: {prompt_tokens: 1, completion_tokens: 1, total_tokens: 2},
}
const good: Answer = (_, response) => json(response, reply)
const broken: Answer = (_, response) => json(response, {error: {message: 'it broke'}}, 500)
const cut: Answer = (_, response) => {
  response.writeHead(200, {'content-type': 'text/event-stream'})
  response.write('data: {"choices":[{"index":0,"delta":{"content":"it is"}}]}\n\n')
  setTimeout(() => response.destroy(), 2)
}
const silent: Answer = () => undefined

interface EndCase {
  readonly answer: Answer
  readonly config?: object | string
  readonly headers?: Record<string, string>
  readonly body?: object
  readonly leaves_after_ms?: number
}

/** Its last text has one of these words, wherever the address stands: the call is denied for it. */
const contains = {'default.contains': {words: ['zebra', 'EMAIL', 'now'], operator: 'none'}}
/** Every way in which a call can end, before its guardrails ran, in them, and behind them. */
const ENDS: Readonly<Record<string, () => EndCase>> = {
  answered: () => ({answer: good}),
  'denied by another check': () => ({
    answer: good,
    config: {provider: '@a', input_guardrails: [{...contains, deny: true}]},
  }),
  'denied behind the redaction': () => ({
    answer: good,
    config: {
      provider: '@a',
      input_guardrails: [{sequential: true, 'default.pii': {redact: true}, ...contains, deny: true}],
    },
  }),
  'denied for its answer': () => ({
    answer: good,
    config: {
      provider: '@a',
      output_guardrails: [{'default.contains': {words: ['said'], operator: 'none'}, deny: true}],
    },
  }),
  'denied, and answered by a fallback': () => ({
    answer: good,
    config: {
      strategy: {mode: 'fallback'},
      targets: [{provider: '@a', input_guardrails: [{...contains, deny: true}]}, {provider: '@b'}],
    },
  }),
  'refused by a list of models': () => ({answer: good, headers: {'x-gateway-api-key': nothing_key}}),
  'refused for its config': () => ({answer: good, config: {provider: '@a', nope: 1}}),
  'refused for an unknown config': () => ({answer: good, config: 'pc-none-123456'}),
  'refused for an unknown provider': () => ({answer: good, config: {provider: '@nobody'}}),
  'refused for its host': () => ({
    answer: good,
    config: {provider: 'openai', api_key: 'sk-x', custom_host: 'http://10.0.0.1/v1'},
  }),
  'refused for what a provider cannot take': () => ({
    answer: good,
    config: {provider: '@a', request_timeout: 50},
    headers: {'x-gateway-request-timeout': 'soon'},
  }),
  'failed by the provider': () => ({answer: broken}),
  'cut by the provider': () => ({answer: cut, body: {stream: true}}),
  'ended by a timeout': () => ({answer: silent, headers: {'x-gateway-request-timeout': '20'}}),
  'left by its client': () => ({answer: silent, leaves_after_ms: 15}),
}

const BODY = REQUESTS.chatComplete!
/** Strings that guardrails see: the others have a form that an address lacks, or are the place of nothing. */
const LEAVES = leavesOf(BODY).filter(
  leaf => leaf.within || !LEFT_ALONE.some(({keys, form}) => keys.includes(keyOf(leaf)) && form.test(CANARY)),
)
const chosen = (): readonly BodyString[] => {
  const step = Math.max(1, Math.floor(LEAVES.length / STRINGS))
  const some = LEAVES.filter((_, at) => at % step === 0).slice(0, STRINGS)
  const user = LEAVES.filter(leaf => keyOf(leaf) === 'user' || leaf.path[0] === 'metadata')
  return [...new Set([...some, ...user])]
}

test.each(Object.keys(ENDS))('of a call that was %s nothing rests in clear', async name => {
  const {answer, config = {provider: '@a'}, headers = {}, body = {}, leaves_after_ms} = ENDS[name]!()
  provider.answer(answer)
  gateway.lines.length = 0
  const statuses: number[] = []
  const ask = async (leaf: BodyString) => {
    const leaving = leaves_after_ms === undefined ? undefined : AbortSignal.timeout(leaves_after_ms)
    const sent = {...withLeaf({...BODY, stream: false}, leaf, CANARY), ...body}
    const at = {
      'x-gateway-config': typeof config === 'string' ? config : JSON.stringify(config),
      'content-type': 'application/json',
      ...headers,
    }
    const init = {method: 'POST', body: JSON.stringify(sent), headers: at, ...(leaving && {signal: leaving})}
    await gateway
      .call('/v1/chat/completions', init)
      .then(response => {
        statuses.push(response.status)
        return response.text()
      })
      .catch(() => undefined)
  }
  const leaves = chosen()
  for (let at = 0; at < leaves.length; at += 8) await Promise.all(leaves.slice(at, at + 8).map(ask))
  if (/^denied (?!, and answered)/.test(name))
    expect(statuses.filter(status => status === 446).length).toBeGreaterThan(leaves.length / 2)
  const rows = await gateway.logs()
  expect(rows.length).toBeGreaterThan(0)
  expect(JSON.stringify(rows)).not.toContain(WORD)
  for (const row of rows.slice(0, 20))
    expect(JSON.stringify(await gateway.admin('GET', `/logs/${row.id}`))).not.toContain(WORD)
  expect(gateway.lines.filter(line => line.includes(WORD))).toEqual([])
  expect(filesWith(gateway.folder, WORD)).toEqual([])
  generated(`copies, ${name}`, leaves.length)
})

function filesWith(folder: string, word: string): readonly string[] {
  return readdirSync(folder, {recursive: true, encoding: 'utf8'}).filter(file => {
    const path = join(folder, file)
    if (/\.lock|run\//.test(file) || !statSync(path).isFile()) return false
    if (/\.db(?:-shm)?$/.test(file) && !file.endsWith('-wal')) return false
    return readFileSync(path, 'latin1').includes(word)
  })
}
