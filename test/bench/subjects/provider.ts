import {existsSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {freePort, listens, run, start} from '../processes.ts'
import {MissingFault, type Subject, type Surroundings} from './subject.ts'

/** The provider, which is a subject too: what is added is the difference to it. */
export interface Provider extends Subject {
  readonly origin: string
  /** How many chats it was asked for so far. */
  chats(): Promise<number>
}

/** Starts the provider; compiles it on first use. */
export async function startProvider({
  folder,
  load_processors: processors,
}: Omit<Surroundings, 'upstream'>): Promise<Provider> {
  const source = join(import.meta.dirname, '../provider/provider.c')
  const binary = join(folder, 'provider')
  if (!existsSync(binary) || statSync(binary).mtimeMs < statSync(source).mtimeMs) {
    await run(['cc', '-O2', '-o', binary, source]).catch((fault: NodeJS.ErrnoException) => {
      throw fault.code === 'ENOENT' ? new MissingFault('no C compiler is installed (cc)') : fault
    })
  }
  const port = await freePort()
  const program = start([binary, String(port)], {processors})
  await listens(port, program)
  const origin = `http://127.0.0.1:${port}`
  return {
    id: 'direct',
    name: 'direct',
    origin,
    url: `${origin}/v1/chat/completions`,
    headers: {},
    pid: program.pid,
    async chats() {
      return ((await (await fetch(origin)).json()) as {chats: number}).chats
    },
    stop: () => program.kill(),
  }
}
