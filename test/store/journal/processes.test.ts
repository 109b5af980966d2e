import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {join} from 'node:path'
import {Worker} from 'node:worker_threads'
import {expect, onTestFinished, test} from 'vitest'
import {readJournal, recover} from '../../../src/store/journal/index.ts'
import {asking, OWNER, START, STORE, temporaryFolder, testJournal} from './support.ts'

test('a reader in another thread follows the writer record by record, while segments come and go', async () => {
  const {journal, folder} = await testJournal({segment_bytes: 64 * 1024})
  const worker = new Worker(join(import.meta.dirname, 'tail-worker.ts'), {workerData: {folder, ...OWNER}})
  onTestFinished(() => void worker.terminate())
  const ask = asking(journal)
  const written: string[] = []
  const read: string[] = []
  const removed: number[] = []
  await ask.intent('long:1', 'long')
  written.push('long')
  for (let turn = 0; turn < 60; turn++) {
    const payloads = Array.from({length: 40}, (_, n) => `${turn}.${n} ${'x'.repeat((turn * n * 37) % 1500)}`)
    const answers = payloads.map(payload => ask.log(payload))
    written.push(...payloads)
    if (turn % 3 === 0) await Promise.all(answers)
    worker.postMessage(journal.position())
    const [said] = (await once(worker, 'message')) as [
      {from: {segment: number; position: number}; read: string[]; warnings: string[]},
    ]
    read.push(...said.read)
    expect(said.warnings).toEqual([])
    await Promise.all(answers)
    removed.push(...(await journal.retire(said.from)))
  }
  worker.postMessage(journal.position())
  read.push(...(await once(worker, 'message'))[0].read)
  expect(read).toEqual(written)
  expect(removed.length).toBeGreaterThan(10)
  expect(recover({folder, ...OWNER, mark: START}).open.map(({id}) => id)).toEqual(['long:1'])
  worker.postMessage('end')
  await once(worker, 'exit')
})

test('after kill -9 every acknowledged record is found once, and what was open is settled by the next start', async () => {
  const folder = temporaryFolder()
  const acknowledged: string[] = []
  for (const run of ['a', 'b', 'c']) {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'appender.ts'), folder, STORE, run], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = await killedAfter(child, 60_000)
    expect(lines.length).toBeGreaterThan(1000)
    acknowledged.push(...lines)
    const owner = {folder, store_id: STORE, epoch: 1}
    const {warnings, open} = recover({...owner, mark: START})
    expect(warnings.filter(({code}) => code !== 'torn')).toEqual([])
    const found = new Map<string, number>()
    for (const {payload, kind} of readJournal({...owner, from: START, warn: () => {}})) {
      const id = kind === 'log_row' ? String(payload).split(' ')[0]! : String(payload)
      found.set(id, (found.get(id) ?? 0) + 1)
    }
    expect(acknowledged.filter(id => found.get(id) !== 1)).toEqual([])
    const settled = (id: string) => found.has(`settlement ${id}`) || found.has(`recovered ${id}`)
    const begun = [...found.keys()].flatMap(id => (id.startsWith('intent ') ? id.slice(7) : []))
    expect(open.map(({id}) => id)).toEqual(begun.filter(id => !settled(id)))
  }
})

/** The whole lines that `child` printed until it was killed, at some moment after `bytes` of them. */
async function killedAfter(child: ChildProcess, bytes: number): Promise<string[]> {
  let said = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (said.length > bytes) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'close')
  expect(signal).toBe('SIGKILL')
  return said.split('\n').slice(0, -1)
}
