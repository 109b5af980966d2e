import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {createRequire} from 'node:module'
import {createServer} from 'node:net'

export interface ReferenceFixture {
  readonly url: string
  close(): Promise<void>
}

const MOST_TRIES = 200

/** The reference server of the protocol, "everything", in a process of its own. */
export async function openReference(transport: 'streamableHttp' | 'sse'): Promise<ReferenceFixture> {
  const port = await freePort()
  const main = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
  const child = spawn(process.execPath, [main, transport], {
    env: {PATH: process.env.PATH, PORT: String(port)},
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await started(child)
  return {
    url: `http://127.0.0.1:${port}${transport === 'sse' ? '/sse' : '/mcp'}`,
    async close() {
      if (child.exitCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** Resolves when it says that it listens. */
async function started(child: ChildProcess): Promise<void> {
  let printed = ''
  child.stderr!.setEncoding('utf8')
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const [words] = (await Promise.race([once(child.stderr!, 'data'), once(child, 'exit').then(() => [null])])) as [
      string | null,
    ]
    if (words === null) throw new Error(`The reference server ended: ${printed}`)
    printed += words
    if (/listening on port|running on port/.test(printed)) return void child.stderr!.resume()
  }
  throw new Error(`The reference server does not start: ${printed}`)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const {port} = server.address() as {port: number}
  await new Promise(done => server.close(done))
  return port
}
