import type {KyselyPlugin, PluginTransformQueryArgs, PluginTransformResultArgs} from 'kysely'
import {unwritableReason} from '../base/store-fault.ts'
import type {Db, Invalidation, Store, TableName, WrittenTable} from './database.ts'
import {bumpRevisions} from './revisions.ts'
import {cachesOf, INVALIDATES} from './tables/invalidation.ts'
import {writtenRows} from './written-rows.ts'

type Transact = <T>(work: (transaction: Db) => Promise<T>) => Promise<T>

/**
 * Write transactions that note which tables their statements write. The revisions of the caches that hold rows of those
 * tables move in the same transaction; listeners get what changed as soon as it is committed, and before the writer
 * continues. `unwritable` keeps why the last could not be made.
 */
export function notedWrites(transact: Transact): Pick<Store, 'write' | 'onWrite' | 'unwritable'> {
  const listeners: ((invalidation: Invalidation) => void)[] = []
  let unwritable: string | null = null
  return {
    async write(work) {
      const {result, invalidation} = await transact(async transaction => {
        const notes = new Notes()
        const result = await work(transaction.withPlugin(notes))
        const tables = notes.tables()
        const revisions = await bumpRevisions(transaction, cachesOf(tables))
        return {result, invalidation: {tables, revisions}}
      }).catch(fault => {
        unwritable = unwritableReason(fault) ?? unwritable
        throw fault
      })
      unwritable = null
      if (invalidation.tables.length) for (const listener of listeners) listener(invalidation)
      return result
    },
    onWrite: listener => void listeners.push(listener),
    unwritable: () => unwritable,
  }
}

/** Sees every statement of one transaction. */
class Notes implements KyselyPlugin {
  readonly #ids = new Map<TableName, Set<string> | null>()

  transformQuery({node}: PluginTransformQueryArgs) {
    for (const {table, ids} of writtenRows(node)) this.#note(table as TableName, ids)
    return node
  }

  async transformResult({result}: PluginTransformResultArgs) {
    return result
  }

  tables(): WrittenTable[] {
    return [...this.#ids].map(([table, ids]) => ({table, ids: ids && [...ids]}))
  }

  #note(table: TableName, ids: readonly string[] | null) {
    if (!INVALIDATES[table]?.length) return
    const known = this.#ids.get(table)
    this.#ids.set(table, ids === null || known === null ? null : new Set([...(known ?? []), ...ids]))
  }
}
