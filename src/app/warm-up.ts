import type {Socket} from 'node:net'
import {Writable} from 'node:stream'
import {FastRequest} from '../base/ingress/request.ts'
import {FastResponse} from '../base/ingress/response.ts'
import {createLog} from '../base/log.ts'
import {DEMO} from '../providers/registry.ts'
import {SeenObjects} from '../proxy/lookups/seen-objects.ts'
import {createProxy} from '../proxy/proxy.ts'
import type {KnownCaller, ProxyServices} from '../proxy/services.ts'
import {createCircuits} from '../routing/breaker.ts'
import {createStickyMemory} from '../routing/choose.ts'
import {BodyQueue} from '../workers/bodies.ts'
import {createRecorder} from '../workers/recorder.ts'

const CALLS = 200
/** So much work in all, and so long a wait for moments in which no call is in progress. */
const MOST_WORK_MS = 250
const MOST_WAITS = 200
const WAIT_MS = 20
/** One that takes longer hangs. */
const MOST_CALL_MS = 1_000

const TEXT = 'Functions are compiled as they are called first: the calls of clients need not wait for that.'
const HEADERS = {
  'content-type': 'application/json',
  'x-gateway-api-key': 'warm-up',
  'x-gateway-provider': DEMO,
} as const

export interface WarmUp {
  readonly services: ProxyServices
  /** False while a client's call is in progress. */
  readonly isIdle: () => boolean
  readonly pause: (ms: number) => Promise<void>
}

/** The calls that were made, and those of them that were answered with 200. */
export interface WarmUpReport {
  readonly calls: number
  readonly answered: number
}

/**
 * Has V8 compile the way of a call before the first client waits for that: calls to the demo provider, which answers in
 * this process, go through a data plane of their own, one by one while no client's call is in progress. It has the code
 * of the real one and none of its state: nothing of them reaches the journal, the log, limits, metrics or caches.
 */
export async function warmUp({services, isIdle, pause}: WarmUp): Promise<WarmUpReport> {
  const proxy = createProxy(withoutTraces(services))
  let [calls, answered, waits, work_ms] = [0, 0, 0, 0]
  while (calls < CALLS && work_ms < MOST_WORK_MS && waits < MOST_WAITS) {
    if (!isIdle()) {
      waits++
      await pause(WAIT_MS)
      continue
    }
    const began = services.steady()
    const is_stream = calls % 2 === 1
    calls++
    const status = await Promise.race([callOnce(proxy.handle, is_stream), pause(MOST_CALL_MS)])
    if (status === 200) answered++
    if (status === undefined) break
    work_ms += services.steady() - began
    await pause(0) // what came meanwhile goes first
  }
  await proxy.drain(0)
  return {calls, answered}
}

/** One chat; gives its status once all of its answer is written. */
function callOnce(handle: ReturnType<typeof createProxy>['handle'], is_stream: boolean): Promise<number> {
  const body = Buffer.from(
    JSON.stringify({model: 'echo', max_tokens: 64, stream: is_stream, messages: [{role: 'user', content: TEXT}]}),
  )
  const request = new FastRequest('POST', '/v1/chat/completions', {
    headers: {...HEADERS, 'content-length': String(body.length)},
    body_bytes: body.length,
  })
  request.take(body)
  return new Promise(resolve => {
    let head = ''
    const socket = new Writable({
      write(bytes: Buffer, _encoding, done) {
        head ||= bytes.toString('latin1', 0, 16)
        done()
      },
    })
    const response = new FastResponse(socket as unknown as Socket, null, () => {
      setImmediate(() => {
        response.closed()
        resolve(Number(head.slice(9, 12)))
      })
    })
    handle(request, response)
  })
}

/** The services of a call that leaves no trace in the real ones. */
function withoutTraces(services: ProxyServices): ProxyServices {
  const log = createLog('silent', 'warm-up')
  const bodies = new BodyQueue(0)
  const written = (_id: string, _text: Buffer | string, done: () => void) => void setImmediate(done)
  const journal = {
    appendIntent: written,
    appendSettlement: written,
    append: (_kind: string, _text: Buffer | string, done: () => void) => void setImmediate(done),
  }
  const none = () => undefined
  return {
    ...services,
    log,
    recorder: createRecorder({journal, bodies, log, onBodies: none}),
    takesCalls: () => true,
    limits: {
      admit: () => null,
      hold: () => Promise.reject(new Error('nothing is strict')),
      recover: async () => undefined,
      add: async () => undefined,
    },
    metrics: {ended: none, took: none, live: none},
    findCaller: () => CALLER,
    findCallerByCredential: none,
    findPolicies: () => null,
    findProvider: async () => null,
    findConfig: async () => null,
    deferred: {under_way: new Map(), open: async () => undefined, unsettled: async () => [], settle: async () => true},
    guardrails: null,
    cache: null,
    sticky: createStickyMemory(),
    circuits: createCircuits(),
    seen: new SeenObjects(),
    judged: {note: none, isJudged: () => false},
  }
}

const NO_ONE = {id: 'warm-up', organisation_id: 'warm-up', workspace_id: 'warm-up', user_id: null} as const

const CALLER: KnownCaller = {
  access: {
    subject: {kind: 'api_key', id: NO_ONE.id, key_kind: 'workspace-service', user_id: null},
    organisation_id: NO_ONE.organisation_id,
    reach: {kind: 'workspace', workspace_id: NO_ONE.workspace_id},
    scopes: new Set(['completions.write']),
    person: null,
  },
  expires_at: null,
  expires_at_ms: Number.POSITIVE_INFINITY,
  workspace_archived: false,
  needs_sign_in: null,
  caller: {
    ...NO_ONE,
    kind: 'api_key',
    workspace_slug: 'warm-up',
    metadata: {},
    config_id: null,
    allow_config_override: true,
    limits: [],
    models: null,
  },
}
