import {readdirSync, readFileSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {LEFT_ALONE} from '../../src/guardrails/left-alone.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type Answer, type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {forRing, generated} from '../support/ring.ts'
import {type BodyString, keyOf, leavesOf, withLeaf} from './every-string/leaves.ts'
import {REQUESTS} from './every-string/requests.ts'

// The same as `copies.test.ts` in the requests of each dialect: where a redaction is attached, an address in any string
// rests nowhere in clear, and a provider that repeats the request in its error, whole or in a stream, brings it to no
// log and to no client.

const STRINGS = forRing({own: 4, ci: 40, full: 10_000})
const CANARY = 'canary.zebra@mail.example'
const WORD = 'canary.zebra'
const PATHS = {
  chatComplete: '/v1/chat/completions',
  messages: '/v1/messages',
  createModelResponse: '/v1/responses',
  complete: '/v1/completions',
  embed: '/v1/embeddings',
} as const
type Dialect = keyof typeof PATHS

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', LOG_LEVEL: 'trace'})
  await gateway.provider('a', 'openai', provider.url)
  await gateway.provider('claude', 'anthropic', provider.url)
  const [found] = (await gateway.admin<{data: {id: string; slug: string}[]}>('GET', '/admin/workspaces')).data
  const checks = [{id: 'default.pii', parameters: {redact: true}}]
  const {slug} = await gateway.admin<{slug: string}>('POST', '/guardrails', {
    name: 'red',
    workspace_id: found!.id,
    checks,
    actions: {stream_mode: 'buffer'},
  })
  await gateway.admin('PUT', `/admin/workspaces/${found!.slug}`, {
    defaults: {input_guardrails: [slug], output_guardrails: [slug]},
  })
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const good: Answer = (_, response) => json(response, {object: 'thing', choices: [], content: [], output: [], data: []})
const quoting: Answer = (_, response) =>
  json(response, {error: {type: 'bad', message: `no ${CANARY}`}, asked: [CANARY]}, 400)
const quotingLater: Answer = (_, response) => {
  response.writeHead(200, {'content-type': 'text/event-stream'})
  response.end(
    `event: error\ndata: ${JSON.stringify({type: 'error', error: {type: 'bad', message: `no ${CANARY}`}})}\n\n`,
  )
}

interface EndCase {
  readonly answer: Answer
  readonly config?: object
  readonly stream?: true
}
const DENIES = {input_guardrails: [{'default.contains': {words: ['zebra', 'EMAIL'], operator: 'none'}, deny: true}]}
const ENDS: Readonly<Record<string, EndCase>> = {
  answered: {answer: good},
  'denied by another check': {answer: good, config: DENIES},
  'refused for its config': {answer: good, config: {nope: 1}},
  'failed, with words of the request': {answer: quoting},
  'failed in its stream, with words of the request': {answer: quotingLater, stream: true},
}
const ALL = Object.keys(ENDS).flatMap(end => (Object.keys(PATHS) as Dialect[]).map(dialect => [end, dialect] as const))

/** Strings that guardrails see: the others have a form that an address lacks, or are the place of nothing. */
function chosen(dialect: Dialect): readonly BodyString[] {
  const leaves = leavesOf(REQUESTS[dialect]!).filter(
    leaf => leaf.within || !LEFT_ALONE.some(({keys, form}) => keys.includes(keyOf(leaf)) && form.test(CANARY)),
  )
  const step = Math.max(1, Math.floor(leaves.length / STRINGS))
  return leaves.filter((leaf, at) => at % step === 0 || leaf.path[0] === 'user' || leaf.path[0] === 'metadata')
}

test.each(ALL)('of a call that was %s nothing rests in clear: %s', async (end, dialect) => {
  const {answer, config = {}, stream} = ENDS[end]!
  if (stream && dialect === 'embed') return
  provider.answer(answer)
  gateway.lines.length = 0
  const trace_id = `copies-${end.replaceAll(/\W+/g, '-')}-${dialect}`
  const ask = async (leaf: BodyString) => {
    const body = {...withLeaf({...REQUESTS[dialect]!, stream: stream ?? false}, leaf, CANARY)}
    const reply = await gateway.call(PATHS[dialect], {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        'x-gateway-trace-id': trace_id,
        'x-gateway-config': JSON.stringify({provider: dialect === 'messages' ? '@claude' : '@a', ...config}),
      },
    })
    return reply.text()
  }
  const leaves = chosen(dialect)
  const answers: string[] = []
  for (let at = 0; at < leaves.length; at += 8) answers.push(...(await Promise.all(leaves.slice(at, at + 8).map(ask))))
  // embeddings have no answer to be judged in the words of a text: their errors are their provider's own
  if (dialect !== 'embed') expect(answers.filter(text => text.includes(WORD))).toEqual([])
  await gateway.app.flushed()
  const {data: rows} = await gateway.admin<{data: {id: string}[]}>('GET', `/logs?trace_id=${trace_id}`)
  expect(rows.length).toBeGreaterThan(0)
  for (const row of rows.slice(0, 50))
    expect(JSON.stringify(await gateway.admin('GET', `/logs/${row.id}`))).not.toContain(WORD)
  expect(gateway.lines.filter(line => line.includes(WORD))).toEqual([])
  expect(filesWith(gateway.folder, WORD)).toEqual([])
  generated(`copies, ${end}, ${dialect}`, leaves.length)
})

function filesWith(folder: string, word: string): readonly string[] {
  return readdirSync(folder, {recursive: true, encoding: 'utf8'}).filter(file => {
    const path = join(folder, file)
    if (/\.lock|run\//.test(file) || !statSync(path).isFile()) return false
    if (/\.db(?:-shm)?$/.test(file) && !file.endsWith('-wal')) return false
    return readFileSync(path, 'latin1').includes(word)
  })
}
