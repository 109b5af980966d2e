import {execFileSync} from 'node:child_process'
import {copyFileSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {ASSETS, SQLITE_ASSET, TABLES} from '../../src/base/runtime.ts'
import type {Bundles} from './bundle.ts'
import {withoutSymbols} from './strip.ts'

export type Parts = {
  readonly bundles: Bundles
  /** The Node executable that the program is put into. */
  readonly node: string
  /** The native library of better-sqlite3 for the same processor. */
  readonly sqlite: string
  readonly out: string
  /** A folder for files needed on the way. */
  readonly work: string
  /** True when `node` runs on this machine. */
  readonly sameArch: boolean
}

/**
 * Node looks for this mark to know whether it carries a program; it is split so that a reader of this file does not
 * find it whole.
 */
const FUSE = `NODE_SEA_FUSE_${'fce680ab2cc467b6e072b8b5df1996b2'}`

/**
 * The settings of the executable's V8, as measured under load. A call leaves nothing behind in the young space: more
 * than these 8 MB only costs memory. It grows to them at once: doubled, it would take the last step whenever enough has
 * outlived a collection, long after a load began. The old space is collected once it has grown by a third, for what
 * grows there is garbage. The compiler in the middle, Maglev, makes nothing faster that the optimising one takes over
 * so soon, and leaves 20 MB of holes in malloc's memory. V8 judges by the first collections where the objects of all
 * later calls are born; those fall into the first calls, whose objects all survive, so that now and then it put
 * everything into the old space for good. Collections this small are quicker alone than shared with a helper thread, of
 * which one is enough for the rest, as each has memory of its own. `gc` gives memory back after a load
 * (src/base/idle-memory.ts).
 */
const V8_FLAGS = [
  '--max-semi-space-size=8',
  '--semi-space-growth-factor=8',
  '--heap-growing-percent=30',
  '--no-allocation-site-pretenuring',
  '--no-maglev',
  '--no-wasm-generic-wrapper', // bin/run.mjs says what it keeps away; undici's parser is WebAssembly, in the uploader's thread too
  '--no-parallel-scavenge',
  '--v8-pool-size=1',
  '--expose-gc',
]

/**
 * Writes `out`: Node without its symbols, and in it the program, its worker threads and SQLite
 * (nodejs.org/api/single-executable-applications.html).
 */
export function makeExecutable({bundles, node, sqlite, out, work, sameArch}: Parts): void {
  const blob = join(work, 'gateway.blob')
  const config = join(work, 'gateway.sea.json')
  const workers = Object.entries(bundles.workers).map(([name, file]) => [`${name}.cjs`, file])
  const settings = {
    main: bundles.main,
    output: blob,
    disableExperimentalSEAWarning: true,
    // V8 takes a code cache from the very same build only, so there is none for a foreign processor.
    useCodeCache: sameArch,
    execArgv: V8_FLAGS,
    assets: {...ASSETS, ...TABLES, [SQLITE_ASSET]: sqlite, ...Object.fromEntries(workers)},
  }
  writeFileSync(config, JSON.stringify(settings))
  // The code cache is rejected by a V8 with other flags than the one that made it.
  run(sameArch ? node : process.execPath, [...V8_FLAGS, '--experimental-sea-config', config])
  const whole = join(work, 'gateway')
  writeFileSync(whole, withoutSymbols(readFileSync(node)))
  run(process.execPath, [
    join('node_modules', '.bin', 'postject'),
    whole,
    'NODE_SEA_BLOB',
    blob,
    '--sentinel-fuse',
    FUSE,
  ])
  // Linux maps a file in the pieces that its cache holds it in, and those of a copy are small: it has 17 MB less
  // resident
  rmSync(out, {force: true})
  copyFileSync(whole, out)
}

/**
 * Runs a tool to its end. What it says is shown only when it fails, as part of the error: both tools warn about
 * nothing.
 */
function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']})
}
