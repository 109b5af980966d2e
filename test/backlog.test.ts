import {once} from 'node:events'
import {existsSync, readFileSync} from 'node:fs'
import {Worker} from 'node:worker_threads'
import {expect, test} from 'vitest'
import {startGateway} from './support/gateway.ts'

const CROWD = 1500
const MOST_MS = 15_000
/** The system's own bound; there is no such file on systems other than Linux. */
const SOMAXCONN = '/proc/sys/net/core/somaxconn'
const may_wait = existsSync(SOMAXCONN) ? Number(readFileSync(SOMAXCONN, 'utf8')) : 0

/** Opens the crowd's connections and counts those that the system has accepted, in memory that both threads see. */
const CLIENT = `
const net = require('node:net')
const {workerData, parentPort} = require('node:worker_threads')
const count = new Int32Array(workerData.memory)
parentPort.once('message', () => {
  for (let at = 0; at < workerData.crowd; at++) {
    const socket = net.connect(workerData.port, '127.0.0.1', () => {
      Atomics.add(count, 0, 1)
      Atomics.notify(count, 0)
    })
    socket.on('error', () => undefined)
  }
})`

test.skipIf(may_wait < CROWD)(
  'a crowd that connects at once while the process is busy is held by the system, not dropped',
  async () => {
    const gateway = await startGateway({})
    const memory = new SharedArrayBuffer(4)
    const count = new Int32Array(memory)
    const port = Number(new URL(gateway.url).port)
    const worker = new Worker(CLIENT, {eval: true, workerData: {memory, port, crowd: CROWD}})
    try {
      await once(worker, 'online')
      worker.postMessage('go')
      // this thread, on which the gateway takes connections, does nothing else until all of them are there
      const end = performance.now() + MOST_MS
      for (let seen = 0; seen < CROWD && performance.now() < end; seen = Atomics.load(count, 0))
        Atomics.wait(count, 0, seen, 100)
      expect(Atomics.load(count, 0)).toBe(CROWD)
    } finally {
      await worker.terminate()
      await gateway.close()
    }
  },
)
