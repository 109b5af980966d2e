import type {Dispatcher} from 'undici'
import {createSeal} from '../../src/base/seal.ts'
import {createFlights} from '../../src/cache/coalesce.ts'
import {spentIn} from '../../src/charge/settlement.ts'
import {createLimits, type Limits} from '../../src/limits/index.ts'
import {createMemoryCache} from '../../src/ports/cache/memory.ts'
import type {Counters} from '../../src/ports/counters/index.ts'
import {createMemoryCounters} from '../../src/ports/counters/memory.ts'
import {openLogins} from '../../src/providers/auth/login.ts'
import {find} from '../../src/providers/registry.ts'
import {CALL_STATES, CallState} from '../../src/proxy/call/state.ts'
import {SeenObjects} from '../../src/proxy/lookups/seen-objects.ts'
import {type CallProxy, createProxy} from '../../src/proxy/proxy.ts'
import type {Caller, EntityLimit, ProxyServices} from '../../src/proxy/services.ts'
import {createCircuits} from '../../src/routing/breaker.ts'
import {createStickyMemory} from '../../src/routing/choose.ts'
import {keepUsageLimits, UsageLimit} from '../../src/schema/limits.ts'
import {readSettings} from '../../src/settings/index.ts'
import {knownCaller} from '../support/known-caller.ts'
import {NO_SECRETS} from '../support/no-secrets.ts'
import {Chance} from './chance.ts'
import {VirtualClient} from './client.ts'
import {VirtualClock} from './clock.ts'
import {VirtualJournal} from './journal.ts'
import {play, type Served, scriptOf} from './provider.ts'

/** One client's call: what it sent, and what the providers did. */
export interface Life {
  readonly name: string
  readonly client: VirtualClient
  readonly is_stream: boolean
  /** It asks for an event of usage. */
  readonly asks_usage: boolean
  /** The words of its request: some calls send the same. */
  readonly words: string
}

/** Short, so that what is silent costs few looks of the clock. */
const {settings} = readSettings({
  env: {
    UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '4000',
    UPSTREAM_IDLE_TIMEOUT_MS: '3000',
    CLIENT_WRITE_TIMEOUT_MS: '5000',
  },
})
const SEAL = createSeal(Buffer.alloc(32))
const PATH = '/v1/chat/completions'
/** Long after every deadline of a call. */
const ENDS_MS = 30 * 60_000
const LATE_METHODS = new Set(['reserve', 'extend', 'settle', 'release'])

/**
 * Gateways, clients and providers in one process and on one virtual clock. A seed decides all of it: what clients send
 * and when they leave, what providers and stores answer and when, and whether a gateway stops.
 */
export class SimulatedWorld {
  readonly seed: string
  readonly clock = new VirtualClock()
  readonly journal: VirtualJournal
  readonly lives: Life[] = []
  /** All that providers did, in the order in which requests reached them. */
  readonly served: Served[] = []
  /** What may not happen, and did. */
  readonly faults: string[] = []
  readonly limit: EntityLimit
  readonly #limits: Limits
  readonly #chance: Chance
  readonly #gateways: CallProxy[]
  readonly #log: string[] = []
  /** Looked at when all that follows from this step has happened. */
  readonly #after_step: (() => void)[] = []

