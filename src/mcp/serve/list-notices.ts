import type {After} from '../../base/delay.ts'
import type {RpcNotification} from '../wire/messages.ts'

const LIST_NOTICE = /^notifications\/(?:tools|prompts|resources)\/list_changed$/
/** A client hears of one kind of list at most so often. */
const PAUSE_MS = 1_000

/** True for the notice of a server that one of its lists is another. */
export function isListNotice({method}: Pick<RpcNotification, 'method'>): boolean {
  return LIST_NOTICE.test(method)
}

interface Pause {
  callOff: () => void
  /** The newest notice that came in the pause. */
  waiting: string | null
}

/**
 * Notices of changed lists for one stream. The first of a kind goes at once; of those that come in the
 * second after it the newest goes at its end. So a client always hears of the last change, and a server that announces
 * one after another wakes it once a second.
 */
export class ListNotices {
  readonly #after: After
  readonly #send: (text: string) => void
  readonly #pauses = new Map<string, Pause>()

  constructor(after: After, send: (text: string) => void) {
    this.#after = after
    this.#send = send
  }

  /** Takes a notice; `text` is the message as the client gets it. */
  take(method: string, text: string): void {
    const pause = this.#pauses.get(method)
    if (pause) pause.waiting = text
    else this.#sent(method, text)
  }

  /** Ends it; gives what waits. */
  close(): string[] {
    const pauses = [...this.#pauses.values()]
    this.#pauses.clear()
    for (const {callOff} of pauses) callOff()
    return pauses.flatMap(({waiting}) => waiting ?? [])
  }

  #sent(method: string, text: string) {
    const callOff = this.#after(PAUSE_MS, () => {
      const {waiting} = this.#pauses.get(method)!
      this.#pauses.delete(method)
      if (waiting !== null) this.#sent(method, waiting)
    })
    this.#pauses.set(method, {callOff, waiting: null})
    this.#send(text)
  }
}
