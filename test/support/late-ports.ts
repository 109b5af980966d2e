import {EventEmitter} from 'node:events'
import {setImmediate as turn} from 'node:timers/promises'
import type {Recorder} from '../../src/charge/ports.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'

/** True where the data plane is tested over ports that answer as those of another machine would: `TEST_PORTS=late`. */
export const PORTS_ARE_LATE = process.env.TEST_PORTS === 'late'

/**
 * Counters, ledger and directory, each answering a turn later and given copies: whoever counts on the same turn or on
 * the same object is found.
 */
export function latePorts(services: ProxyServices): ProxyServices {
  const {limits, recorder} = services
  const {findCaller, findProvider, findPolicies, findConfig, findPrompt, findPartial, listedProviders} = services
  const directory = {findCaller, findProvider, findPolicies, findConfig, findPrompt, findPartial, listedProviders}
  return {
    ...services,
    ...(Object.fromEntries(
      Object.entries(directory).map(([name, port]) => [name, late(port as Port)]),
    ) as unknown as typeof directory),
    // whether it is a key is known at once; its caller is a turn late
    findCallerByCredential(credential, client) {
      const found = services.findCallerByCredential(credential, client)
      if (found instanceof Promise) found.catch(() => undefined) // its refusal is met a turn later
      return found && turn().then(() => found)
    },
    limits: {
      admit: late((...given) => limits.admit(...given)),
      hold: late((...given) => limits.hold(...given)),
      add: late((...given) => limits.add(...given)),
      recover: late((...given) => limits.recover(...given)),
    },
    recorder: lateRecorder(recorder),
  }
}

type Port<A extends unknown[] = never[], R = unknown> = (...given: A) => R

function late<A extends unknown[], R>(port: Port<A, R | Promise<R>>): (...given: A) => Promise<R> {
  return async (...given) => {
    // the client's request has no copy: a port listens to it for the client's leaving alone
    const copies = given.map(value => (value instanceof EventEmitter ? value : structuredClone(value))) as A
    await turn()
    return await port(...copies)
  }
}

/**
 * Records in the order in which they were given. A row that nobody waits for is written at once, as tests look at once;
 * behind settlements it waits with them.
 */
function lateRecorder(recorder: Recorder): Recorder {
  let settlements = 0
  return {
    begin(intent, done) {
      const copy = structuredClone(intent)
      setImmediate(() => recorder.begin(copy, done))
    },
    settle(settlement, bodies, done, intent) {
      const copies = structuredClone({settlement, bodies, intent})
      settlements++
      setImmediate(() => {
        settlements--
        recorder.settle(copies.settlement, copies.bodies, done, copies.intent)
      })
    },
    note(settlement, bodies) {
      const copies = structuredClone({settlement, bodies})
      const write = () => recorder.note(copies.settlement, copies.bodies)
      if (settlements > 0) setImmediate(write)
      else write()
    },
  }
}
