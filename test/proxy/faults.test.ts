import {once} from 'node:events'
import {createServer, request as httpRequest} from 'node:http'
import type {AddressInfo} from 'node:net'
import type {Dispatcher} from 'undici'
import {afterEach, expect, test} from 'vitest'
import {after, soon} from '../../src/base/delay.ts'
import {createLog} from '../../src/base/log.ts'
import {createSeal} from '../../src/base/seal.ts'
import {StoreSilentFault} from '../../src/base/store-fault.ts'
import {openLogins} from '../../src/providers/auth/login.ts'
import {find} from '../../src/providers/registry.ts'
import {SeenObjects} from '../../src/proxy/lookups/seen-objects.ts'
import {createProxy} from '../../src/proxy/proxy.ts'
import type {Caller, ProxyServices} from '../../src/proxy/services.ts'
import {createCircuits} from '../../src/routing/breaker.ts'
import {createStickyMemory} from '../../src/routing/choose.ts'
import type {Intent, Settlement} from '../../src/schema/records.ts'
import {readSettings} from '../../src/settings/index.ts'
import {knownCaller} from '../support/known-caller.ts'
import {NO_SECRETS} from '../support/no-secrets.ts'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController

const CALLER: Caller = {
  kind: 'api_key',
  id: 'key',
  organisation_id: 'org',
  workspace_id: 'ws',
  workspace_slug: 'ws-one',
  user_id: null,
  metadata: {},
  config_id: null,
  allow_config_override: true,
  limits: [],
  models: null,
}

