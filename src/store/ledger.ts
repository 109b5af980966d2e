import type {Db, Store} from './database.ts'
import {CHAIN_START, ENTRY_COLUMNS, link} from './flush/index.ts'

/** Where a chain does not hold: an entry that is not what its writer linked, or one that is missing before it (null: at the end). */
export interface ChainBreak {
  readonly writer: string
  readonly entry: {readonly call_id: string; readonly attempt: number; readonly settled_at: string} | null
  /** A sentence for the operator. */
  readonly text: string
}

export interface ChainReport {
  readonly entries: number
  readonly writers: number
  /** The first break of each writer. */
  readonly breaks: readonly ChainBreak[]
}

const PAGE_ENTRIES = 1000

/**
 * Computes the hash chain of every writer anew over all entries (core rule 14): an entry altered, removed or put in between shows.
 * Reads the whole ledger, a page at a time; the gateway may go on serving.
 */
export async function verifyChain(store: Store): Promise<ChainReport> {
  // entries of several writers are committed out of their order, so on PostgreSQL all pages must be of one moment
  return store.kind === 'sqlite' ? verify(store.db) : store.db.transaction().setIsolationLevel('repeatable read').execute(verify)
}

interface Walk {
  chain: string
  /** Whether the hash that the writer's mark names was passed. */
  reached: boolean
}

async function verify(db: Db): Promise<ChainReport> {
  const heads = new Map(
    (await db.selectFrom('traffic.journal_marks').select(['writer', 'chain']).execute()).map(row => [row.writer, row.chain]),
  )
  const walks = new Map([...heads].map(([writer, head]): [string, Walk] => [writer, {chain: CHAIN_START, reached: head === CHAIN_START}]))
  const breaks = new Map<string, ChainBreak>()
  let entries = 0
  for (let after = 0; ; ) {
    const page = await db
      .selectFrom('traffic.ledger_entries')
      .select(['sequence', 'writer', 'chain', ...ENTRY_COLUMNS])
      .where('sequence', '>', after)
      .orderBy('sequence')
      .limit(PAGE_ENTRIES)
      .execute()
    for (const {sequence, chain, ...entry} of page) {
      after = sequence
      entries++
      const {writer, call_id, attempt, settled_at} = entry
      const walk = walks.get(writer) ?? {chain: CHAIN_START, reached: true}
      walks.set(writer, walk)
      if (
        link(
          walk.chain,
          ENTRY_COLUMNS.map(column => plain(entry[column])),
        ) !== chain &&
        !breaks.has(writer)
      ) {
        const text = `Entry ${call_id}:${attempt} of ${settled_at} is not what writer ${writer} recorded, or an entry before it is missing.`
        breaks.set(writer, {writer, entry: {call_id, attempt, settled_at}, text})
      }
      walk.chain = chain
      walk.reached ||= chain === heads.get(writer)
    }
    if (page.length < PAGE_ENTRIES) break
  }
  for (const [writer, {reached}] of walks) {
    if (reached || breaks.has(writer)) continue
    breaks.set(writer, {writer, entry: null, text: `The last entries of writer ${writer} are missing from the ledger.`})
  }
  return {entries, writers: walks.size, breaks: [...breaks.values()]}
}

/** What was altered may be beyond a number's exactness; it must then differ, not throw. */
const plain = (value: unknown) => (typeof value === 'bigint' ? String(value) : value)
