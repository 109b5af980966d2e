import {Refusal} from '../../base/errors.ts'
import type {ClientEvents} from '../inbound/response.ts'
import type {CallRegistry, LiveCall} from './registry.ts'

/**
 * The effect of an event on a call. `ends`: its owner ends it at once, and releases its claims. `owner decides`: it may
 * be wanted all the same. `goes on`: nothing happens now; the call may not enter a state that leads to a provider
 * afterwards.
 */
type Effect = 'ends' | 'owner decides' | 'goes on'

interface StateRow {
  /** The file whose object hears of events there. */
  readonly owner: string
  /** The deadline of the state, and its result. */
  readonly deadline: string
  readonly client_gone: Effect
  /** The gateway received a signal to stop. When `DRAIN_TIMEOUT_MS` is over as well, every state ends. */
  readonly drain: Effect
}

/**
 * The life of a call, in the order of its states. A call is registered when its request is parsed, is in one state at
 * any time, and leaves the registry once, when it is settled. A target that fails leads back to `resolving`, or to
 * `retry_wait`.
 */
export const CALL_STATES = {
  authenticating: {owner: 'proxy.ts', deadline: 'that of the store', client_gone: 'goes on', drain: 'ends'},
  admitting_caller: {owner: 'proxy.ts', deadline: 'that of the counters', client_gone: 'goes on', drain: 'ends'},
  /** A request that is answered in several calls, each of which has its own state. */
  taking_turns: {
    owner: 'tool-runs/tool-run.ts',
    deadline: 'those of its calls',
    client_gone: 'ends',
    drain: 'goes on',
  },
  reading_body: {owner: 'proxy.ts', deadline: 'CLIENT_BODY_IDLE_TIMEOUT_MS: 408', client_gone: 'ends', drain: 'ends'},
  planning: {owner: 'proxy.ts', deadline: 'that of the store', client_gone: 'goes on', drain: 'goes on'},
  resolving: {owner: 'run/call-runner.ts', deadline: 'that of the store', client_gone: 'ends', drain: 'ends'},
  guarding: {owner: 'run/call-runner.ts', deadline: 'that of each check', client_gone: 'ends', drain: 'ends'},
  looking_up: {owner: 'run/call-runner.ts', deadline: '0.25 s: a miss', client_gone: 'ends', drain: 'ends'},
  following: {
    owner: 'run/call-runner.ts',
    deadline: '180 s: it asks for itself',
    client_gone: 'ends',
    drain: 'goes on',
  },
  admitting_target: {owner: 'run/call-runner.ts', deadline: 'that of the counters', client_gone: 'ends', drain: 'ends'},
  logging_in: {owner: 'run/call-runner.ts', deadline: '10 s: 502', client_gone: 'ends', drain: 'ends'},
  reserving: {owner: 'run/call-runner.ts', deadline: 'that of the counters', client_gone: 'ends', drain: 'ends'},
  searching: {
    owner: 'run/call-runner.ts',
    deadline: 'SEMANTIC_CACHE_EMBEDDING_TIMEOUT_MS and 0.25 s: a miss',
    client_gone: 'ends',
    drain: 'ends',
  },
  recording: {
    owner: 'attempt/attempt.ts',
    deadline: 'that of the journal: 503',
    client_gone: 'owner decides',
    drain: 'goes on',
  },
  queued: {
    owner: 'attempt/attempt.ts',
    deadline: 'UPSTREAM_FIRST_BYTE_TIMEOUT_MS',
    client_gone: 'owner decides',
    drain: 'ends',
  },
  sent: {
    owner: 'attempt/attempt.ts',
    deadline: 'UPSTREAM_FIRST_BYTE_TIMEOUT_MS',
    client_gone: 'owner decides',
    drain: 'goes on',
  },
  receiving: {
    owner: 'attempt/attempt.ts',
    deadline: 'UPSTREAM_IDLE_TIMEOUT_MS',
    client_gone: 'owner decides',
    drain: 'goes on',
  },
  settling: {
    owner: 'attempt/attempt.ts',
    deadline: 'that of the journal',
    client_gone: 'owner decides',
    drain: 'goes on',
  },
  finishing: {
    owner: 'attempt/attempt.ts',
    deadline: 'CLIENT_WRITE_TIMEOUT_MS: cut',
    client_gone: 'owner decides',
    drain: 'goes on',
  },
  retry_wait: {owner: 'run/call-runner.ts', deadline: 'the wait itself', client_gone: 'ends', drain: 'ends'},
  settled: {owner: 'nobody', deadline: 'none', client_gone: 'goes on', drain: 'goes on'},
} as const satisfies Record<string, StateRow>

