import fs from 'node:fs'
import {join} from 'node:path'
import type {Cell} from './cells.ts'
import type {GatewaySetup} from './worlds.ts'

/**
 * What a call comes to: for its client, in the log (statuses), in the ledger (outcomes), and requests to its provider
 * after the event.
 */
type Come = readonly [end: string, rows: readonly number[], entries: readonly string[], asked?: number]
export type Event = 'client gone' | 'drain' | 'timeout' | 'upstream reset' | 'journal refuses' | 'process killed'

/**
 * What each state comes to by each event. A state that is missing is out of the event's reach: what waits for its
 * client has nothing upstream to lose, a wait that was asked for has no deadline, and a login has its own (10 s).
 */
export const COMES_TO: Readonly<Record<Event, Readonly<Record<string, Come>>>> = {
  'client gone': {
    head: ['closed', [], []],
    body: ['closed', [499], []],
    guarding: ['closed', [499], []],
    following: ['closed', [499], []],
    login: ['closed', [499], []],
    connecting: ['closed', [499], []],
    sent: ['closed', [499], ['aborted']],
    'first event': ['closed', [499], ['aborted']],
    stream: ['200 cut', [200], ['aborted']],
    'terminal event': ['200 cut', [200], ['aborted']],
    'last byte': ['200 cut', [200], ['aborted']],
    'judging the answer': ['closed', [499], ['aborted']],
    'retry wait': ['closed', [499], ['ok']],
    session: ['101 cut', [101], ['aborted']],
    'slow reader': ['closed', [200], ['aborted']],
  },
  // what has not left is refused at once, and nothing leaves any more; what has left ends with the time for it, and is
  // told why, unless its answer is judged in that time; what it loses in that time it does not ask for elsewhere
  drain: {
    head: ['closed', [], []],
    body: ['503', [503], []],
    guarding: ['503', [503], []],
    following: ['503', [503], []],
    login: ['503', [503], []],
    connecting: ['503', [503], []],
    sent: ['503', [503], ['aborted']],
    'first event': ['503', [502], ['failed']],
    stream: ['200', [200], ['aborted']],
    'terminal event': ['200', [200], ['aborted']],
    'last byte': ['200 cut', [200], ['aborted']],
    'judging the answer': ['200', [200], ['ok']],
    'retry wait': ['503', [503], ['ok']],
    session: ['101 cut', [101], ['aborted']],
    'slow reader': ['200 cut', [200], ['aborted']],
  },
  // a webhook that is late has judged nothing, and its call goes on; who waited for another asks for itself; a fallback
  // asks another target
  timeout: {
    head: ['408', [], []],
    body: ['408', [408], []],
    guarding: ['200', [200], ['ok'], 1],
    following: ['408', [408], ['timeout'], 1],
    connecting: ['503', [503], ['failed']],
    sent: ['408', [408], ['timeout']],
    'first event': ['200', [408, 200], ['timeout', 'timeout'], 1],
    stream: ['200', [200], ['timeout']],
    'terminal event': ['200', [200], ['timeout']],
    'last byte': ['200 cut', [200], ['timeout']],
    'judging the answer': ['200', [200], ['ok']],
    session: ['101 cut', [101], ['timeout']],
    'slow reader': ['200 cut', [200], ['aborted']],
  },
  'upstream reset': {
    guarding: ['200', [200], ['ok'], 1],
    following: ['200', [200], ['ok'], 1],
    login: ['502', [502], []],
    connecting: ['503', [503], ['failed']],
    sent: ['502', [502], ['failed']],
    'first event': ['200', [502, 200], ['failed', 'ok'], 1],
    stream: ['200', [200], ['failed']],
    'terminal event': ['200', [200], ['failed']],
    'last byte': ['200 cut', [200], ['failed']],
    'judging the answer': ['200', [200], ['ok']],
    session: ['101 cut', [502], ['failed']],
    'slow reader': ['200', [200], ['failed']],
  },
  // no intent, no call; what has left is answered, and the next start counts it
  'journal refuses': {
    head: ['503', [], []],
    body: ['503', [], []],
    guarding: ['503', [], []],
    following: ['200', [], []],
    login: ['503', [], []],
    connecting: ['503', [0], ['recovered']],
    sent: ['200', [0], ['recovered']],
    'first event': ['200', [0], ['recovered']],
    stream: ['200', [0], ['recovered']],
    'terminal event': ['200', [0], ['recovered']],
    'last byte': ['200', [0], ['recovered']],
    'judging the answer': ['200', [0], ['recovered']],
  },
  // what has left is in the ledger at the next start; of a call between two attempts the first one's entry was there
  // before
  'process killed': {
    head: ['closed', [], []],
    body: ['closed', [], []],
    guarding: ['closed', [], []],
    following: ['closed', [], []],
    login: ['closed', [], []],
    connecting: ['closed', [0], ['recovered']],
    sent: ['closed', [0], ['recovered']],
    'first event': ['closed', [0], ['recovered']],
    stream: ['200 cut', [0], ['recovered']],
    'terminal event': ['200 cut', [0], ['recovered']],
    'last byte': ['200 cut', [0], ['recovered']],
    'judging the answer': ['closed', [0], ['recovered']],
    'retry wait': ['closed', [], ['ok']],
    session: ['101 cut', [0], ['recovered']],
    'slow reader': ['200 cut', [0], ['recovered']],
  },
}

/** Has every write into the journal of this folder fail as on a full disk; gives what undoes it. */
export function fillDisk(folder: string): () => void {
  const {writeSync} = fs
  const journal = join(folder, 'journal')
  const fault = () => Object.assign(new Error('ENOSPC: no space left on device, write'), {code: 'ENOSPC'})
  fs.writeSync = ((fd: number, ...what: unknown[]) => {
    if (fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(journal)) throw fault()
    return (writeSync as (fd: number, ...what: unknown[]) => number)(fd, ...what)
  }) as typeof fs.writeSync
  return () => {
    fs.writeSync = writeSync
  }
}

/** What is done to a call by itself; the other events happen to all of them. */
export const ACTS: Readonly<Partial<Record<Event, (cell: Cell, world: GatewaySetup) => void>>> = {
  'client gone': ({client}) => client.leave(),
  // what held them back gives way while the gateway drains, or what they waited for is lost: they might go on
  drain({state, tag, client, rest}, {double}) {
    if (state.name === 'body') client.send(rest)
    if (state.hears === 'judge' || state.hears === 'login') double.finish(tag)
    if (state.follows || state.name === 'first event') double.reset(tag)
  },
  'upstream reset'({state, tag, client}, {double}) {
    double.reset(placeOf(state, tag))
    client.read()
  },
  'journal refuses'({state, tag, client, rest}, {double}) {
    if (rest) client.send(rest)
    double.finish(placeOf(state, tag))
  },
}

/** Of a connection that says nothing it is not known whose it is. */
const placeOf = ({hears}: Cell['state'], tag: string) => (hears === 'dial' ? 'dial' : tag)
