import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {createInterface} from 'node:readline'
import {openStore, type StoreOptions} from '../../../src/store/dialect/index.ts'
import {ADMIN_KEY, type TestGateway, WORKSPACE_KEY} from '../gateway.ts'
import {type StoreKind, testStore} from '../stores.ts'
import {McpGateway} from './served.ts'

/** Gateways in processes of their own, over one database (and one Redis, where `env` names it). */
export class McpProcesses {
  readonly #shared: Record<string, string>
  readonly #started = new Set<McpProcess>()
  readonly #options: StoreOptions
  readonly #remove: () => Promise<void>

  constructor(shared: Record<string, string>, options: StoreOptions, remove: () => Promise<void>) {
    this.#shared = shared
    this.#options = options
    this.#remove = remove
  }

  static async open(kind: StoreKind, env: Record<string, string> = {}): Promise<McpProcesses> {
    const {options, close} = await testStore(kind)
    const connection = options.kind === 'postgres' && 'connectionString' in options.connection && options.connection
    const shared: Record<string, string> = {
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
      GATEWAY_SEALING_KEY: Buffer.alloc(32, 3).toString('base64'),
      ...(connection && {DATABASE_URL: connection.connectionString!}),
      ...(options.kind === 'sqlite' && {GATEWAY_DATA_DIR: options.folder}),
      ...env,
    }
    return new McpProcesses(shared, options, close)
  }

  /** Starts one more process, and waits until it serves. */
  async start(env: Record<string, string> = {}): Promise<McpProcess> {
    const started = await McpProcess.start({...this.#shared, ...env})
    this.#started.add(started)
    return started
  }

  /** Reads the database beside the processes. */
  async read<T>(read: (db: Awaited<ReturnType<typeof openStore>>['db']) => Promise<T>): Promise<T> {
    const {options} = this
    const store = await openStore(options.kind === 'sqlite' ? {...options, role: 'operator'} : options)
    try {
      return await read(store.db)
    } finally {
      await store.close()
    }
  }

  get options(): StoreOptions {
    return this.#options
  }

  async close(): Promise<void> {
    await Promise.all([...this.#started].map(each => each.kill()))
    await this.#remove()
  }
}

/** One of them, with the clients of a gateway of tests. */
export class McpProcess extends McpGateway {
  readonly child: ChildProcess
  readonly lines: string[]
  readonly #folder: string

  private constructor(child: ChildProcess, url: string, lines: string[], folder: string) {
    super({url, admin: adminAt(url), folder} as unknown as TestGateway)
    this.child = child
    this.lines = lines
    this.#folder = folder
  }

  static async start(env: Record<string, string>): Promise<McpProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-mcp-process-'))
    const {GATEWAY_DATA_DIR = folder, ...rest} = env
    const child = spawn(process.execPath, ['bin/gateway.ts', 'serve', '--port', '0', '--data-dir', GATEWAY_DATA_DIR], {
      cwd: resolve(import.meta.dirname, '../../..'),
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        ...{GATEWAY_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY, GATEWAY_BOOTSTRAP_WORKSPACE_KEY: WORKSPACE_KEY},
        ...rest,
      },
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
    return new McpProcess(child, url, lines, folder)
  }

  /** SIGKILL: nothing in it runs any more. */
  async kill(): Promise<void> {
    await this.#ended('SIGKILL')
  }

  /** SIGTERM; how long it took until the process had ended, and its exit code. */
  async stop(): Promise<{readonly took_ms: number; readonly code: number | null}> {
    const started = performance.now()
    await this.#ended('SIGTERM')
    return {took_ms: performance.now() - started, code: this.child.exitCode}
  }

  override async close(): Promise<void> {
    await this.kill()
  }

  async #ended(signal: 'SIGKILL' | 'SIGTERM') {
    const {child} = this
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
    }
    rmSync(this.#folder, {recursive: true, force: true})
  }
}

function adminAt(url: string) {
  return async (method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${url}/v1${path}`, {
      method,
      headers: {'x-gateway-api-key': ADMIN_KEY, ...(body !== undefined && {'content-type': 'application/json'})},
      ...(body !== undefined && {body: JSON.stringify(body)}),
    })
    const text = await reply.text()
    if (reply.status !== 200) throw new Error(`${method} ${path} answers ${reply.status}: ${text}`)
    return JSON.parse(text)
  }
}
