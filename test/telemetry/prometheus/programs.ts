import {type ChildProcess, spawn, spawnSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {createServer} from 'node:net'
import {vi} from 'vitest'

/** Debian's programs. Tests with them are left out where they are missing, unless TEST_PROMETHEUS=required. */
const PROMTOOL = '/usr/bin/promtool'
const PROMETHEUS = '/usr/bin/prometheus'
const PUSHGATEWAY = '/usr/bin/prometheus-pushgateway'
export const NO_PROMETHEUS =
  ![PROMTOOL, PROMETHEUS, PUSHGATEWAY].every(path => existsSync(path)) && process.env.TEST_PROMETHEUS !== 'required'

/** Complaints of `promtool check metrics` about a page. */
export function promtoolSays(page: string): readonly string[] {
  const {stdout, stderr, error} = spawnSync(PROMTOOL, ['check', 'metrics'], {input: page, encoding: 'utf8'})
  if (error) throw error
  return `${stdout}${stderr}`.split('\n').filter(line => line.trim() !== '')
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as {port: number}
  await new Promise(resolve => server.close(resolve))
  return port
}

export interface RunningProgram {
  readonly url: string
  close(): Promise<void>
}

async function running(start: (port: number) => ChildProcess, ready: string): Promise<RunningProgram> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = start(port)
  const ended = new Promise(resolve => child.once('exit', resolve))
  await vi.waitFor(async () => (await fetch(`${url}${ready}`)).ok || Promise.reject(new Error('not ready')), {
    timeout: 30_000,
    interval: 100,
  })
  return {
    url,
    async close() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export const openPushgateway = (): Promise<RunningProgram> =>
  running(port => spawn(PUSHGATEWAY, [`--web.listen-address=127.0.0.1:${port}`], {stdio: 'ignore'}), '/-/ready')

/** Scrapes a page every second. `config` is the path of a file, `folder` of a directory for its data. */
export const openPrometheus = (config: string, folder: string): Promise<RunningProgram> =>
  running(
    port =>
      spawn(
        PROMETHEUS,
        [`--config.file=${config}`, `--storage.tsdb.path=${folder}`, `--web.listen-address=127.0.0.1:${port}`],
        {stdio: 'ignore'},
      ),
    '/-/ready',
  )
