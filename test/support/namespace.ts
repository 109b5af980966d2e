import {type ChildProcess, type SpawnOptions, spawn} from 'node:child_process'
import {once} from 'node:events'
import {text} from 'node:stream/consumers'

export type Ended = {readonly code: number | null; readonly stdout: string; readonly stderr: string}
export type Reply = {readonly status: number; readonly body: string}

/**
 * A network of its own: nothing but a loopback, no way out, every port free. Programs in it get an empty PATH and no
 * environment.
 */
export interface Namespace {
  start(command: readonly string[], cwd: string): ChildProcess
  run(command: readonly string[], cwd: string): Promise<Ended>
  /** Sends one HTTP request from inside, again and again while nobody listens, for 60 s at most. */
  fetch(url: string, init?: RequestInit): Promise<Reply>
  close(): Promise<void>
}

/** Opens one with unshare(1); needs Linux with user namespaces and iproute2. */
export async function openNamespace(): Promise<Namespace> {
  const env = {...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin`}
  const piped: SpawnOptions = {env, stdio: ['ignore', 'pipe', 'pipe']}
  const holder = spawn('unshare', ['-rn', 'sh', '-c', 'ip link set lo up && echo up && exec sleep infinity'], piped)
  const isUp = once(holder.stdout!, 'data').then(() => true)
  if (!(await Promise.race([isUp, once(holder, 'exit').then(() => false)]))) throw new Error(await text(holder.stderr!))

  const enter = ['-t', String(holder.pid), '-U', '-n', '--preserve-credentials', 'env', '-i', 'PATH=']
  const start = (command: readonly string[], cwd: string) => spawn('nsenter', [...enter, ...command], {...piped, cwd})
  const run = (command: readonly string[], cwd: string) => ended(start(command, cwd))
  return {
    start,
    run,
    async fetch(url, init = {}) {
      const {code, stdout, stderr} = await run([process.execPath, '-e', FETCH, url, JSON.stringify(init)], '/')
      if (code !== 0) throw new Error(`${url}: ${stderr}`)
      return JSON.parse(stdout) as Reply
    },
    async close() {
      holder.kill('SIGKILL')
      await once(holder, 'exit')
    },
  }
}

/** The exit code of a program and all that it said. */
export async function ended(child: ChildProcess): Promise<Ended> {
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'exit') as Promise<[number | null]>,
    text(child.stdout!),
    text(child.stderr!),
  ])
  return {code, stdout, stderr}
}

const FETCH = `
const [url, init] = process.argv.slice(1)
const deadline = Date.now() + 60_000
const ask = () => fetch(url, JSON.parse(init)).catch(error => {
  if (error.cause?.code !== 'ECONNREFUSED' || Date.now() > deadline) throw error
  return new Promise(done => setTimeout(done, 50)).then(ask)
})
ask().then(async reply => console.log(JSON.stringify({status: reply.status, body: await reply.text()})))`
