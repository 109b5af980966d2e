import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import {dirname} from 'node:path'
import type {SettingSources} from '../src/settings/index.ts'
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
export interface Environment {
  readonly stdout: Sink
  readonly stderr: Sink
  readonly stdinIsTTY: boolean
  /** All of stdin, as text. */
  readStdin(): Promise<string>
  /** Asks on the terminal and reads a line; absent without a terminal. */
  readonly ask?: (question: string) => Promise<string>
  /** The same, of which nothing is shown. */
  readonly askHidden?: (question: string) => Promise<string>
  /** Opens a page in the browser of this desktop, where there is one. */
  readonly openPage?: (page: string, env: Readonly<Record<string, string | undefined>>) => void
  /** The text of a file; throws as node:fs does. */
  readFile(path: string): string
  /** The names in a folder; undefined where the path is no folder. Throws as node:fs does where there is nothing. */
  listFolder(path: string): readonly string[] | undefined
  /**
   * Writes a new file, readable by its owner alone where `secret`; throws as node:fs does, also where there is one
   * already.
   */
  writeNewFile(path: string, text: string, secret?: boolean): void
  /** Writes a file, for its owner alone; throws as node:fs does. */
  writeFile(path: string, text: string): void
  /**
   * Writes a file in place of the one that may be there, whole or not at all, with its folders; throws as node:fs does.
   */
  replaceFile(path: string, text: string): void
  /** Takes a file away; throws as node:fs does. */
  removeFile(path: string): void
  /** The sources of settings: the given flags, the environment, the disk. */
  sources(flags: Readonly<Record<string, string | undefined>>): Promise<SettingSources>
  now(): number
  /** Resolves after `ms`, or at once when `signal` is raised. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `heard` for every SIGINT and SIGTERM from now on, in place of ending the process; returns what undoes it. */
  onSignal(heard: (name: string) => void): () => void
  /** The same of SIGHUP. */
  onHangup(heard: () => void): () => void
  /** True while the process belongs to a terminal that is open, whatever its streams are. */
  hasTerminal(): boolean
  /** Ends the process at once. */
  exit(code: number): void
  /** Puts the gateway together; src/app/app.ts when absent. */
  readonly createApp?: CreateApp
  /** Reaches a gateway in place of a data directory or a URL. */
  readonly transport?: Transport
}

/** The files of this machine. */
export const DISK: Pick<
  Environment,
  'readFile' | 'listFolder' | 'writeNewFile' | 'writeFile' | 'replaceFile' | 'removeFile'
> = {
  readFile: path => readFileSync(path, 'utf8'),
  listFolder: path => (statSync(path).isDirectory() ? readdirSync(path) : undefined),
  writeNewFile: (path, text, secret = false) => writeFileSync(path, text, {flag: 'wx', mode: secret ? 0o600 : 0o644}),
  writeFile: (path, text) => writeFileSync(path, text, {mode: 0o600}),
  replaceFile(path, text) {
    mkdirSync(dirname(path), {recursive: true})
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  },
  removeFile: path => rmSync(path),
}

/**
 * The process we are. A reader that goes away (`gateway logs list | head`) is no fault: what is written after it is
 * dropped.
 */
export function processEnvironment(): Environment {
  return {
    stdout: sinkOf(process.stdout),
    stderr: sinkOf(process.stderr),
    stdinIsTTY: process.stdin.isTTY === true,
    readStdin: async () => {
      const {text} = await import('node:stream/consumers')
      return text(process.stdin)
    },
    ...(process.stdin.isTTY === true && process.stderr.isTTY === true && {ask, askHidden}),
    openPage: (page, env) => void import('./contexts/terminal.ts').then(({openPage}) => openPage(page, env)),
    ...DISK,
    sources: async flags => (await import('../src/settings/index.ts')).ofThisProcess(flags),
    now: Date.now,
    sleep,
    onSignal(heard) {
      process.on('SIGINT', heard)
      process.on('SIGTERM', heard)
      return () => void process.off('SIGINT', heard).off('SIGTERM', heard)
    },
    onHangup(heard) {
      process.on('SIGHUP', heard)
      return () => void process.off('SIGHUP', heard)
    },
    hasTerminal,
    exit: code => process.exit(code),
  }
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

async function ask(question: string): Promise<string> {
  const {createInterface} = await import('node:readline/promises')
  const lines = createInterface({input: process.stdin, output: process.stderr})
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

async function askHidden(question: string): Promise<string> {
  const terminal = await import('./contexts/terminal.ts')
  return terminal.askHidden(question)
}

function sinkOf(stream: NodeJS.WriteStream): Sink {
  let closed = false
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error // a pipe, a terminal
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
