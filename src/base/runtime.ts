import {randomUUID} from 'node:crypto'
import {closeSync, constants, openSync, readFileSync, unlinkSync, writeFileSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {homedir, constants as system, tmpdir} from 'node:os'
import {join} from 'node:path'
import sea from 'node:sea'
import {setFlagsFromString} from 'node:v8'
import {getEnvironmentData, setEnvironmentData, Worker} from 'node:worker_threads'

/** Written in by the build; absent when the sources run directly. */
declare const __GATEWAY_VERSION__: string | undefined

/** True in the single executable, false when Node runs the sources. */
export const isExecutable = sea.isSea()

/** The version of this gateway, as package.json says it. */
export const version: string = typeof __GATEWAY_VERSION__ === 'string' ? __GATEWAY_VERSION__ : packageVersion()

/**
 * Every worker thread there is: name → source file. The build makes one bundle of each, as a bundle has no folder to
 * look in.
 */
export const WORKERS = {
  flusher: 'src/workers/flusher-thread.ts',
  reader: 'src/workers/reader-thread.ts',
  uploader: 'src/app/uploader-thread.ts',
  telemetry: 'src/app/telemetry-thread.ts',
} as const

export type WorkerName = keyof typeof WORKERS

/** Every file that is served as it is: name → where it lies. The build puts them into the executable. */
export const ASSETS = {
  'explorer.html': 'src/admin/explorer/page.html',
  'explorer.css': 'src/admin/explorer/page.css',
  'explorer.js': 'src/admin/explorer/page.js',
  'sign-in.html': 'src/sign-in/pages/sign-in.html',
  'device.html': 'src/sign-in/pages/device.html',
  'cli.html': 'src/sign-in/pages/cli.html',
  'account.html': 'src/sign-in/pages/account.html',
  'invite.html': 'src/sign-in/pages/invite.html',
  'sign-in.css': 'src/sign-in/pages/sign-in.css',
  'common.js': 'src/sign-in/pages/common.js',
  'sign-in.js': 'src/sign-in/pages/sign-in.js',
  'device.js': 'src/sign-in/pages/device.js',
  'cli.js': 'src/sign-in/pages/cli.js',
  'account.js': 'src/sign-in/pages/account.js',
  'invite.js': 'src/sign-in/pages/invite.js',
  'swagger-ui.css': 'node_modules/swagger-ui-dist/swagger-ui.css',
  'swagger-ui.js': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui.LICENSE.txt': 'node_modules/swagger-ui-dist/LICENSE',
  'swagger-ui.NOTICE.txt': 'node_modules/swagger-ui-dist/NOTICE',
  'swagger-ui-bundle.js.LICENSE.txt': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt',
} as const

export type AssetName = keyof typeof ASSETS

export async function readAsset(name: AssetName): Promise<Buffer> {
  if (isExecutable) return Buffer.from(sea.getAsset(name))
  return readFile(new URL(`../../${ASSETS[name]}`, import.meta.url))
}

/** Tables that are read when they are needed first: name → where it lies. The build puts them into the executable. */
export const TABLES = {
  'o200k_base.br': 'src/providers/tokens/o200k_base.br',
  'cl100k_base.br': 'src/providers/tokens/cl100k_base.br',
} as const

export async function readTable(name: keyof typeof TABLES): Promise<Buffer> {
  if (isExecutable) return Buffer.from(sea.getAsset(name))
  return readFile(new URL(`../../${TABLES[name]}`, import.meta.url))
}

/**
 * Room for short-lived objects of a thread: a batch of the flusher's should be dead before a collection looks at it.
 */
const YOUNG_MB = 24

/** Starts the named worker thread with `data` as its workerData. It takes the SQLite library that this thread has. */
export function startWorker(name: WorkerName, data?: unknown): Worker {
  const options = {name, workerData: data, resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB}}
  if (!isExecutable) return new Worker(new URL(`../../${WORKERS[name]}`, import.meta.url), options)
  setFlagsFromString('--max-semi-space-size=0') // the executable's own goes before what a thread gets, as V8 reads it at its start
  sqliteBinding()
  return new Worker(sea.getAsset(`${name}.cjs`, 'utf8'), {...options, eval: true})
}

/** No folder here lets a library be loaded from it; the sentence names the setting. */
export class LibraryFault extends Error {}

/** The name, in the executable, of the asset that holds better-sqlite3's native library. */
export const SQLITE_ASSET = 'better_sqlite3.node'

/**
 * The native library of better-sqlite3 for its option `nativeBinding`; undefined when Node runs the sources, where
 * better-sqlite3 finds its own. Throws a LibraryFault when no folder here lets a library be loaded from it.
 *
 * All threads get one and the same library: two copies of SQLite in a process undo each other's file locks
 * (sqlite.org/howtocorrupt.html, section 2.2.1).
 */
export function sqliteBinding(): object | undefined {
  if (isExecutable) library ??= loadLibrary()
  return library
}

/** This thread's, once loaded: an addon that is initialised twice in a thread forgets its first time. */
let library: object | undefined

function loadLibrary(): object {
  const known = getEnvironmentData(SQLITE_ASSET)
  if (typeof known === 'string') return load(known)
  const bytes = new Uint8Array(sea.getRawAsset(SQLITE_ASSET))
  const refused: string[] = []
  for (const folder of libraryFolders()) {
    try {
      return loadUnnamed(folder, bytes)
    } catch (error) {
      refused.push(`${folder}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new LibraryFault(
    `SQLite's library could not be loaded. Set TMPDIR to a folder that can be written and run from. Tried ${refused.join('; ')}.`,
  )
}

/**
 * Folders in which a library may be written for the moment of loading it: any of them may be read-only or mounted
 * noexec. A user without an entry and without HOME has no home, and a working directory that was removed has no path.
 */
export function libraryFolders(home: () => string = homedir, working: () => string = process.cwd): string[] {
  return [...new Set([tmpdir(), '/var/tmp', '/dev/shm', ...known(home), ...known(working)])]
}

function known(path: () => string): string[] {
  try {
    return [path()]
  } catch {
    return []
  }
}

/**
 * Loads the library from a file in `folder` that has no name any more: no one can swap it, and nothing is left behind.
 * Its descriptor stays open, so that every thread reaches the same file by the path kept for it.
 */
function loadUnnamed(folder: string, bytes: Uint8Array): object {
  const name = join(folder, `.gateway-${randomUUID()}.node`)
  const file = openSync(name, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | constants.O_NOFOLLOW, 0o700)
  const path = `/proc/self/fd/${file}`
  try {
    unlinkSync(name)
    writeFileSync(file, bytes)
    const loaded = load(path)
    setEnvironmentData(SQLITE_ASSET, path)
    return loaded
  } catch (error) {
    closeSync(file)
    throw error
  }
}

function load(path: string): object {
  const module: {exports: object} = {exports: {}}
  process.dlopen(module, path, system.dlopen.RTLD_NOW)
  return module.exports
}

function packageVersion(): string {
  const {version} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
