import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join, resolve} from 'node:path'
import {main} from '../../cli/index.ts'
import {readLine} from '../cli/examples/shell.ts'
import {worldOf} from '../cli/support.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** An ordinary terminal. */
const COLUMNS = 80
const POLL_MS = 25
const MAX_WAIT_MS = 15_000

/** All that is visible when a command has ended, or shows what was waited for. */
export interface Screen {
  readonly code: number
  readonly text: string
}

export interface Terminal {
  /** Where the installation of a task goes. */
  readonly home: string
  /** Types a line. One that goes on until Ctrl-C is ended once `isShown`. */
  type(line: string, isShown: (text: string) => boolean): Promise<Screen>
  writeFile(path: string, text: string): void
  close(): Promise<void>
}

/** A terminal in a folder of its own, where a gateway that is typed there keeps serving. */
export function openTerminal(): Terminal {
  const home = mkdtempSync(join(tmpdir(), 'gateway-tasks-'))
  const work = join(home, 'work')
  for (const folder of ['work', 'run', 'bin']) mkdirSync(join(home, folder))
  writeFileSync(join(home, 'bin/gateway'), standIn())
  chmodSync(join(home, 'bin/gateway'), 0o755)
  process.chdir(work)
  let served: {readonly stop: () => Promise<unknown>} | undefined
  const children: ChildProcess[] = []
  const env = {HOME: home, XDG_RUNTIME_DIR: join(home, 'run'), XDG_CONFIG_HOME: join(home, 'config'), NO_COLOR: '1'}

  async function gateway(argv: readonly string[], stdin: string | undefined, more: object, isShown: Shown) {
    const raised: ((name: string) => void)[] = []
    const {world, said} = worldOf({
      env: {...env, PORT: '0', ...more},
      ...(stdin !== undefined && {stdin}),
      terminal: COLUMNS,
      has_bars: true,
      now_ms: () => Date.now(),
      onListening: raise => void raised.push(raise),
    })
    const text = () => `${said().stdout}${said().stderr}`
    const until = performance.now() + MAX_WAIT_MS
    const ended = main(argv, {
      ...world,
      writeFile: (path, contents) => writeFileSync(resolve(work, path), contents),
      async sleep() {
        if (isShown(text()) || performance.now() > until) for (const raise of raised) raise('SIGINT')
        else await pause()
      },
    })
    if (argv[0] !== 'serve') return {code: await ended, text: text()}
    served = {
      stop: async () => {
        for (const raise of raised) raise('SIGTERM')
        return ended
      },
    }
    while (!isShown(text()) && performance.now() < until) await pause()
    return {code: 0, text: text()}
  }

  /** A program that is no command of this process; one that serves is ended once `isShown`. */
  async function program(line: string, isShown: Shown) {
    const child = spawn('sh', ['-c', `exec ${line}`], {
      cwd: work,
      env: {
        ...env,
        PATH: `${join(home, 'bin')}:${process.env.PATH}`,
        PORT: '0',
        // the script tells other users of the machine where it installed: here, in a folder
        ...(line.includes('install.sh') && {GATEWAY_CLIENT_FILE: join(home, 'client.yaml')}),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(child)
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', part => (text += part))
    const closed = once(child, 'close')
    const serves = / serve( |$)/.test(line)
    const until = performance.now() + MAX_WAIT_MS
    while (serves && child.exitCode === null && !isShown(text) && performance.now() < until) await pause()
    if (serves) child.kill('SIGTERM')
    const [code] = (await closed) as [number | null]
    return {code: code ?? 1, text}
  }

  return {
    home,
    writeFile(path, text) {
      mkdirSync(dirname(resolve(work, path)), {recursive: true})
      writeFileSync(resolve(work, path), text)
    },
    async type(typed, isShown) {
      const line = typed.replaceAll(/\\\n\s*/g, '')
      if (line.startsWith('curl ')) return curl(line)
      const read = readLine(line)
      if (!read) return program(line, isShown)
      const {argv, input, env: more} = read
      return gateway(argv, input && 'text' in input ? input.text : undefined, more, isShown)
    },
    async close() {
      await served?.stop()
      for (const child of children) child.kill('SIGKILL')
      process.chdir(ROOT)
      rmSync(home, {recursive: true, force: true})
    },
  }
}

type Shown = (text: string) => boolean

/** What `curl` prints: with -i the status and the headers, too. Only what the tasks type is known. */
async function curl(line: string): Promise<Screen> {
  const words = [...line.matchAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(
    ([, single, double, word]) => single ?? double?.replaceAll(/\\(.)/g, '$1') ?? word!,
  )
  const headers: Record<string, string> = {}
  let url = ''
  let body: string | undefined
  let is_whole = false
  for (let at = 1; at < words.length; at++) {
    if (words[at] === '-H') {
      const [name, ...value] = words[++at]!.split(': ')
      headers[name!] = value.join(': ')
    } else if (words[at] === '-d') body = words[++at]
    else if (words[at] === '-i') is_whole = true
    else url = words[at]!
  }
  const reply = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body !== undefined && {body}),
  })
  const text = await reply.text()
  const head = [`HTTP/1.1 ${reply.status}`, ...[...reply.headers].map(([name, value]) => `${name}: ${value}`), '', '']
  return {code: 0, text: is_whole ? head.join('\n') + text : text}
}

/** Stands for the executable, which runs the same program. */
export function standIn(): string {
  return `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'bin/gateway.ts')}" "$@"\n`
}

const pause = () => new Promise(done => setTimeout(done, POLL_MS))
