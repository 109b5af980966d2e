import {existsSync, statSync} from 'node:fs'
import {run} from './processes.ts'
import {median} from './rounds.ts'
import {EXECUTABLE, gatewayCommand, serve} from './subjects/gateway.ts'
import {MissingFault} from './subjects/subject.ts'

/** How quick a gateway is there. Medians; null where there is nothing to measure. */
export interface Starts {
  readonly command: string
  readonly version_ms: number
  /** `serve` on a data directory that exists, to the first `200` of /readyz. */
  readonly ready_ms: number
  readonly executable_mb: number | null
}

const VERSIONS = 15
const SERVES = 5

/** Times `gateway version` and `gateway serve` on an existing data directory. */
export async function starts(is_binary: boolean, data_dir: string): Promise<Starts> {
  const command = gatewayCommand(is_binary)
  if (!existsSync(data_dir)) throw new MissingFault('there is no data directory yet')
  const version_ms: number[] = []
  for (let round = 0; round < VERSIONS; round++) {
    const began = performance.now()
    await run([...command, 'version'])
    version_ms.push(performance.now() - began)
  }
  const ready_ms: number[] = []
  for (let round = 0; round < SERVES; round++) {
    const served = await serve(command, data_dir)
    ready_ms.push(served.ready_ms)
    await served.program.stop()
  }
  return {
    command: is_binary ? 'dist/gateway' : 'bin/gateway.ts',
    version_ms: median(version_ms)!,
    ready_ms: median(ready_ms)!,
    executable_mb: existsSync(EXECUTABLE) ? statSync(EXECUTABLE).size / 1e6 : null,
  }
}
