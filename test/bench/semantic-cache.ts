import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {pathToFileURL} from 'node:url'
import {seeded} from '../../src/base/seeded-random.ts'
import {SignIndex} from '../../src/cache/semantic/sign-index.ts'
import {signsOf, unitVector} from '../../src/cache/semantic/vector.ts'
import {VectorIndex} from '../../src/cache/semantic/vector-index.ts'
import {openCacheFile} from '../../src/store/cache.ts'
import {semanticTable} from '../../src/store/semantic-entries.ts'

const DIMENSIONS = 1536
const ENTRIES = 5_000
const SEARCHES = 500
/** Milliseconds of a search at the 95th of 100, and of the longest time that it keeps everybody else waiting. */
const MAX_SEARCH_MS = 5
const MAX_HOLD_MS = 2
const PARTITIONS = 40
const MAX_MEMORY_MB = 64

export interface SemanticCacheBench {
  readonly lines: readonly string[]
  /** Figures above their limit; empty when all is well. */
  readonly above: readonly string[]
}

/** Searches in a full partition on SQLite, and the memory of 200,000 entries. The embedder is left out. */
export async function semanticCacheBench(): Promise<SemanticCacheBench> {
  const {search_ms, hold_ms} = await searches()
  const memory_mb = memoryOf(PARTITIONS)
  const figures = [
    {name: `search of ${ENTRIES} entries of ${DIMENSIONS} places, 95 of 100`, value: search_ms, most: MAX_SEARCH_MS},
    {name: 'longest hold of the event loop, 95 of 100 searches', value: hold_ms, most: MAX_HOLD_MS},
    {name: `index of ${PARTITIONS * ENTRIES} entries, MB`, value: memory_mb, most: MAX_MEMORY_MB},
  ]
  return {
    lines: figures.map(({name, value, most}) => `${name.padEnd(56)} ${value.toFixed(2).padStart(8)} (at most ${most})`),
    above: figures.filter(({value, most}) => value > most).map(({name}) => name),
  }
}

async function searches(): Promise<{search_ms: number; hold_ms: number}> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-semantic-'))
  const file = openCacheFile({folder})
  const random = seeded('semantic cache')
  const draw = () => unitVector(Array.from({length: DIMENSIONS}, () => random() + random() - 1))!
  const throws = (fault: unknown) => {
    throw fault
  }
  const index = new VectorIndex({
    table: semanticTable(file.db),
    now: () => 0,
    most_bytes: MAX_MEMORY_MB << 20,
    is_shared: false,
    // the first one loads the partition, which may take longer than a call waits
    timeout_ms: 10_000,
    onFault: throws,
  })
  try {
    for (let at = 0; at < ENTRIES; at++) {
      index.add({
        ...{partition: 'p', workspace_id: 'w', digest: `d${at}`, log_id: '', features: '{}', vector: draw()},
        ...{created_at_ms: 0, expires_at_ms: 1},
      })
      if (at % 500 === 499) await index.close() // no more than 1,000 wait
    }
    const took: number[] = []
    const holds: number[] = []
    const wanted = Array.from({length: SEARCHES + 20}, draw)
    for (const [at, vector] of wanted.entries()) {
      const watch = watchHolds()
      const began = performance.now()
      const found = await index.search('p', vector)
      const search_ms = performance.now() - began
      const hold_ms = await watch()
      if (found.length === 0) throw new Error('a search found nothing')
      if (at < 20) continue // of a process that has just begun
      took.push(search_ms)
      holds.push(hold_ms)
    }
    return {search_ms: slow(took), hold_ms: slow(holds)}
  } finally {
    await index.close()
    await file.close()
    rmSync(folder, {recursive: true, force: true})
  }
}

/** The longest processor time between two turns of the event loop, until the function it gives is called. */
function watchHolds(): () => Promise<number> {
  let longest_ms = 0
  let is_over = false
  let last_ms = cpuMs()
  const look = () => {
    const now_ms = cpuMs()
    longest_ms = Math.max(longest_ms, now_ms - last_ms)
    last_ms = now_ms
    if (!is_over) setImmediate(look)
  }
  setImmediate(look)
  return async () => {
    await new Promise(done => setImmediate(done))
    is_over = true
    return longest_ms
  }
}

function cpuMs(): number {
  const {user, system} = process.threadCpuUsage()
  return (user + system) / 1000
}

const slow = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.95)]!

/** Megabytes by which full partitions make the process larger. */
function memoryOf(partitions: number): number {
  globalThis.gc?.()
  const before = process.memoryUsage()
  const random = seeded('memory')
  const signs = signsOf(unitVector(Array.from({length: DIMENSIONS}, () => random() - 0.5))!)
  const held: SignIndex[] = []
  for (let partition = 0; partition < partitions; partition++) {
    const index = new SignIndex(DIMENSIONS, ENTRIES)
    for (let id = 0; id < ENTRIES; id++) index.append({id, expires_at_ms: 1, signs})
    held.push(index)
  }
  const after = process.memoryUsage()
  const entries = held.reduce((sum, {size}) => sum + size, 0)
  if (entries !== partitions * ENTRIES) throw new Error(`${entries} entries are held`)
  return (after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed) / 2 ** 20
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const {lines, above} = await semanticCacheBench()
  console.log(lines.join('\n'))
  if (above.length) {
    console.error(`above its limit: ${above.join(', ')}`)
    process.exitCode = 1
  }
}
