import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {delimiter, join} from 'node:path'
import {createInterface} from 'node:readline'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const MAX_WAIT_MS = 30_000

/** Where this machine has a Chromium; undefined where it has none. */
export const CHROMIUM = (process.env.PATH ?? '')
  .split(delimiter)
  .concat('/usr/bin')
  .flatMap(folder => NAMES.map(name => join(folder, name)))
  .find(existsSync)

/** Quiet and alone: it asks for nothing that the page does not ask for. */
const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-dev-shm-usage'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--remote-debugging-port=0'],
]

type Message = {
  readonly id?: number
  readonly method?: string
  readonly params?: object
  readonly result?: object
  readonly error?: {message: string}
}

/** A page of a headless Chromium, spoken to in the DevTools protocol. */
export interface Page {
  /** URLs that anything in the page asked for. */
  readonly asked: string[]
  /** Errors and warnings of the console, exceptions, and refusals of the content security policy. */
  readonly complaints: string[]
  open(url: string): Promise<void>
  /** The value of an expression in the page. */
  read<T>(expression: string): Promise<T>
  /** Waits until an expression is true in the page. */
  until(expression: string): Promise<void>
  type(selector: string, text: string): Promise<void>
  click(selector: string): Promise<void>
  /** A command of the protocol. */
  send<T = object>(method: string, params?: object): Promise<T>
  close(): Promise<void>
}

export async function openPage(executable: string): Promise<Page> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-chromium-'))
  const browser = spawn(executable, [...FLAGS, `--user-data-dir=${folder}`], {stdio: ['ignore', 'ignore', 'pipe']})
  const socket = new WebSocket(await addressOf(browser))
  await once(socket, 'open')
  const waiting = new Map<number, (message: Message) => void>()
  const asked: string[] = []
  const complaints: string[] = []
  let last = 0
  let sessionId: string | undefined
  socket.addEventListener('message', ({data}) => {
    const message = JSON.parse(String(data)) as Message
    if (message.id !== undefined) waiting.get(message.id)?.(message)
    else note(message, asked, complaints)
  })
  const send = <T>(method: string, params: object = {}): Promise<T> => {
    const id = ++last
    socket.send(JSON.stringify({id, method, params, ...(sessionId && {sessionId})}))
    return new Promise((resolve, reject) =>
      waiting.set(id, ({result, error}) => {
        waiting.delete(id)
        if (error) reject(new Error(`${method}: ${error.message}`))
        else resolve(result as T)
      }),
    )
  }
  const {targetId} = await send<{targetId: string}>('Target.createTarget', {url: 'about:blank'})
  const attached = await send<{sessionId: string}>('Target.attachToTarget', {targetId, flatten: true})
  sessionId = attached.sessionId
  for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await send(`${domain}.enable`)
  const read = async <T>(expression: string): Promise<T> => {
    const {result, exceptionDetails} = await send<{
      result: {value: T}
      exceptionDetails?: {exception?: {description?: string}; text: string}
    }>('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true})
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  const until = (expression: string) =>
    read<void>(`new Promise((resolve, reject) => {
      const end = Date.now() + ${MAX_WAIT_MS}
      const look = () => (${expression}) ? resolve() : Date.now() > end ? reject(new Error(${JSON.stringify(`never true: ${expression}`)})) : setTimeout(look, 20)
      look()
    })`)
  const focus = async (selector: string) => {
    const found = `document.querySelector(${JSON.stringify(selector)})`
    await until(`${found} !== null`)
    return found
  }
  return {
    asked,
    complaints,
    read,
    until,
    send,
    async open(url) {
      await send('Page.navigate', {url})
      await until(`document.readyState === 'complete' && location.href !== 'about:blank'`)
    },
    async type(selector, text) {
      await read(`${await focus(selector)}.focus()`)
      await send('Input.insertText', {text})
    },
    async click(selector) {
      await read(`${await focus(selector)}.click()`)
    },
    async close() {
      const ended = once(browser, 'exit')
      await send('Browser.close').catch(() => browser.kill('SIGKILL'))
      socket.close()
      await ended
      rmSync(folder, {recursive: true, force: true, maxRetries: 5})
    },
  }
}

async function addressOf({stderr}: ChildProcess): Promise<string> {
  for await (const line of createInterface({input: stderr!})) {
    const address = /^DevTools listening on (ws:\S+)/.exec(line)?.[1]
    if (address) return address
  }
  throw new Error('Chromium ended before it could be spoken to.')
}

function note({method, params}: Message, asked: string[], complaints: string[]) {
  const said = params as {
    readonly request: {readonly url: string}
    readonly type: string
    readonly args: readonly {readonly value?: unknown; readonly description?: string}[]
    readonly exceptionDetails: {readonly text: string; readonly exception?: {readonly description?: string}}
    readonly entry: {readonly level: string; readonly text: string}
  }
  if (method === 'Network.requestWillBeSent') asked.push(said.request.url)
  if (method === 'Runtime.exceptionThrown')
    complaints.push(said.exceptionDetails.exception?.description ?? said.exceptionDetails.text)
  if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(said.type))
    complaints.push(said.args.map(each => String(each.value ?? each.description)).join(' '))
  if (method === 'Log.entryAdded' && ['error', 'warning'].includes(said.entry.level)) complaints.push(said.entry.text)
}