/** A data plane over pieces that do what a test says, with what reached the journal and the provider. */
async function plane(
  given: Partial<ProxyServices> & {
    dispatch?: (options: Dispatcher.DispatchOptions, handler: Handler) => void
    env?: Record<string, string>
  } = {},
) {
  const {settings} = readSettings({env: given.env ?? {}})
  const written: string[] = []
  const intents: Intent[] = []
  const settlements: Settlement[] = []
  const services: ProxyServices = {
    settings,
    version: 'test',
    guardrails: null,
    semantic: () => Promise.reject(new Error('none')),
    option_defaults: {},
    secrets: NO_SECRETS,
    log: createLog('silent', 'test'),
    seal: createSeal(Buffer.alloc(32)),
    recorder: {
      begin(intent, done) {
        intents.push(intent)
        setImmediate(done)
      },
      settle(settlement, _bodies, done) {
        settlements.push(settlement)
        setImmediate(done)
      },
      note: settlement => void settlements.push(settlement),
    },
    takesCalls: () => true,
    prices: {
      find: () => undefined,
      cost: () => ({cost_nanousd: 0, unpriced: true, unpriced_units: [], mode_unpriced: null}),
      charges: () => true,
    },
    findPolicies: () => null,
    limits: {
      admit: () => null,
      hold: () => Promise.reject(new Error('nothing is strict')),
      recover: async () => undefined,
      add: async () => undefined,
    },
    metrics: {ended: () => undefined, took: () => undefined, live: () => undefined},
    cache: null,
    fileStore: () => {
      throw new Error('no shelf')
    },
    deferred: {under_way: new Map(), open: async () => undefined, unsettled: async () => [], settle: async () => true},
    logins: openLogins({fetch: () => Promise.reject(new Error('no network')), now_ms: () => 0}),
    sticky: createStickyMemory(),
    circuits: createCircuits(),
    random: () => 0,
    after,
    soon,
    steady: () => performance.now(),
    findCaller: () => knownCaller(CALLER),
    findCallerByCredential: () => undefined,
    findProvider: async () => null,
    findConfig: async () => null,
    findPrompt: async () => undefined,
    findPartial: async () => undefined,
    listedProviders: async () => [],
    pricedModels: () => [],
    seen: new SeenObjects(),
    judged: {note: () => undefined, isJudged: () => false},
    kind: find,
    destination: () => ({
      origin: 'http://upstream.test',
      hostname: 'upstream.test',
      port: 80,
      secure: false,
      basePath: '/v1',
      trust: 'public',
      key: 'k',
    }),
    dispatcher: () =>
      ({
        dispatch: (options: Dispatcher.DispatchOptions, handler: Handler) => given.dispatch?.(options, handler) ?? true,
      }) as unknown as Dispatcher,
    administered: () => [],
    cors: () => [],
    masked: new Set(),
    ignored: new Set(),
    now: Date.now,
    ...given,
  }
  const proxy = createProxy(services)
  const server = createServer((request, response) => proxy.handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`
  const headers = {
    'x-gateway-api-key': 'k',
    'x-gateway-provider': 'groq',
    authorization: 'Bearer t',
    'content-type': 'application/json',
  }
  const body = JSON.stringify({model: 'm', messages: [{role: 'user', content: 'hi'}]})
  return {
    proxy,
    url,
    headers,
    body,
    intents,
    settlements,
    written,
    call: () => fetch(url, {method: 'POST', headers, body}),
  }
}

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

type TestController = Controller & {reason: Error | null}

/** What undici hands to a handler, with what was done to it. */
function controller(): TestController {
  const held = {
    aborted: false,
    paused: false,
    reason: null as Error | null,
    abort(reason: Error) {
      held.reason = reason
    },
    pause: () => undefined,
    resume: () => undefined,
  }
  return held as unknown as TestController
}

test('a fault of our own behind the hijack is answered, told in a fixed sentence, and the client does not hang', async () => {
  const {call} = await plane({
    findCaller() {
      throw new Error('secret detail')
    },
  })
  const reply = await call()
  expect(reply.status).toBe(500)
  expect(await reply.text()).not.toContain('secret detail')
})

test('a store that does not answer is no fault of our own: 503, and when to come again', async () => {
  const {call} = await plane({findCaller: () => Promise.reject(new StoreSilentFault('PostgreSQL', 'no answer came'))})
  const reply = await call()
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2'])
  expect(await reply.json()).toMatchObject({
    error: {type: 'storage_error', message: expect.stringContaining('The database does not answer now')},
  })
})

test('a fault while the answer is under way settles the call and cuts the connection', async () => {
  const {call, settlements} = await plane({
    dispatch(_, handler) {
      const held = controller()
      handler.onRequestStart?.(held, {})
      handler.onResponseStart?.(held, 200, {'content-type': 'application/octet-stream', 'content-length': '10'})
      handler.onResponseData?.(held, Buffer.from('12345'))
      setTimeout(() => handler.onResponseError?.(held, new Error('broke')), 20)
    },
  })
  const reply = await call()
  await expect(reply.arrayBuffer()).rejects.toThrow()
  expect(settlements).toMatchObject([{outcome: 'failed', status: 200}])
})

test('a call that is given up while it waits for a connection never leaves, costs nothing, and is settled once', async () => {
  let waiting: Handler | undefined
  const {url, headers, body, intents, settlements} = await plane({
    dispatch(_, handler) {
      waiting = handler
    },
  })
  const request = httpRequest(url, {method: 'POST', headers})
  request.on('error', () => undefined)
  request.end(body)
  await expect.poll(() => waiting).toBeDefined()
  request.destroy()
  const never = {outcome: 'aborted', status: null, attempt: 0, cost_nanousd: 0, usage: {}, delivered: false}
  await expect.poll(() => settlements).toMatchObject([never])
  const late = controller()
  waiting!.onRequestStart?.(late, {})
  expect(late.reason).toBeInstanceOf(Error)
  waiting!.onResponseError?.(late, late.reason!)
  expect([intents.length, settlements.length]).toEqual([1, 1])
})

test('a client that is gone before the intent is written costs no call', async () => {
  let write: (() => void) | undefined
  let dispatched = 0
  const {url, headers, body, settlements} = await plane({
    dispatch: () => void dispatched++,
    recorder: {
      begin: (_, done) => {
        write = done
      },
      settle: (settlement, _, done, intent) => {
        settled.push(settlement)
        ended = intent?.attempt
        done()
      },
      note: () => undefined,
    },
  })
  const settled: Settlement[] = settlements
  let ended: number | undefined
  const request = httpRequest(url, {method: 'POST', headers})
  request.on('error', () => undefined)
  request.end(body)
  await expect.poll(() => write).toBeDefined()
  request.destroy()
  await new Promise(resolve => setTimeout(resolve, 30))
  write!()
  await expect.poll(() => settled.length).toBe(1)
  expect([settled[0]!.outcome, settled[0]!.attempt, ended, dispatched]).toEqual(['aborted', 0, 1, 0])
})

test('a journal that takes no intent refuses the call with 503, and nothing leaves', async () => {
  let dispatched = 0
  const {call} = await plane({
    dispatch: () => void dispatched++,
    recorder: {
      begin: (_, done) => setImmediate(() => done(new Error('no space'))),
      settle: () => undefined,
      note: () => undefined,
    },
  })
  const reply = await call()
  expect([reply.status, dispatched]).toEqual([503, 0])
  expect(await reply.text()).toContain('Free disk space')
})

test('calls that outrun the ledger are refused with 503 at once, and taken again after', async () => {
  let takes = false
  let known = 0
  let dispatched = 0
  const {call, intents, settlements} = await plane({
    takesCalls: () => takes,
    findCaller: () => {
      known++
      return knownCaller(CALLER)
    },
    dispatch: () => void dispatched++,
  })
  const reply = await call()
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2'])
  expect(await reply.json()).toMatchObject({error: {type: 'overloaded_error'}})
  expect([known, dispatched, intents.length, settlements.length]).toEqual([0, 0, 0, 0])
  takes = true
  void call().catch(() => undefined)
  await expect.poll(() => dispatched).toBe(1)
})

test('the last byte and the terminal event wait until the settlement is written', async () => {
  let settled: (() => void) | undefined
  const recorder: ProxyServices['recorder'] = {
    begin: (_, done) => setImmediate(done),
    settle: (_s, _b, done) => {
      settled = done
    },
    note: () => undefined,
  }
  const dispatch = (_: Dispatcher.DispatchOptions, handler: Handler) => {
    const held = controller()
    handler.onRequestStart?.(held, {})
    handler.onResponseStart?.(held, 200, {'content-type': 'text/event-stream'})
    handler.onResponseData?.(
      held,
      Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n'),
    )
    handler.onResponseEnd?.(held, {})
  }
  const {url, headers, body} = await plane({recorder, dispatch})
  const request = httpRequest(url, {method: 'POST', headers})
  request.end(body.replace('{', '{"stream":true,'))
  const [response] = await once(request, 'response')
  let text = ''
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await expect.poll(() => settled).toBeDefined()
  await new Promise(resolve => setTimeout(resolve, 30))
  expect(text).toContain('"content":"a"')
  expect(text).not.toContain('[DONE]')
  expect(response.complete).toBe(false)
  settled!()
  await once(response, 'end')
  expect(text).toContain('data: [DONE]')
})

test('a provider that breaks off behind its last event, while that is settled, ends the answer', async () => {
  let settled: (() => void) | undefined
  const recorder: ProxyServices['recorder'] = {
    begin: (_, done) => setImmediate(done),
    settle: (_s, _b, done) => {
      settled = done
    },
    note: () => undefined,
  }
  const dispatch = (_: Dispatcher.DispatchOptions, handler: Handler) => {
    const held = controller()
    handler.onRequestStart?.(held, {})
    handler.onResponseStart?.(held, 200, {'content-type': 'text/event-stream'})
    handler.onResponseData?.(
      held,
      Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n'),
    )
    handler.onResponseError?.(held, new Error('other side closed'))
  }
  const {url, headers, body} = await plane({recorder, dispatch})
  const request = httpRequest(url, {method: 'POST', headers})
  request.end(body.replace('{', '{"stream":true,'))
  const [response] = await once(request, 'response')
  let text = ''
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await expect.poll(() => settled).toBeDefined()
  settled!()
  await once(response, 'end', {signal: AbortSignal.timeout(5000)})
  expect(text).toContain('data: [DONE]')
  expect(response.complete).toBe(true)
})

test('after the drain time what is under way is ended and settled', async () => {
  let seen = controller()
  const {proxy, call, settlements} = await plane({
    dispatch(_, handler) {
      seen = controller()
      handler.onRequestStart?.(seen, {})
    },
  })
  const reply = call()
  await expect.poll(() => proxy.live).toBe(1)
  await proxy.drain(10)
  expect((await reply).status).toBe(503)
  expect(settlements).toMatchObject([{outcome: 'aborted'}])
  expect(seen.reason).toBeInstanceOf(Error)
  expect((await call()).status).toBe(503)
})
