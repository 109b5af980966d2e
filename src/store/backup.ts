import {createHash} from 'node:crypto'
import {createReadStream, mkdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {pipeline} from 'node:stream/promises'
import Sqlite from 'better-sqlite3'
import {CONTROL_FILE, TRAFFIC_FILE} from './dialect/sqlite.ts'

/**
 * The content of a backup: each file with the SHA-256 of the copy. The sealing key is not in it, nor is the journal.
 */
export interface BackupManifest {
  readonly version: string
  readonly made_at: string
  readonly files: readonly {readonly name: string; readonly sha256: string}[]
}

/**
 * Copies the databases of `data_folder` into a new folder below `backups`, beside processes that use them (SQLite's own
 * backup), and returns its path. Hashes are taken of the copies: no code of ours may open a live file (core rule 3).
 */
export async function backUp(options: {
  data_folder: string
  backups: string
  now: Date
  version: string
  binding?: object | undefined
}): Promise<string> {
  const made_at = options.now.toISOString()
  const folder = join(options.backups, made_at.replace(/[:.]/g, '-'))
  mkdirSync(folder, {recursive: true, mode: 0o700})
  const files: {name: string; sha256: string}[] = []
  for (const name of [CONTROL_FILE, TRAFFIC_FILE]) {
    const source = new Sqlite(join(options.data_folder, name), {
      readonly: true,
      ...(options.binding ? {nativeBinding: options.binding as unknown as string} : {}),
    })
    try {
      await source.backup(join(folder, name))
    } finally {
      source.close()
    }
    files.push({name, sha256: await sha256(join(folder, name))})
  }
  const manifest: BackupManifest = {version: options.version, made_at, files}
  writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`, {mode: 0o600})
  return folder
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
