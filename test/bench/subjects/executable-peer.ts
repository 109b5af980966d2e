import {chmodSync, existsSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {freePort, listens, run, start} from '../processes.ts'
import {MissingFault, type Subject, type Surroundings} from './subject.ts'

/** The executable of another gateway, and the configuration that it is started with. */
export interface PeerFiles {
  /** As it is, or packed with xz. */
  readonly binary: string
  /** Names its own port as `port: 3000`, its provider as `127.0.0.1:9000`, and lets the key `sk-bench` in. */
  readonly config: string
}

const OWN_PORT = /\bport: 3000\b/
const PROVIDER = /127\.0\.0\.1:9000/g

/** Starts it as `BINARY -f CONFIG`, on a free port and before our provider: both are put into a copy of its file. */
export async function startExecutablePeer(
  {binary, config}: PeerFiles,
  {folder, upstream, processors}: Surroundings,
): Promise<Subject> {
  for (const file of [binary, config]) if (!existsSync(file)) throw new MissingFault(`${file} is not there`)
  const file = await unpacked(binary, folder)
  const port = await freePort()
  const written = readFileSync(config, 'utf8')
  if (!OWN_PORT.test(written)) throw new MissingFault(`${config} names no port: 3000`)
  const own = join(folder, 'beside-peer.yaml')
  writeFileSync(own, written.replace(OWN_PORT, `port: ${port}`).replace(PROVIDER, new URL(upstream).host))
  const program = start([file, '-f', own], {folder, processors})
  await listens(port, program)
  return {
    id: 'beside-peer',
    name: 'peer',
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    headers: {authorization: 'Bearer sk-bench'},
    pid: program.pid,
    stop: () => program.stop(2000),
  }
}

async function unpacked(binary: string, folder: string): Promise<string> {
  if (!binary.endsWith('.xz')) return binary
  const file = join(folder, 'beside-peer')
  await run(['sh', '-c', 'xz -dc "$1" > "$2"', 'sh', binary, file])
  chmodSync(file, 0o755)
  return file
}
