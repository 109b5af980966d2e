import {resolve} from 'node:path'
import {DISK, type Environment, type Sink} from '../../cli/environment.ts'
import {main} from '../../cli/index.ts'
import type {CreateApp} from '../../cli/open.ts'
import type {Request, Transport, TransportReply} from '../../cli/transport.ts'

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Surroundings {
  readonly transport?: Transport
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Files by path; without them, the disk. */
  readonly files?: Readonly<Record<string, string>>
  /** What relative paths are relative to; without it, the working directory. */
  readonly folder?: string
  /** Width of the terminal that stdout is; without it, stdout is a pipe. */
  readonly terminal?: number
  /** Bars are drawn: stderr is a terminal. */
  readonly has_bars?: boolean
  readonly createApp?: CreateApp
  readonly now_ms?: number | (() => number)
  /** Called with what raises a signal, once a command listens for them. */
  readonly onListening?: (raise: (name: string) => void) => void
  /** Called instead of waiting. */
  readonly onSleep?: () => void
  /** Called with what a command writes into a file. */
  readonly onWritten?: (path: string, text: string) => void
}

export const NOW_MS = Date.parse('2026-03-04T05:06:07.000Z')

/** Runs a command line in this process and gives all it said. */
export async function run(argv: readonly string[], around: Surroundings = {}): Promise<Said> {
  const {world, said} = worldOf(around)
  const code = await main(argv, world)
  return {code, ...said()}
}

/** A world that keeps what is written, and what has been said so far. */
export function worldOf(around: Surroundings): {world: Environment; said(): Omit<Said, 'code'>; exits: number[]} {
  const {
    transport,
    env = {},
    stdin,
    files,
    folder = '',
    terminal,
    has_bars = false,
    createApp,
    now_ms = NOW_MS,
    onListening,
    onSleep,
    onWritten,
  } = around
  const written = {stdout: '', stderr: ''}
  const exits: number[] = []
  const sink = (name: keyof typeof written): Sink => ({
    write(text) {
      written[name] += text
    },
    isTTY: name === 'stdout' ? terminal !== undefined : has_bars,
    columns: name === 'stdout' ? terminal : undefined,
    closed: false,
  })
  const handlers = new Set<(name: string) => void>()
  const hangups = new Set<(name: string) => void>()
  const world: Environment = {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    stdinIsTTY: stdin === undefined,
    readStdin: async () => stdin ?? '',
    listFolder: path => DISK.listFolder(resolve(folder, path)),
    writeNewFile: (path, ...what) => DISK.writeNewFile(resolve(folder, path), ...what),
    replaceFile: (path, text) => DISK.replaceFile(resolve(folder, path), text),
    removeFile: path => DISK.removeFile(resolve(folder, path)),
    readFile(path) {
      const text = files ? files[path] : DISK.readFile(resolve(folder, path))
      if (text === undefined) throw Object.assign(new Error(path), {code: 'ENOENT'})
      return text
    },
    writeFile: (path, text) => void onWritten?.(path, text),
    sources: async argv => ({argv, env}),
    now: typeof now_ms === 'number' ? () => now_ms : now_ms,
    sleep: async () => onSleep?.(),
    onHangup(received) {
      hangups.add(received)
      return () => void hangups.delete(received)
    },
    hasTerminal: () => terminal !== undefined,
    onSignal(received) {
      handlers.add(received)
      onListening?.(name => {
        for (const each of name === 'SIGHUP' ? hangups : handlers) each(name)
      })
      return () => void handlers.delete(received)
    },
    exit: code => void exits.push(code),
    ...(transport && {transport}),
    ...(createApp && {createApp}),
  }
  return {world, said: () => ({...written}), exits}
}

/**
 * Answers by method and path (without `/v1`), in turn where there are several; anything else is a 404. Keeps what was
 * asked.
 */
export function fakeGateway(answers: Readonly<Record<string, unknown>>, kind: Transport['kind'] = 'here') {
  const requests: Request[] = []
  const left = new Map(
    Object.entries(answers).map(([route, answer]) => [route, Array.isArray(answer) ? [...answer] : [answer]]),
  )
  const transport: Transport = {
    kind,
    async send(request): Promise<TransportReply> {
      requests.push(request)
      const route = `${request.method} ${request.path.replace(/^\/v1/, '')}`
      const answer = left.get(route) ?? left.get(route.split('?', 1)[0]!)
      if (!answer) return refusal(404, 'AB08', 'No row is known by this id.')
      const [next] = answer.length > 1 ? answer.splice(0, 1) : answer
      return isReply(next) ? next : {status: 200, body: next}
    },
    close: async () => undefined,
  }
  return {transport, requests}
}

/** A refusal as the administration says it. */
export function refusal(status: number, errorCode: string, message: string): TransportReply {
  return {status, body: {success: false, data: {message, errorCode}}}
}

function isReply(value: unknown): value is TransportReply {
  return typeof value === 'object' && value !== null && 'status' in value && 'body' in value
}

export const WORKSPACE = {
  id: '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11',
  slug: 'ws-shared-1a2b3c',
  name: 'Shared Workspace',
  is_default: true,
  status: 'active',
  created_at: '2026-03-04T05:06:07.000Z',
}
export const RESEARCH = {
  ...WORKSPACE,
  id: '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d12',
  slug: 'ws-research-4d5e6f',
  name: 'research',
  is_default: false,
}
export const ONE_WORKSPACE = {'GET /admin/workspaces': {object: 'list', total: 1, data: [WORKSPACE]}}
export const TWO_WORKSPACES = {'GET /admin/workspaces': {object: 'list', total: 2, data: [WORKSPACE, RESEARCH]}}
