import {rmSync} from 'node:fs'
import {join} from 'node:path'
import {freePort, listens, start} from '../processes.ts'
import type {Subject, Surroundings} from './subject.ts'

/**
 * The least that a gateway on this stack can do for a call (`hot-path-server.ts`): what ours is allowed to add is
 * measured against it.
 */
export async function startHotPath({folder, upstream, processors}: Surroundings): Promise<Subject> {
  const port = await freePort()
  const file = join(folder, 'hot-path.db')
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, {force: true})
  const program = start(
    [process.execPath, join(import.meta.dirname, 'hot-path-server.ts'), String(port), upstream, file],
    {processors},
  )
  await listens(port, program)
  return {
    id: 'hot-path',
    name: 'minimal hot path',
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    headers: {authorization: 'Bearer key-7'},
    pid: program.pid,
    stop: () => program.stop(),
  }
}
