import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {pathToFileURL} from 'node:url'
import {build} from 'esbuild'
import type {TestProject} from 'vitest/node'
import {WORKERS} from '../../src/base/runtime.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The bundle of each thread, by the address of its source. */
    threads: Readonly<Record<string, string>>
  }
}

const root = resolve(import.meta.dirname, '../..')

/**
 * Each gateway that a test starts has threads, and one that runs from its sources strips their types for half a second,
 * every time. So the threads are bundled once a run, much as they are for the executable; `threads.ts` starts the
 * bundles.
 */
export default async function bundleThreads(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-threads-'))
  const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {version: string}
  // All threads share one library of SQLite, which the package finds beside itself.
  const sqlite = join(root, 'node_modules/better-sqlite3')
  await build({
    absWorkingDir: root,
    entryPoints: {...WORKERS},
    outdir: folder,
    outExtension: {'.js': '.cjs'},
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    alias: {'better-sqlite3': sqlite},
    external: [sqlite, 'pg-native', 'pino-pretty', 'supports-color'],
    define: {__GATEWAY_VERSION__: JSON.stringify(version), 'import.meta.url': '"file:///gateway"'},
    logLevel: 'warning',
  })
  const bundles = Object.entries(WORKERS).map(([name, source]) => [
    pathToFileURL(join(root, source)).href,
    join(folder, `${name}.cjs`),
  ])
  project.provide('threads', Object.fromEntries(bundles))
  return () => rmSync(folder, {recursive: true, force: true})
}
