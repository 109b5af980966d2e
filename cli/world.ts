import {readFileSync} from 'node:fs'
import type {Sources} from '../src/settings/index.ts'
import type {CreateApp} from './open.ts'
import type {Transport} from './transport.ts'

/** A stream that commands write to. */
export interface Sink {
  write(text: string): void
  readonly isTTY: boolean
  /** Width of the terminal; undefined when it is none. */
  readonly columns: number | undefined
  /** True once its reader has gone. */
  readonly closed: boolean
}

/** Everything a command touches outside itself; the tests hand in their own. */
export interface World {
  readonly stdout: Sink
  readonly stderr: Sink
  readonly stdinIsTTY: boolean
  /** All of stdin, as text. */
  readStdin(): Promise<string>
  /** The text of a file; throws as node:fs does. */
  readFile(path: string): string
  /** What settings are read from: the given flags, the environment, the disk. */
  sources(flags: Readonly<Record<string, string | undefined>>): Promise<Sources>
  now(): number
  /** Resolves after `ms`, or at once when `signal` is raised. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `heard` for every SIGINT and SIGTERM from now on, in place of ending the process; returns what undoes it. */
  onSignal(heard: (name: string) => void): () => void
  /** Ends the process at once. */
  exit(code: number): void
  /** Puts the gateway together; src/app.ts when absent. */
  readonly createApp?: CreateApp
  /** Reaches a gateway in place of a data directory or a URL. */
  readonly transport?: Transport
}

/** The process we are. A reader that goes away (`gateway logs list | head`) is no fault: what is written after it is dropped. */
export function thisProcess(): World {
  return {
    stdout: sinkOf(process.stdout),
    stderr: sinkOf(process.stderr),
    stdinIsTTY: process.stdin.isTTY === true,
    readStdin: async () => {
      const {text} = await import('node:stream/consumers')
      return text(process.stdin)
    },
    readFile: path => readFileSync(path, 'utf8'),
    sources: async flags => (await import('../src/settings/index.ts')).ofThisProcess(flags),
    now: Date.now,
    sleep,
    onSignal(heard) {
      process.on('SIGINT', heard)
      process.on('SIGTERM', heard)
      return () => void process.off('SIGINT', heard).off('SIGTERM', heard)
    },
    exit: code => process.exit(code),
  }
}

function sinkOf(stream: NodeJS.WriteStream): Sink {
  let closed = false
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    closed = true
  })
  return {
    write: text => void (closed || stream.write(text)),
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.isTTY ? stream.columns : undefined
    },
    get closed() {
      return closed
    },
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(done => {
    if (signal?.aborted) return done()
    const timer = setTimeout(done, ms)
    const stop = () => {
      clearTimeout(timer)
      done()
    }
    signal?.addEventListener('abort', stop, {once: true})
  })
}
