import {once} from 'node:events'
import {join} from 'node:path'
import {Worker} from 'node:worker_threads'

export {CASES, WAITING} from './cases.ts'

/**
 * A provider on loopback, in a thread of its own, that answers as the case which a request names; well where it names
 * none.
 */
export interface HostileProvider {
  readonly origin: string
  /** Closes it; tells how often each case was played. */
  close(): Promise<ReadonlyMap<string, number>>
}

export async function hostileProvider(): Promise<HostileProvider> {
  const thread = new Worker(join(import.meta.dirname, 'thread.ts'))
  const [{port}] = (await once(thread, 'message')) as [{port: number}]
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      thread.postMessage('close')
      const [{played}] = (await once(thread, 'message')) as [{played: [string, number][]}]
      await thread.terminate()
      return new Map(played)
    },
  }
}
