import {MessageChannel, Worker} from 'node:worker_threads'
import {expect, test} from 'vitest'
import type {Claim, Reserved} from '../../src/ports/counters/index.ts'
import {createRemote} from '../../src/ports/counters/remote.ts'

const CLAIM = {mode: 'usual'} as unknown as Claim
const TAKEN = {outcome: 'taken'} as unknown as Reserved<Claim>

/** Keeps this process from everything else. */
function busy(ms: number) {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test.each([
  ['a claim', 'usual'],
  ['a strict claim', 'strict'],
])('the answer to %s that came while this process was busy is read, and opens no limit', async (_, mode) => {
  const faults: unknown[] = []
  const remote = createRemote({now: Date.now, timeout_ms: 50, onFault: fault => void faults.push(fault)})
  const {port1, port2} = new MessageChannel()
  const store = new Worker(
    `require('node:worker_threads').parentPort.once('message', port => port.postMessage('taken'))`,
    {
      eval: true,
    },
  )
  await new Promise(resolve => store.once('online', resolve))
  try {
    const answer = () => new Promise<Reserved<Claim>>(resolve => port1.once('message', () => resolve(TAKEN)))
    const claimed = remote.claim([{...CLAIM, mode} as Claim], answer)
    store.postMessage(port2, [port2])
    busy(300)
    expect(await claimed).toBe(TAKEN)
    expect(faults).toEqual([])
  } finally {
    port1.close()
    await store.terminate()
  }
})

test('a store that is silent has its time and no more, also when this process was busy meanwhile', async () => {
  const faults: unknown[] = []
  const remote = createRemote({now: Date.now, timeout_ms: 50, onFault: fault => void faults.push(fault)})
  const began = performance.now()
  const claimed = remote.claim([CLAIM], () => new Promise<Reserved<Claim>>(() => undefined))
  busy(200)
  expect(await claimed).not.toBe(TAKEN)
  expect(faults).toHaveLength(1)
  expect(performance.now() - began).toBeLessThan(5_000)
})