export type StateName = keyof typeof CALL_STATES

/** The owner of a call's state, for the events that reach it there. */
export interface StateOwner {
  /** The call ends now. Whatever it still receives or has claimed is released. */
  end(fault: Refusal): void
  /** The client left in a state whose owner decides. */
  clientGone?(): void
  /** A client's socket that was full takes bytes again. */
  clientReady?(): void
  /** Looks at deadlines of its own; `now` is of the clock that durations are taken with. */
  check?(now: number): void
}

const NO_OWNER: StateOwner = {end: () => undefined}

/** The state of a call. Events from outside come in here, and `LIFE` decides their effect. */
export class CallState implements LiveCall, ClientEvents {
  readonly kind = 'call'
  slot = -1
  /** `planning` also stands for what is done between two waits. */
  name: StateName = 'planning'
  readonly #registry: CallRegistry
  #owner: StateOwner = NO_OWNER

  /** A call that is accepted: registered until it is settled. */
  constructor(registry: CallRegistry) {
    this.#registry = registry
    registry.add(this)
  }

  /** False when the call has ended: the caller releases what it has just claimed. */
  enter(name: StateName, owner: StateOwner): boolean {
    if (this.name === 'settled') return false
    this.name = name
    this.#owner = owner
    return true
  }

  /** `owner` is done, and says next what follows. */
  release(owner: StateOwner): void {
    if (this.#owner === owner) this.#owner = NO_OWNER
  }

  /** True while `owner` is what the call is at. */
  isOwnedBy(owner: StateOwner): boolean {
    return this.#owner === owner
  }

  /** Waits in a state. An event that ends the call rejects; what still comes then is given to `late`. */
  wait<T>(name: StateName, work: Promise<T>, late: (value: T) => void = () => undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let is_over = false
      const owner: StateOwner = {
        end: fault => {
          is_over = true
          reject(fault)
        },
      }
      this.enter(name, owner)
      work.then(
        value => {
          if (is_over) return late(value)
          this.enter('planning', NO_OWNER)
          resolve(value)
        },
        fault => is_over || reject(fault),
      )
      if (this.#registry.draining) this.stop()
    })
  }

  /** The one end of a call: it leaves the registry. False when it has ended before. */
  settle(): boolean {
    if (this.name === 'settled') return false
    this.name = 'settled'
    this.#owner = NO_OWNER
    this.#registry.delete(this)
    return true
  }

  get is_settled(): boolean {
    return this.name === 'settled'
  }

  check(now: number): void {
    this.#owner.check?.(now)
  }

  stop(): void {
    if (CALL_STATES[this.name].drain === 'ends') this.#owner.end(new Refusal('draining'))
  }

  abort(): void {
    this.#owner.end(new Refusal('draining'))
  }

  clientGone(): void {
    const effect = CALL_STATES[this.name].client_gone
    if (effect === 'ends') this.#owner.end(new Refusal('client.gone'))
    else if (effect === 'owner decides') this.#owner.clientGone?.()
  }

  clientReady(): void {
    this.#owner.clientReady?.()
  }

  /** The rest of its request does not come. */
  refuse(fault: Refusal): void {
    this.#owner.end(fault)
  }
}