  constructor(seed: string, lives: number) {
    this.seed = seed
    this.#chance = new Chance(seed)
    this.journal = new VirtualJournal(this.clock, this.#chance)
    this.limit = limitOf(this.#chance)
    this.#limits = createLimits({
      counters: this.#answeringLate(createMemoryCounters({steady: this.clock.steady})),
      usage: async () => ({tokens: 0n, cost_nanousd: 0n}),
      now: this.clock.now,
      enabled: true,
      onFault: fault => void this.faults.push(`the limits: ${(fault as Error).stack}`),
    })
    const services = this.#services()
    this.#gateways = Array.from({length: this.#chance.is(0.2) ? 2 : 1}, () => createProxy(services))
    for (let at = 0; at < lives; at++) this.#plan(at)
    if (this.#chance.is(0.25)) {
      const gateway = this.#chance.one(this.#gateways)
      this.clock.after(this.#chance.between(0, 4_000), () => this.#stop(gateway, this.#chance.between(0, 5_000)))
    }
  }

  /** Runs until nothing is left to happen, and looks after each step. Gives what may not happen, and did. */
  async run(): Promise<readonly string[]> {
    await settled()
    while (this.clock.step(ENDS_MS)) {
      await settled()
      for (const look of this.#after_step.splice(0)) look()
      if (this.faults.length) break
    }
    if (this.faults.length === 0) await this.#checkEnd()
    return [...this.faults, ...this.journal.faults]
  }

  #plan(at: number) {
    const chance = this.#chance
    const is_stream = chance.is(0.5)
    const asks_usage = is_stream && chance.is(0.5)
    const name = `${this.seed}/${at}`
    const words = chance.one(['a', 'b', name])
    const body = {
      model: 'm',
      messages: [{role: 'user', content: words}],
      ...(is_stream && {stream: true}),
      ...(asks_usage && {stream_options: {include_usage: true}}),
    }
    this.clock.after(chance.between(0, 3_000), () => {
      const client = new VirtualClient(
        {path: PATH, headers: headersOf(chance), body: Buffer.from(JSON.stringify(body))},
        this.clock,
        chance,
      )
      const life: Life = {name, client, is_stream, asks_usage, words}
      this.lives.push(life)
      chance.one(this.#gateways).handle(client.request, client)
      if (chance.is(0.3)) this.clock.after(chance.between(0, chance.is(0.7) ? 500 : 9_000), () => this.#leave(life))
    })
  }

  /** The client leaves; a state whose row says so ends then, and gives back what it holds. */
  #leave({client, name}: Life) {
    if (!client.end_of_answer)
      this.#watch('clientGone', 'client_gone', `${name}: the client left`, () => client.leave())
  }

  /** A gateway stops; calls that may begin nothing more end then, and the others by its limit. */
  #stop(gateway: CallProxy, limit_ms: number) {
    this.#watch('stop', 'drain', 'the gateway stopped', () => void gateway.drain(limit_ms))
  }

  /** Does something, and looks that each state which it reached did what its row of `CALL_STATES` says. */
  #watch(method: 'clientGone' | 'stop', column: 'client_gone' | 'drain', what: string, run: () => void) {
    const reached: {state: CallState; was: keyof typeof CALL_STATES}[] = []
    const original = CallState.prototype[method]
    CallState.prototype[method] = function (this: CallState) {
      reached.push({state: this, was: this.name})
      original.call(this)
    }
    run()
    CallState.prototype[method] = original
    this.#after_step.push(() => {
      for (const {state, was} of reached)
        if (CALL_STATES[was][column] === 'ends' && !IS_ENDING.has(state.name))
          this.faults.push(`${what} in ${was}, and the call did not end: it is in ${state.name}`)
    })
  }

  async #checkEnd() {
    for (const gateway of this.#gateways) if (gateway.live > 0) this.faults.push(`${gateway.live} calls never ended`)
    for (const life of this.lives) this.#checkLife(life)
    for (const [key, {is_written, settlements}] of this.journal.attempts)
      if (settlements.length !== (is_written ? 1 : 0))
        this.faults.push(
          `${key} was settled ${settlements.length} times, its intent ${is_written ? 'safe' : 'refused'}`,
        )
    for (const line of this.#log) this.faults.push(`an error was logged: ${line}`)
    await this.#checkLimits()
  }

  #checkLife({name, client, words, is_stream, asks_usage}: Life) {
    for (const fault of client.faults) this.faults.push(`${name}: ${fault}`)
    if (client.end_of_answer === null) this.faults.push(`${name}: the answer never ended`)
    if (client.end_of_answer !== 'whole' || client.status !== 200) return
    const body = client.body.toString()
    const served = this.served.filter(each => each.script.status === 200 && each.words === words)
    const [shown, fault] = is_stream ? brokenOff(body) : [body, null]
    const texts = served.map(each => textOf(each, asks_usage))
    if (fault === null && served.some((each, at) => each.is_whole && texts[at] === body)) return
    // an answer that was kept is told anew, in the same words
    const is_kept = client.headers['x-gateway-cache-status'] === 'HIT'
    if (is_kept && served.some(each => each.is_whole && wordsIn(textOf(each, true)) === wordsIn(body))) return
    if (fault !== null && (shown === '' || texts.some(text => text.startsWith(shown)))) return
    this.faults.push(`${name}: the answer is no provider's: ${body.slice(-300)}`)
  }

  /** What the counters have is what was settled: nothing is held any more, and nothing counts twice. */
  async #checkLimits() {
    let tokens = 0
    for (const {settlements} of this.journal.attempts.values())
      for (const settlement of settlements) tokens += spentIn(settlement).tokens
    const reading = this.#limits.read(this.limit)
    while (this.clock.step(ENDS_MS * 2)) await settled()
    const [used] = await reading
    if (used && Number(used.used) !== tokens)
      this.faults.push(`${tokens} tokens were settled, and ${used.used} are counted`)
  }

  /** Counters that answer at once, or as those of another machine do. */
  #answeringLate(counters: Counters): Counters {
    if (this.#chance.is(0.5)) return counters
    const late = (value: unknown) =>
      new Promise(resolve => this.clock.after(this.#chance.between(0, 60), () => resolve(value)))
    return new Proxy(counters, {
      get: (of, name: keyof Counters & string) => {
        const method = of[name]
        if (typeof method !== 'function' || !LATE_METHODS.has(name)) return method
        return (...given: never[]) => late((method as (...of: never[]) => unknown)(...given))
      },
    })
  }

  #services(): ProxyServices {
    const {clock, journal} = this
    const chance = this.#chance
    const known = knownCaller(callerOf(this.limit))
    const is_late = chance.is(0.5)
    const cache = createMemoryCache({now: clock.now})
    const failed = (fields: unknown, text?: string) =>
      void (
        isExpected(text) || this.#log.push(`${text ?? ''} ${String((fields as {fault?: Error}).fault?.stack ?? '')}`)
      )
    const nothing = () => undefined
    return {
      settings,
      version: 'simulated',
      guardrails: null,
      semantic: () => Promise.reject(new Error('none')),
      option_defaults: {},
      secrets: NO_SECRETS,
      log: {trace: nothing, debug: nothing, info: nothing, warn: nothing, error: failed, fatal: failed},
      seal: SEAL,
      recorder: journal,
      takesCalls: () => true,
      prices: {
        find: nothing,
        cost: () => ({cost_nanousd: 0, unpriced: true, unpriced_units: [], mode_unpriced: null}),
        charges: () => true,
      },
      findPolicies: () => null,
      limits: this.#limits,
      metrics: {ended: nothing, took: nothing, live: nothing},
      cache: {
        cache,
        flights: createFlights({
          after: clock.after,
          onFault: fault => void this.faults.push(`the cache: ${String(fault)}`),
        }),
      },
      fileStore: () => {
        throw new Error('no files are kept')
      },
      deferred: {
        under_way: new Map(),
        open: async () => undefined,
        unsettled: async () => [],
        settle: async () => true,
      },
      logins: openLogins({fetch: () => Promise.reject(new Error('no network')), now_ms: clock.now}),
      sticky: createStickyMemory(),
      circuits: createCircuits(),
      random: chance.part,
      after: clock.after,
      soon: clock.soon,
      steady: clock.steady,
      now: clock.now,
      findCallerByCredential: () => undefined,
      findCaller: () =>
        is_late ? new Promise(resolve => clock.after(chance.between(0, 50), () => resolve(known))) : known,
      findProvider: async () => null,
      findConfig: async () => null,
      findPrompt: async () => undefined,
      findPartial: async () => undefined,
      listedProviders: async () => [],
      pricedModels: () => [],
      seen: new SeenObjects(),
      judged: {note: nothing, isJudged: () => false},
      kind: find,
      destination: () => DESTINATION,
      dispatcher: () => this.#provider(),
      administered: () => [],
      cors: () => [],
      masked: new Set(),
      ignored: new Set(),
    }
  }

  #provider(): Dispatcher {
    const dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => {
      const request = JSON.parse(String(options.body)) as SentRequest
      const served: Served = {
        words: request.messages[0]!.content,
        script: scriptOf(request.stream === true, request.stream_options?.include_usage === true, this.#chance),
        has_left: false,
        is_whole: false,
      }
      this.served.push(served)
      play(served, handler, this.clock)
      return true
    }
    return {dispatch} as unknown as Dispatcher
  }
}

