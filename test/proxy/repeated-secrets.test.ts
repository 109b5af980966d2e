import {join} from 'node:path'
import {gzipSync} from 'node:zlib'
import Sqlite from 'better-sqlite3'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {chatEvents, chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'

/** A provider that repeats what it was sent as a secret: in errors, events, headers and answers. */
const KEY = 'sk-upstream-secret-0123456789'
const SEALED = 'sealed/Header+0123456789='
let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await fakeProvider()
  const kinds = ['openai', 'anthropic', 'cohere', 'google', 'mistral-ai']
  for (const kind of kinds) {
    const custom_host = kind === 'google' ? provider.url.replace('/v1', '') : provider.url
    await gateway.provider(`m-${kind}`, kind, custom_host, {
      configurations: {custom_host, custom_headers: {'x-sealed': SEALED}},
    })
  }
})
beforeEach(() => {
  provider.received.length = 0
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const FORMS: Readonly<Record<string, string>> = {
  'as it is': KEY,
  'in base64': Buffer.from(`key:${KEY}:`).toString('base64'),
  'percent-encoded': encodeURIComponent(SEALED),
  'a sealed header': SEALED,
}
const SECRETS = [KEY, SEALED, encodeURIComponent(SEALED), Buffer.from(`key:${KEY}:`).toString('base64')]
const KINDS = ['openai', 'anthropic', 'cohere', 'google', 'mistral-ai'] as const
const ASKS = [
  ['/v1/chat/completions', {messages: [{role: 'user', content: 'hi'}], max_tokens: 5}],
  ['/v1/messages', {messages: [{role: 'user', content: 'hi'}], max_tokens: 5}],
] as const

async function ask(kind: string, path: string, body: object, headers: Record<string, string> = {}) {
  const answer = await gateway.call(path, {
    method: 'POST',
    body: JSON.stringify({model: 'm', ...body}),
    headers: {
      'content-type': 'application/json',
      ...(headers['x-gateway-config'] ? {} : {'x-gateway-provider': `@m-${kind}`}),
      ...headers,
    },
  })
  return {
    status: answer.status,
    head: JSON.stringify([...answer.headers]),
    text: await answer.text().catch(fault => `cut: ${fault}`),
  }
}

/** All that was kept of the last call. */
async function kept(): Promise<string> {
  const [row] = await gateway.logs()
  return JSON.stringify([row, await gateway.admin('GET', `/logs/${String(row!.id)}`)])
}

function expectNone(where: string, text: string) {
  for (const secret of SECRETS) expect(text.includes(secret), `${where}: ${text.slice(0, 400)}`).toBe(false)
}

describe.each(KINDS)('%s', kind => {
  test.each(Object.keys(FORMS))(
    'an error that repeats it, %s, is masked for the caller and in the log, split over chunks too',
    async form => {
      const error = JSON.stringify({
        error: {message: `your key ${FORMS[form]} is bad`, type: 'x'},
        message: `your key ${FORMS[form]} is bad`,
      })
      for (const [path, body] of ASKS) {
        for (const cut of [0, error.indexOf(FORMS[form]!) + 9]) {
          provider.answer((_heard, response) => {
            response.writeHead(401, {
              'content-type': 'application/json',
              'x-repeated': FORMS[form]!,
              location: `http://x.example/?key=${FORMS[form]}`,
            })
            response.write(error.slice(0, cut))
            setImmediate(() => response.end(error.slice(cut)))
          })
          const {status, head, text} = await ask(kind, path, body)
          expect(status).toBe(401)
          expect(text).toContain('your key')
          expectNone('answer', text)
          expectNone('headers', head)
          expectNone('log', await kept())
        }
      }
    },
  )

  test('a header whose name holds it is left out, for the caller and in the log', async () => {
    for (const status of [200, 401]) {
      provider.answer((_heard, response) => {
        const named = {[`X-${KEY.toUpperCase()}`]: '1', [`${KEY}-x`]: '2', 'x-other': '3'}
        response.writeHead(status, {'content-type': 'application/json', ...named}).end(JSON.stringify(chatReply('m')))
      })
      for (const [path, body] of ASKS) {
        const {head} = await ask(kind, path, body)
        if (kind === 'openai' && path === '/v1/chat/completions') expect(head).toContain('x-other')
        expectNone('headers', head.toLowerCase())
        expectNone('log', (await kept()).toLowerCase())
      }
    }
  })

  test('what a guardrail quotes of a good answer is masked in the log', async () => {
    provider.answer((_heard, response) => {
      response
        .writeHead(200, {'content-type': 'application/json'})
        .end(JSON.stringify(chatReply('m', `here it is: ${KEY}`)))
    })
    const check = {id: 'default.contains', parameters: {words: ['zzzz'], operator: 'none'}}
    const guardrail = {checks: [check], deny: true}
    const config = JSON.stringify({provider: '@m-openai', output_guardrails: [guardrail]})
    const {status, text} = await ask('openai', ASKS[0][0], ASKS[0][1], {'x-gateway-config': config})
    expect([status, text.includes(KEY)]).toEqual([200, true])
    await gateway.app.flushed()
    const store = new Sqlite(join(gateway.folder, 'traffic.db'), {readonly: true})
    const row = store.prepare('select detail from logs order by id desc limit 1').get() as {detail: string}
    store.close()
    expect(row.detail).toContain('"textExcerpt":"here it is: ***')
    expectNone('row', row.detail)
    expectNone('log', await kept())
  })

  test('an error in a 200, and in an event, is masked too', async () => {
    const error = JSON.stringify({type: 'error', error: {message: `your key ${KEY} is bad`, type: 'x'}})
    for (const [path, body] of ASKS) {
      provider.answer((_heard, response) => response.writeHead(200, {'content-type': 'application/json'}).end(error))
      expectNone('answer', (await ask(kind, path, body)).text)
      expectNone('log', await kept())
      for (const cut of [0, 3, error.indexOf(KEY) + 9, error.length]) {
        provider.answer((_heard, response) => {
          response.writeHead(200, {'content-type': 'text/event-stream'})
          if (kind === 'openai' || kind === 'mistral-ai') response.write(chatEvents('m')[0])
          response.write(`data: ${error.slice(0, cut)}`)
          setTimeout(() => response.end(`${error.slice(cut)}\n\n`), 5)
        })
        expectNone(`stream ${cut}`, (await ask(kind, path, {...body, stream: true})).text)
        expectNone(`log of the stream ${cut}`, await kept())
      }
    }
  })
})

test('an encoded error is masked; one without a secret comes as it came', async () => {
  for (const word of [KEY, 'nothing']) {
    const bytes = gzipSync(JSON.stringify({error: {message: `your key ${word} is bad`}}))
    provider.answer((_heard, response) =>
      response.writeHead(400, {'content-type': 'application/json', 'content-encoding': 'gzip'}).end(bytes),
    )
    const {status, text, head} = await ask('openai', '/v1/chat/completions', ASKS[0][1], {'accept-encoding': 'gzip'})
    expect(status).toBe(400)
    expect(text).toContain(word === KEY ? 'your key *****' : 'your key nothing')
    expect(head.includes('content-encoding')).toBe(word !== KEY)
    expectNone('log', await kept())
  }
})

test('a good answer reaches the client as it came; what is kept of it is masked', async () => {
  const guarded = {cache: {mode: 'simple'}, provider: '@m-openai'}
  const config = {'x-gateway-config': JSON.stringify(guarded)}
  const body = JSON.stringify(chatReply('m', `It is ${KEY}, and an "error" too.`))
  provider.answer((_heard, response) => response.writeHead(200, {'content-type': 'application/json'}).end(body))
  const asked = {messages: [{role: 'user', content: 'once'}]}
  expect(await ask('openai', '/v1/chat/completions', asked, config)).toMatchObject({status: 200, text: body})
  expectNone('log', await kept())
  const again = await ask('openai', '/v1/chat/completions', asked, config)
  expect(provider.received).toHaveLength(1)
  expectNone('cache', again.text)
  expect(again.text).toContain('It is *****')

  const events = chatEvents('m', {words: ['It is ', KEY, ' an "error"']}).join('')
  provider.answer((_heard, response) => response.writeHead(200, {'content-type': 'text/event-stream'}).end(events))
  const streamed = {messages: [{role: 'user', content: 'twice'}], stream: true, stream_options: {include_usage: true}}
  expect(await ask('openai', '/v1/chat/completions', streamed, config)).toMatchObject({status: 200, text: events})
  expectNone('log', await kept())
  expectNone('cache', (await ask('openai', '/v1/chat/completions', streamed, config)).text)
})

test.each(['your key %s is bad', '{"detail":"your key %s is bad"}', '<p>your key %s is bad</p>'])(
  'an error in other words is masked: %s',
  async words => {
    const error = words.replace('%s', KEY)
    provider.answer((_heard, response) => {
      response.writeHead(403, {'content-type': words.startsWith('{') ? 'application/json' : 'text/plain'})
      response.write(error.slice(0, 20))
      setTimeout(() => response.end(error.slice(20)), 5)
    })
    for (const kind of KINDS) {
      for (const [path, body] of ASKS) {
        const {status, text} = await ask(kind, path, body)
        expect(status).toBe(403)
        expectNone(`${kind} ${path}`, text)
        expectNone(`log of ${kind} ${path}`, await kept())
      }
    }
  },
)
