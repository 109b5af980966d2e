import {readdirSync, readFileSync} from 'node:fs'
import {getPriority} from 'node:os'
import {resolve} from 'node:path'
import {Worker} from 'node:worker_threads'
import {build} from 'esbuild'
import {expect, test} from 'vitest'
import {WORKERS} from '../../src/base/runtime.ts'
import {yieldToAnswers} from '../../src/base/thread-priority.ts'
import {openReads} from '../../src/workers/reader.ts'
import {testStore} from '../support/stores.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CAN_BE_LOWERED = process.platform === 'linux' && getPriority(0) < 15
const here = {platform: 'linux', get: () => 0}

/** The priorities of this process's threads. */
function prioritiesOf(): number[] {
  return readdirSync('/proc/self/task').flatMap(thread => {
    try {
      // behind the name, which may hold spaces, `nice` is the 17th
      return [
        Number(
          readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
            .replace(/^.*\) /, '')
            .split(' ')[16],
        ),
      ]
    } catch {
      return [] // it has ended
    }
  })
}

/** How a thread's priority moves when it calls the function, by the system's own count. */
async function movedInThread(): Promise<number> {
  const {outputFiles} = await build({
    stdin: {
      contents: `import {getPriority} from 'node:os'
        import {parentPort} from 'node:worker_threads'
        import {yieldToAnswers} from './src/base/thread-priority.ts'
        const before = getPriority(0)
        const fault = yieldToAnswers()
        parentPort.postMessage(fault ? String(fault) : getPriority(0) - before)`,
      resolveDir: ROOT,
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
  })
  const worker = new Worker(outputFiles[0]!.text, {eval: true})
  return new Promise((done, failed) => worker.on('message', done).on('error', failed))
}

test.runIf(process.platform === 'linux')('a thread that yields has a lower priority, and it alone', async () => {
  const [before, process_before] = [getPriority(0), getPriority(process.pid)]
  expect(await movedInThread()).toBe(Math.min(5, 19 - before))
  expect([getPriority(0), getPriority(process.pid)]).toEqual([before, process_before])
})

test.runIf(CAN_BE_LOWERED)('the thread that reads has it from its start', async () => {
  const database = await testStore('sqlite')
  const lower = getPriority(0) + 5
  const before = prioritiesOf().filter(each => each === lower).length
  const reads = await openReads(database.options, {error: () => undefined})
  try {
    await reads.db.selectFrom('traffic.logs').select('id').execute()
    expect(prioritiesOf().filter(each => each === lower)).toHaveLength(before + 1)
  } finally {
    await reads.close()
    await database.close()
  }
})

test('every thread beside the one that answers yields', () => {
  const yields = /^(const \w+ = )?yieldToAnswers\(\)$/m
  const others = Object.values(WORKERS).filter(file => !yields.test(readFileSync(resolve(ROOT, file), 'utf8')))
  expect(others).toEqual([])
})

test('a priority is lowered from where it is, no lower than there is', () => {
  const set: number[] = []
  const from = (priority: number) => yieldToAnswers({...here, get: () => priority, set: to => set.push(to)})
  expect([from(0), from(-5), from(16), from(19)]).toEqual([undefined, undefined, undefined, undefined])
  expect(set).toEqual([5, 0, 19, 19])
})

test('a system that refuses it, and one where the whole process would be meant, leave it as it is', () => {
  const refused = new Error('EPERM')
  const set = () => {
    throw refused
  }
  expect(yieldToAnswers({...here, set})).toBe(refused)
  expect(yieldToAnswers({...here, platform: 'darwin', set})).toBeUndefined()
})