/** Where a call is whose owner has ended it: an attempt that has an intent is settled first. */
const IS_ENDING: ReadonlySet<string> = new Set(['settling', 'finishing', 'settled'])

/** All promises that can go on have gone on. */
const settled = () => new Promise<void>(resolve => void setImmediate(resolve))

/** The bytes that a client should get of it; the event of usage was added for the gateway where it did not ask. */
function textOf({script}: Served, asks_usage: boolean): string {
  const texts = script.pieces.map(({bytes}) => bytes.toString())
  return (asks_usage ? texts : texts.filter(text => !text.includes('"choices":[],"usage"'))).join('')
}

/** The words of an answer, whole or streamed. */
function wordsIn(answer: string): string {
  return [...answer.matchAll(/"content":"([^"]*)"/g)].map(([, words]) => words).join('')
}

/** A stream without the event that says why it breaks off, and that event; null where it ends as it should. */
function brokenOff(body: string): [shown: string, fault: string | null] {
  const at = body.lastIndexOf('data: {"error"')
  return at < 0 ? [body, null] : [body.slice(0, at), body.slice(at)]
}

/** What reaches a provider. */
interface SentRequest {
  readonly messages: readonly {readonly content: string}[]
  readonly stream?: boolean
  readonly stream_options?: {readonly include_usage?: boolean}
}

