import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {createInterface} from 'node:readline'
import {onTestFinished} from 'vitest'
import {WORKSPACE_KEY} from './gateway.ts'

/** A gateway in a process of its own, as `gateway serve --demo` starts it. */
export interface Served {
  readonly child: ChildProcess
  readonly url: string
  /** Sends SIGTERM; how long it took until the process had ended, and what it ended with. */
  stop(): Promise<{readonly took_ms: number; readonly code: number | null; readonly signal: string | null}>
}

/** `descriptors`: how many files and sockets it may have open; `folder`: a data directory that is left as it is. */
export async function serve(
  env: Record<string, string> = {},
  {descriptors, folder: given}: {readonly descriptors?: number; readonly folder?: string} = {},
): Promise<Served> {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'gateway-served-'))
  const limited = descriptors === undefined ? '' : `ulimit -n ${descriptors}; `
  const child = spawn(
    '/bin/sh',
    ['-c', `${limited}exec "$0" bin/gateway.ts serve --demo --port 0 --data-dir "$1"`, process.execPath, folder],
    {
      cwd: resolve(import.meta.dirname, '../..'),
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {...process.env, GATEWAY_BOOTSTRAP_WORKSPACE_KEY: WORKSPACE_KEY, ...env},
    },
  )
  onTestFinished(() => {
    child.kill('SIGKILL')
    if (given === undefined) rmSync(folder, {recursive: true, force: true})
  })
  const lines: string[] = []
  const url = await new Promise<string>((done, failed) => {
    createInterface({input: child.stderr!}).on('line', line => {
      lines.push(line)
      if (!line.startsWith('{')) return
      const {msg, url} = JSON.parse(line) as {msg: string; url: string}
      if (msg === 'listening') done(url)
    })
    child.once('exit', () => failed(new Error(`the gateway ended: ${lines.join('\n')}`)))
  })
  return {
    child,
    url,
    async stop() {
      const started = performance.now()
      child.kill('SIGTERM')
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
      return {took_ms: performance.now() - started, code, signal}
    },
  }
}
