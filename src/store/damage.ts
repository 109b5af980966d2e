import {readdirSync, statSync} from 'node:fs'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {DataDirFault} from './data-dir.ts'
import {CONTROL_FILE, TRAFFIC_FILE} from './dialect/sqlite.ts'

interface Place {
  readonly folder: string
  readonly journal: string
  readonly binding?: object | undefined
}

const FILES = [CONTROL_FILE, TRAFFIC_FILE] as const
/** A file larger than this holds something; of a smaller one SQLite is queried. */
const SURE_BYTES = 64 * 1024
/** SQLite checks some hundreds of megabytes in a second: a larger file would hold the start up. */
const MAX_CHECKED_BYTES = 1024 * 1024 * 1024

/**
 * Refuses (DataDirFault) a directory in which one of the databases is gone, before anything is made in it: a new one in
 * its place would be an empty ledger without a word. `accepts_loss`: the operator lets the ledger begin again. Returns
 * sentences on each new beginning.
 */
export function checkPresent({folder, journal, binding}: Place, accepts_loss: boolean): string[] {
  const [has_control, has_traffic] = FILES.map(name => holds(folder, name, binding))
  const put_back = `Put both databases back from one backup${backupsIn(folder)}.`
  if (has_control && has_traffic) return []
  if (has_traffic)
    throw new DataDirFault(
      `${CONTROL_FILE} is not in ${folder}, though ${TRAFFIC_FILE} is: keys, providers and configs are gone. ${put_back}`,
    )
  if (!segmentsIn(journal) && (!has_control || !wasMade(folder, binding))) return [] // its first start was cut off
  const lost = has_control
    ? `${TRAFFIC_FILE} is not in ${folder}, though ${CONTROL_FILE} is: the ledger and the log of all calls are gone.`
    : `${CONTROL_FILE} and ${TRAFFIC_FILE} are not in ${folder}, though its journal is: keys, providers, the ledger and the log are gone.`
  if (accepts_loss) return [`${lost} They begin anew, as --accept-loss says; what the journal still holds is entered.`]
  throw new DataDirFault(
    `${lost} ${put_back} To begin with an empty ledger all the same: gateway serve --accept-loss --data-dir ${folder}.`,
  )
}

/**
 * Has SQLite check the databases of `folder` where the process before did not close them. Refuses (DataDirFault) one
 * that is damaged, by its name; gives sentences of what was not checked.
 */
export function checkAfterUncleanEnd(folder: string, binding: object | undefined): string[] {
  const left_open = FILES.filter(name => (bytesOf(join(folder, `${name}-wal`)) ?? 0) > 0)
  return left_open.flatMap(name => {
    const bytes = bytesOf(join(folder, name)) ?? 0
    if (bytes > MAX_CHECKED_BYTES)
      return [
        `${name} was not closed and, at ${Math.round(bytes / 2 ** 20)} MB, is too large to be checked at a start.`,
      ]
    const found = checked(folder, name, binding)
    if (found) throw damaged(folder, name, found)
    return []
  })
}

/**
 * The sentence for what SQLite found when it came upon damage; undefined for any other fault. `may_be_damage`: the
 * fault does not say what it came from, and the databases are checked all the same.
 */
export function damageFault(
  fault: unknown,
  folder: string,
  binding: object | undefined,
  may_be_damage = false,
): DataDirFault | undefined {
  const is_damage = isDamage(fault)
  if (!is_damage && !may_be_damage) return undefined
  for (const name of FILES) {
    const found = checked(folder, name, binding)
    if (found) return damaged(folder, name, found)
  }
  return is_damage ? damaged(folder, `${CONTROL_FILE} or ${TRAFFIC_FILE}`, (fault as Error).message) : undefined
}

function isDamage(fault: unknown): boolean {
  return fault instanceof Sqlite.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(fault.code)
}

/**
 * True when a database exists and has tables: one whose making was cut off has none. An unreadable one counts as full.
 */
function holds(folder: string, name: string, binding: object | undefined): boolean {
  const bytes = bytesOf(join(folder, name)) ?? 0
  if (bytes === 0 || bytes > SURE_BYTES) return bytes > 0
  const raw = opened(folder, name, binding)
  try {
    return (raw.prepare('select count(*) from sqlite_master').pluck().get() as number) > 0
  } catch {
    return true
  } finally {
    raw.close()
  }
}

/**
 * True when the first start was completed: migrations are one transaction each, and the last table they make is filled
 * last.
 */
function wasMade(folder: string, binding: object | undefined): boolean {
  const raw = opened(folder, CONTROL_FILE, binding)
  try {
    return (raw.prepare('select count(*) from organisations').pluck().get() as number) > 0
  } catch (fault) {
    return isDamage(fault)
  } finally {
    raw.close()
  }
}

function opened(folder: string, name: string, binding: object | undefined): Sqlite.Database {
  return new Sqlite(join(folder, name), {
    fileMustExist: true,
    ...(binding ? {nativeBinding: binding as unknown as string} : {}),
  })
}

/** The first fault of a database, as SQLite describes it. */
function checked(folder: string, name: string, binding: object | undefined): string | undefined {
  let raw: Sqlite.Database | undefined
  try {
    raw = opened(folder, name, binding)
    const verdict = raw.pragma('quick_check(1)', {simple: true}) as string
    return verdict === 'ok' ? undefined : verdict
  } catch (fault) {
    return isDamage(fault) ? (fault as Error).message : undefined
  } finally {
    raw?.close()
  }
}

function damaged(folder: string, name: string, found: string): DataDirFault {
  const what = found.replaceAll(/\s+/g, ' ').slice(0, 200)
  return new DataDirFault(
    `${name} in ${folder} is damaged (${what}). Nothing was changed. Keep a copy of the directory, then put both databases back from one backup${backupsIn(folder)}; the journal enters what came after it.`,
  )
}

/** The folder of the newest copies that were made before a migration. */
function backupsIn(folder: string): string {
  const newest = list(join(folder, 'backups')).sort().at(-1)
  return newest ? `, the newest here is ${join(folder, 'backups', newest)}` : ''
}

function segmentsIn(journal: string): boolean {
  return list(journal).some(name => name.endsWith('.seg'))
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function bytesOf(path: string): number | undefined {
  return statSync(path, {throwIfNoEntry: false})?.size
}
