import {readdirSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {afterEach, expect, test, vi} from 'vitest'
import {nodeFiles} from '../../src/store/journal/files.ts'
import type {Mark} from '../../src/store/journal/index.ts'
import type {JournalFollower} from '../../src/workers/retirement.ts'
import {asking, outcomes, setUp} from './support.ts'

const SEGMENT_BYTES = 64 << 10
/** The disk of the journal has room for so many segments. */
const QUOTA_BYTES = 8 * SEGMENT_BYTES
const CALLS = 600

afterEach(() => void vi.restoreAllMocks())

/** Has every new file of the journal fail where its folder is full. */
function smallDisk(folder: string) {
  const isFull = () =>
    readdirSync(folder).reduce(
      (sum, name) => sum + (statSync(join(folder, name), {throwIfNoEntry: false})?.size ?? 0),
      0,
    ) +
      SEGMENT_BYTES >
    QUOTA_BYTES
  const fault = () => Object.assign(new Error('ENOSPC: no space left on device, write'), {code: 'ENOSPC'})
  const {open, openSync} = nodeFiles
  vi.spyOn(nodeFiles, 'open').mockImplementation(async (path, flags) => {
    if (path.startsWith(folder) && isFull()) throw fault()
    return open(path, flags)
  })
  vi.spyOn(nodeFiles, 'openSync').mockImplementation((path, flags) => {
    if (flags === 'wx+' && path.startsWith(folder) && isFull()) throw fault()
    return openSync(path, flags)
  })
}

/** An export whose collector is down: it reads nothing. `lets_go`: it passes over what waits when it has to. */
function heldExport(lets_go: boolean) {
  let mark: Mark = {segment: 1, position: 0}
  let committed_to = mark
  let onMoved = () => {}
  const counts = {passed: 0}
  const follower: JournalFollower = {
    async begin(of) {
      mark = of.mark
      onMoved = of.onMoved
    },
    committed(committed) {
      committed_to = committed
    },
    least: committed => (mark.segment < committed.segment ? mark : committed),
    passOver() {
      counts.passed++
      if (!lets_go) return
      mark = committed_to
      setImmediate(onMoved)
    },
  }
  return {follower, counts}
}

test.each([
  ['lets go of what waits', true],
  ['hears nothing', false],
])(
  'TL15: on a full disk an export that %s holds back no calls: they are refused for a moment, and go on',
  async (_, lets_go) => {
    const gateway = await setUp('sqlite')
    const {follower, counts} = heldExport(lets_go)
    const records = await gateway.start({segment_bytes: SEGMENT_BYTES, follower})
    smallDisk(gateway.directory.journal)
    const ask = asking(records)
    let refused = 0
    for (let call = 0; call < CALLS; ) {
      if (await ask.begin(`call-${call}`)) {
        refused++
        expect(refused).toBeLessThan(1_000)
        await sleep(10)
        continue
      }
      expect(await ask.settle(`call-${call}`)).toBeUndefined()
      call++
      if (call % 20 === 0) await records.flushed()
    }
    expect(counts.passed).toBeGreaterThan(0)
    expect(gateway.lines.map(({msg}) => msg)).toContainEqual(expect.stringContaining('No room can be reserved'))
    await records.flushed()
    const entries = await outcomes(gateway)
    expect(entries).toEqual(Array.from({length: CALLS}, (_, call) => `call-${call} ok`))
  },
  60_000,
)

test('an export holds the journal while there is room for both', async () => {
  const gateway = await setUp('sqlite')
  const {follower, counts} = heldExport(true)
  const records = await gateway.start({segment_bytes: SEGMENT_BYTES, follower})
  const ask = asking(records)
  for (let call = 0; call < 200; call++) {
    await ask.begin(`call-${call}`)
    await ask.settle(`call-${call}`)
  }
  await records.flushed()
  expect(counts.passed).toBe(0)
  expect(records.status().segments).toBeGreaterThan(3)
}, 60_000)
