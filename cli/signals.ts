import type {Log} from '../src/base/log.ts'
import type {Environment} from './environment.ts'
import {EXIT} from './fault.ts'

/** A signal to a whole process group comes twice: directly, and handed on by npm. */
const SAME_SIGNAL_MS = 1000

/** The handling of signals in a gateway that serves. */
export interface Signals {
  /** Resolves with the first signal to stop; one more, later than its echo, ends the process at once. */
  readonly heard: Promise<string>
  /** Has `reload` run at each hang-up that is not to stop, one after the other; before it is known they pass. */
  onReload(reload: () => Promise<void>): void
  off(): void
}

/**
 * Listens from now on. A hang-up stops what a terminal began, and has what a service manager began read its settings
 * again.
 */
export function awaitSignal(world: Environment, log: Log, env: Readonly<Record<string, string | undefined>>): Signals {
  const {promise: heard, resolve} = Promise.withResolvers<string>()
  const had_terminal = world.hasTerminal()
  let first_at_ms: number | undefined
  let reload: (() => Promise<void>) | undefined
  let reloading = Promise.resolve()
  const stop = (name: string) => {
    const now_ms = world.now()
    if (first_at_ms === undefined) {
      first_at_ms = now_ms
      return resolve(name)
    }
    if (now_ms - first_at_ms < SAME_SIGNAL_MS) return
    log.warn({signal: name}, 'stopping at once: calls under way are cut off')
    world.exit(EXIT.failure)
  }
  const isOfTerminal = () => {
    if (env.NOTIFY_SOCKET) return false
    return world.stdinIsTTY || world.stdout.isTTY || (had_terminal && !world.hasTerminal())
  }
  const hangUp = () => {
    // A closing terminal sends several signals: the second is not a person's.
    if (isOfTerminal()) return first_at_ms === undefined ? stop('SIGHUP') : undefined
    if (reload && first_at_ms === undefined) reloading = reloading.then(reload)
  }
  const offs = [world.onSignal(stop), world.onHangup(hangUp)]
  return {
    heard,
    onReload(run) {
      reload = run
    },
    off() {
      for (const off of offs) off()
    },
  }
}
