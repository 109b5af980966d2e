import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {monitorEventLoopDelay, performance} from 'node:perf_hooks'
import {openJournal} from '../../src/store/journal/index.ts'

/**
 * What the journal costs a call: an intent and a settlement, appended in turns of `together` calls, group writes and
 * syncs included. `node test/bench/journal.ts [calls]`; the folder is on the disk of TMPDIR.
 */
const calls = Number(process.argv[2] ?? 100_000)
const intent = JSON.stringify({call: 'x'.repeat(600)})
const settlement = JSON.stringify({call: 'x'.repeat(600), log: 'y'.repeat(900)})

for (const together of [1, 8, 32, 128]) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-journal-'))
  const journal = await openJournal({
    folder,
    store_id: '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3d',
    epoch: 1,
    mark: {segment: 0, position: 0},
    open: [],
    report: ({text, cause}) => console.error(text, cause),
  })
  const delay = monitorEventLoopDelay({resolution: 1})
  delay.enable()
  let inside_ms = 0
  let failed = 0
  const done = (error?: Error) => {
    if (error) failed++
  }
  const cpu = process.cpuUsage()
  const start = performance.now()
  for (let call = 0; call < calls; ) {
    const began = performance.now()
    for (let n = 0; n < together; n++, call++) {
      const id = `0190c1e2-aaaa-7bbb-8ccc-${String(call).padStart(12, '0')}:1`
      journal.appendIntent(id, intent, done)
      journal.appendSettlement(id, settlement, done)
    }
    inside_ms += performance.now() - began
    await new Promise(resolve => setImmediate(resolve))
    if (call % 8192 < together) await journal.retire(journal.position())
  }
  const took_ms = performance.now() - start
  const {user, system} = process.cpuUsage(cpu)
  await journal.close()
  delay.disable()
  rmSync(folder, {recursive: true})
  const each = (ms: number) => `${((ms * 1000) / (2 * calls)).toFixed(2)} µs`
  console.log(
    `${String(together).padStart(3)} calls a turn: append ${each(inside_ms)}, with writes ${each(took_ms)}, CPU of all threads ` +
      `${((user + system) / (2 * calls)).toFixed(2)} µs, longest turn ${(delay.max / 1e6).toFixed(1)} ms, failed ${failed}`,
  )
}