/** Faults that the simulated journal makes are logged as errors, and rightly. */
const isExpected = (text: string | undefined) =>
  text === 'the journal took no intent' || text === 'a settlement could not be written'

const DESTINATION = {
  origin: 'http://upstream.test',
  hostname: 'upstream.test',
  port: 80,
  secure: false,
  basePath: '/v1',
  trust: 'public',
  key: 'k',
} as const

function headersOf(chance: Chance): Record<string, string> {
  const target = () => ({
    provider: chance.one(['openai', 'groq']),
    api_key: 'k',
    ...(chance.is(0.4) && {retry: {attempts: chance.between(1, 3), on_status_codes: [429, 500, 503]}}),
    ...(chance.is(0.2) && {request_timeout: chance.between(50, 2_000)}),
    ...(chance.is(0.3) && {cache: {mode: 'simple', max_age: 60}}),
  })
  const targets = Array.from({length: chance.between(2, 3)}, target)
  const config = chance.is(0.4) ? target() : {strategy: {mode: chance.one(['fallback', 'loadbalance'])}, targets}
  return {
    'x-gateway-api-key': 'k',
    'x-gateway-config': JSON.stringify(config),
    'content-type': 'application/json',
  }
}

/** Tokens of the key, strict or not, with room for all calls or for few. */
function limitOf(chance: Chance): EntityLimit {
  const budget = UsageLimit.parse({
    type: 'tokens',
    credit_limit: chance.is(0.8) ? 100_000_000 : chance.between(100, 20_000),
    ...(chance.is(0.5) && {enforcement: 'strict'}),
  })
  return {
    entity: 'key',
    id: 'key',
    name: 'key',
    organisation_id: 'org',
    workspace_id: 'ws',
    usage: keepUsageLimits([budget], null, '2026-03-01T00:00:00.000Z'),
    rates: null,
    last_reset_at: null,
  }
}

function callerOf(limit: EntityLimit): Caller {
  return {
    kind: 'api_key',
    id: 'key',
    organisation_id: 'org',
    workspace_id: 'ws',
    workspace_slug: 'ws-one',
    user_id: null,
    metadata: {},
    config_id: null,
    allow_config_override: true,
    limits: [limit],
    models: null,
  }
}
