import {createHash} from 'node:crypto'
import {existsSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'

const RELEASED = ['gateway', 'gateway-linux-x64', 'gateway-linux-arm64', 'sbom.cdx.json']

/** Writes `folder`/SHA256SUMS over what is released from there, in the form that `sha256sum --check` reads. */
export function writeChecksums(folder: string): void {
  const lines = RELEASED.filter(name => existsSync(join(folder, name))).map(
    name => `${sha256(join(folder, name))}  ${name}\n`,
  )
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''))
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
