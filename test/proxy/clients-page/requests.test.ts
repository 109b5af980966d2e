import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {readAnswer} from './answers.ts'
import {ADDRESS, anchorOf, ENGINES, KEY, ROWS, SNIPPETS} from './page.ts'
import {kindOf, type ServedPage, servePage} from './served.ts'
import {CLIENTS, type ClientCall, KEY_HEADERS} from './table.ts'
import {ANSWER, INPUT_TOKENS, OUTPUT_TOKENS} from './upstream.ts'

// docs/clients.md: the requests that each client is known to send, with the address, the model and the place of the key
// that the page gives.

type KeyHeader = keyof typeof KEY_HEADERS

/** The headers that a cell names. */
function keysOf(cell: string): KeyHeader[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as KeyHeader)
}

const rowOf = (client: string) => ROWS.find(row => row.client === client)!
const nameOf = (model: string) => model.slice(model.indexOf('/') + 1)

describe('the page', () => {
  test('has a row, a snippet and requests of each client, in one order', () => {
    expect(CLIENTS.length).toBeGreaterThanOrEqual(24)
    const names = CLIENTS.map(({client}) => client)
    expect(ROWS.map(({client}) => client)).toEqual(names)
    expect([...SNIPPETS.keys()]).toEqual(names)
  })

  test.each(ROWS)('$client: row, link and snippet agree', ({client, anchor, base_url, key, path, model}) => {
    const {code, text, language} = SNIPPETS.get(client)!
    expect(anchor).toBe(anchorOf(client))
    const [call] = CLIENTS.find(each => each.client === client)!.calls
    const urls = [...code.matchAll(/https?:\/\/[^\s"'`,)]+/g)].map(([url]) => url)
    expect(urls).toEqual([language === 'sh' ? base_url + call!.path : base_url])
    expect(new URL(base_url + call!.path).pathname).toBe(path)
    expect([code.includes(model), text.includes(KEY)]).toEqual([true, true])
    expect(keysOf(key).filter(name => !(name in KEY_HEADERS))).toEqual([])
    expect(keysOf(key)).not.toEqual([])
    if (language === 'json') JSON.parse(code)
  })

  test('is named in the README, with the number of its clients', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8')
    expect(readme.replaceAll(/\s+/g, ' ')).toContain(
      `[Point your client here](docs/clients.md) has a tested snippet for ${CLIENTS.length} SDKs, agents and editors.`,
    )
  })

  test('has engines with and without /v1', () => {
    expect(new Set(ENGINES.map(({base_path}) => base_path))).toEqual(new Set(['', '/v1']))
    expect(ENGINES.map(({kind}) => kind)).toEqual(expect.arrayContaining(['ollama', 'vllm', 'llama-cpp', 'lm-studio']))
  })
})

/** Sends what a client sends, by the page's row. */
function send(
  {gateway}: ServedPage,
  client: string,
  call: Pick<ClientCall, 'method' | 'path' | 'headers' | 'body' | 'encoded'>,
  header: KeyHeader,
  base_path?: string,
): Promise<Response> {
  const {base_url, model} = rowOf(client)
  const path = call.path.replace('MODEL', (call.encoded ?? String)(model))
  const base = base_path === undefined ? base_url.replace(ADDRESS, gateway.url) : gateway.url + base_path
  return fetch(base + path, {
    method: call.method ?? 'POST',
    headers: {
      ...(call.body && {'content-type': 'application/json'}),
      ...KEY_HEADERS[header](WORKSPACE_KEY),
      ...call.headers,
    },
    ...(call.body && {body: JSON.stringify(call.body(model))}),
  })
}

const cases = CLIENTS.flatMap(({client, calls}) =>
  calls.flatMap(call => keysOf(rowOf(client).key).map(header => [client, call.path, header, call] as const)),
)

describe('the requests of each client', () => {
  let served: ServedPage
  beforeAll(async () => {
    served = await servePage()
  })
  beforeEach(() => {
    served.vendors.received.length = 0
  })
  afterAll(() => served.close())

  test.each(cases)('%s: POST %s with %s', async (client, _, header, call) => {
    const {model} = rowOf(client)
    const reply = await send(served, client, call, header)
    const text = await reply.text()
    expect(reply.status, text).toBe(200)
    const tokens = call.hides_usage ? null : [INPUT_TOKENS, OUTPUT_TOKENS]
    expect(readAnswer(call.format, text)).toEqual({text: ANSWER, tokens})
    const sent = served.vendors.received.filter(({body}) => body.toString() !== '{}')
    expect(sent.map(({path}) => path)).toEqual([call.at])
    expect(JSON.stringify(sent[0]!.headers)).not.toContain(WORKSPACE_KEY)
    expect(sent[0]!.body.toString()).not.toContain(model)
    const [row] = await served.gateway.logs()
    expect(row).toMatchObject({
      response_status_code: 200,
      ai_model: nameOf(model),
      ai_org: kindOf(model),
      outcome: 'ok',
    })
    if (call.hides_usage) expect(row).toMatchObject({usage_source: 'estimated'})
    else expect(row).toMatchObject({usage_source: 'provider', req_units: INPUT_TOKENS, res_units: OUTPUT_TOKENS})
  })

  test.each(cases)('%s: %s with %s from the address with and without /v1', async (client, _, header, call) => {
    for (const base_path of ['', '/v1']) {
      served.vendors.received.length = 0
      const reply = await send(served, client, call, header, base_path)
      expect([reply.status, readAnswer(call.format, await reply.text()).text], base_path).toEqual([200, ANSWER])
      const sent = served.vendors.received.filter(({body}) => body.toString() !== '{}')
      expect(sent.map(({path}) => path)).toEqual([call.at])
    }
  })

  const beside = CLIENTS.flatMap(({client, beside = []}) =>
    beside.map(call => [client, call.method ?? 'POST', call.path, call] as const),
  )
  test.each(beside)('%s: %s %s is answered by the gateway', async (client, _, path, call) => {
    const reply = await send(served, client, call, 'Authorization: Bearer')
    expect(reply.status).toBe(call.status)
    const text = await reply.text()
    expect(served.vendors.received.filter(({method, body}) => method === 'POST' && body.toString() !== '{}')).toEqual(
      [],
    )
    if (path.includes('count_tokens')) expect(JSON.parse(text).input_tokens).toBeGreaterThan(0)
    if (path.includes('/models'))
      expect((JSON.parse(text).data as {id: string}[]).map(({id}) => id)).toContain(rowOf(client).model)
  })

  test.each(ROWS)('$client: a call without a key is 401', async ({client}) => {
    const [call] = CLIENTS.find(each => each.client === client)!.calls
    const {base_url} = rowOf(client)
    const reply = await fetch(base_url.replace(ADDRESS, served.gateway.url) + call!.path, {
      method: 'POST',
      headers: {'content-type': 'application/json', ...call!.headers},
      body: '{}',
    })
    expect([reply.status, await reply.text()]).toEqual([401, expect.stringContaining('x-gateway-api-key or x-api-key')])
  })
})

describe('STREAM_USAGE=metered', () => {
  let served: ServedPage
  beforeAll(async () => {
    served = await servePage({STREAM_USAGE: 'metered'})
  })
  afterAll(() => served.close())

  const hidden = cases.filter(([, , , call]) => call.hides_usage)
  test.each(hidden)('%s: the log has the usage of the provider, the client none', async (client, _, header, call) => {
    const reply = await send(served, client, call, header)
    expect(readAnswer(call.format, await reply.text())).toEqual({text: ANSWER, tokens: null})
    const [row] = await served.gateway.logs()
    expect(row).toMatchObject({usage_source: 'provider', req_units: INPUT_TOKENS, res_units: OUTPUT_TOKENS})
  })
})
