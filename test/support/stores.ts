import {randomBytes} from 'node:crypto'
import {cpSync, mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Store} from '../../src/store/database.ts'
import {openStore, type StoreOptions} from '../../src/store/dialect/index.ts'
import {migratedDatabase, migratedFolder} from './migrated.ts'
import {withServer} from './postgres-server.ts'

const url = process.env.TEST_DATABASE_URL

export type StoreKind = 'sqlite' | 'postgres'

/**
 * The kinds of database that a store test runs on: SQLite, and PostgreSQL where `TEST_DATABASE_URL` names a server.
 * Where services are `TEST_SERVICES=required`, SQLite had its turn before.
 */
export const KINDS: readonly StoreKind[] = url
  ? process.env.TEST_SERVICES === 'required'
    ? ['postgres']
    : ['sqlite', 'postgres']
  : ['sqlite']

export interface TestStore {
  readonly store: Store
  readonly folder: string
  /** How `store` was opened. */
  readonly options: StoreOptions
  /** Another connection to the same database, as another process would hold. */
  again(): Promise<Store>
  close(): Promise<void>
}

/** A new, empty database of `kind`; migrated unless told not to. */
export async function testStore(kind: StoreKind, {migrated = true} = {}): Promise<TestStore> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-store-'))
  const opened: Store[] = []
  const name = `gateway_test_${randomBytes(6).toString('hex')}`
  if (migrated && kind === 'sqlite') cpSync(await migratedFolder(), folder, {recursive: true})
  if (kind === 'postgres') {
    const template = migrated ? ` template ${await migratedDatabase()}` : ''
    await onServer(`create database ${name}${template}`)
  }
  const options: StoreOptions =
    kind === 'sqlite'
      ? {kind, folder, role: 'server'}
      : {kind, connection: {connectionString: Object.assign(new URL(url!), {pathname: `/${name}`}).href}, pool_size: 4}
  const again = async () => {
    const store = await openStore(options)
    opened.push(store)
    return store
  }
  const store = await again()
  return {
    store,
    folder,
    options,
    again,
    async close() {
      for (const each of opened) await each.close()
      if (kind === 'postgres') await onServer(`drop database ${name} with (force)`)
      rmSync(folder, {recursive: true, force: true})
    },
  }
}

/** Runs a statement on the server of `TEST_DATABASE_URL`, in no database of a test. */
export async function onServer(statement: string) {
  await withServer(client => client.query(statement))
}
