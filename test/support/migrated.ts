import {createHash, randomBytes} from 'node:crypto'
import {existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {openStore, type StoreOptions} from '../../src/store/dialect/index.ts'
import {migrate} from '../../src/store/migrate.ts'
import {withServer} from './postgres-server.ts'

/**
 * Databases with all migrations and nothing else, which tests copy: a copy takes a tenth of the time. They are made
 * once for each set of migrations, and left where the next run finds them.
 */

const MIGRATIONS = join(import.meta.dirname, '../../migrations')
const SOURCES = [join(import.meta.dirname, '../../src/store/migrate.ts')]
const PREFIX = 'gateway_migrated_'
/** A number of our own, under which the processes of a run wait for each other. */
const LOCK = 7_203_114
/** Databases of other sets, which are of other commits: runs of those may use them now. */
const MOST_KEPT = 4

let name: string | undefined
let folder: Promise<string> | undefined
let database: Promise<string> | undefined

/** The data directory of SQLite; it is copied whole, and never opened. */
export function migratedFolder(): Promise<string> {
  folder ??= makeFolder(join(tmpdir(), nameOfSet()))
  return folder
}

/** The database of PostgreSQL, as a template. */
export function migratedDatabase(): Promise<string> {
  database ??= makeDatabase(nameOfSet())
  return database
}

function nameOfSet(): string {
  if (name !== undefined) return name
  const hash = createHash('sha256')
  const files = readdirSync(MIGRATIONS, {recursive: true, withFileTypes: true}).filter(each => each.isFile())
  const paths = files.map(each => join(each.parentPath, each.name)).sort()
  for (const path of [...SOURCES, ...paths]) hash.update(readFileSync(path)).update('\0')
  name = PREFIX + hash.digest('hex').slice(0, 16)
  return name
}

async function makeFolder(path: string): Promise<string> {
  if (existsSync(path)) return path
  const made = mkdtempSync(`${path}-`)
  await migrateAll({kind: 'sqlite', folder: made, role: 'server'})
  try {
    renameSync(made, path)
  } catch (fault) {
    // another process was first
    rmSync(made, {recursive: true, force: true})
    if (!existsSync(path)) throw fault
  }
  return path
}

function makeDatabase(wanted: string): Promise<string> {
  return withServer(async client => {
    await client.query(`select pg_advisory_lock(${LOCK})`)
    const {rows} = await client.query(
      `select datname from pg_database where starts_with(datname, '${PREFIX}') order by oid desc`,
    )
    const there: readonly string[] = rows.map(({datname}) => datname)
    if (there.includes(wanted)) return wanted
    const made = `gateway_test_${randomBytes(6).toString('hex')}`
    await client.query(`create database ${made}`)
    const connectionString = Object.assign(new URL(process.env.TEST_DATABASE_URL!), {pathname: `/${made}`}).href
    await migrateAll({kind: 'postgres', connection: {connectionString}, pool_size: 2})
    await client.query(`alter database ${made} rename to ${wanted}`)
    for (const old of there.slice(MOST_KEPT))
      await client.query(`drop database if exists ${old}`).catch(() => undefined)
    return wanted
  })
}

async function migrateAll(options: StoreOptions) {
  const store = await openStore(options)
  try {
    await migrate(store, {now: () => new Date(0)})
  } finally {
    await store.close()
  }
}
