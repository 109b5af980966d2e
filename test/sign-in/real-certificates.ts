import {mkdirSync, mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {run} from '../cli/support.ts'

/** PEM files: of an authority, and of a server that it vouches for. */
export interface CertificateFiles {
  readonly ca_file: string
  readonly server_file: string
  readonly key_file: string
}

/** An authority and a certificate of `gateway certs`, in a folder of their own. */
export function makeCertificates(...hosts: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-real-certs-'))
  // what tells the command that this is a data directory
  mkdirSync(join(folder, 'keys'))
  const certs = async (...words: string[]) => {
    const {code, stderr} = await run(['certs', ...words, '--data-dir', folder, '--json'], {now_ms: Date.now()})
    if (code !== 0) throw new Error(`gateway certs ${words.join(' ')} ends with ${code}: ${stderr}`)
  }
  return {
    made: certs('init')
      .then(() => certs('create', ...hosts))
      .then(
        (): CertificateFiles => ({
          ca_file: join(folder, 'certs/ca.crt'),
          server_file: join(folder, 'certs/current/server.crt'),
          key_file: join(folder, 'certs/current/server.key'),
        }),
      ),
    remove: () => rmSync(folder, {recursive: true, force: true}),
  }
}
