import type {Socket} from 'node:net'

/** The sockets that have something to send at the end of the turn. */
let waiting: Bunched[] = []
const isWaiting = Symbol('waits for the end of the turn')
type Bunched = Socket & {[isWaiting]: boolean}

/**
 * Has what is written to `socket` leave with the next turn of the event loop, together with what is written to others until then. Calls
 * come in bunches, as the journal tells of all intents of a turn at once. Where each is sent for itself, the kernel wakes who is to
 * receive it each time; of a bunch the first write wakes, and the others find everybody awake.
 */
export function bunched(socket: Socket): Socket {
  const own = Object.assign(socket, {[isWaiting]: false})
  const {write, destroy} = socket
  own.write = ((...said: Parameters<typeof write>) => {
    wait(own)
    return write.apply(own, said)
  }) as typeof write
  // a call that is given up before its turn ended counts as sent all the same: what stands in the ledger, the provider received
  own.destroy = fault => {
    if (own[isWaiting]) own.uncork()
    destroy.call(own, fault)
    return own
  }
  return own
}

function wait(socket: Bunched): void {
  if (socket[isWaiting]) return
  socket[isWaiting] = true
  socket.cork()
  if (waiting.push(socket) === 1) setImmediate(send)
}

function send(): void {
  const sockets = waiting
  waiting = []
  for (const socket of sockets) {
    socket[isWaiting] = false
    socket.uncork()
  }
}
