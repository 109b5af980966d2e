import type {Db} from '../database.ts'
import {CHAIN_START, ENTRY_COLUMNS, link} from '../flush/index.ts'
import type {LedgerBreak, Recovered} from './report.ts'

export interface Chains {
  readonly entries: number
  readonly writers: number
  /** The first break of each writer. */
  readonly breaks: readonly LedgerBreak[]
  readonly recovered: Recovered
}

const PAGE_ENTRIES = 1000
const MAX_NAMED = 100

interface Walk {
  chain: string
  /** True when the hash that the writer's mark names was passed. */
  reached: boolean
}

/**
 * Computes the hash chain of every writer again over all entries (core rule 14): an entry altered, removed, moved or
 * put in between shows. Reads the whole ledger, a page at a time, and says after each how many were read; the gateway
 * may keep serving.
 */
export async function verifyChains(db: Db, onEntries: (entries: number) => void): Promise<Chains> {
  const heads = new Map(
    (await db.selectFrom('traffic.journal_marks').select(['writer', 'chain']).execute()).map(row => [
      row.writer,
      row.chain,
    ]),
  )
  const walks = new Map(
    [...heads].map(([writer, head]): [string, Walk] => [writer, {chain: CHAIN_START, reached: head === CHAIN_START}]),
  )
  const breaks = new Map<string, LedgerBreak>()
  const named: Recovered['newest'][number][] = []
  const recovered = {entries: 0, cost_nanousd: 0n, prompt_tokens: 0n}
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
      const {writer, call_id, attempt, admitted_at, settled_at, provider, model} = entry
      const walk = walks.get(writer) ?? {chain: CHAIN_START, reached: true}
      walks.set(writer, walk)
      const values = ENTRY_COLUMNS.map(column => plain(entry[column]))
      if (link(walk.chain, JSON.stringify(values)) !== chain && !breaks.has(writer)) {
        const text = `Entry ${call_id}:${attempt} of ${settled_at} is not what writer ${writer} recorded, or an entry before it is missing.`
        breaks.set(writer, {kind: 'chain', writer, entry: {sequence, call_id, attempt, settled_at}, text})
      }
      walk.chain = chain
      walk.reached ||= chain === heads.get(writer)
      if (entry.outcome !== 'recovered') continue
      recovered.entries++
      recovered.cost_nanousd += whole(entry.cost_nanousd)
      recovered.prompt_tokens += whole(entry.prompt_tokens)
      named.push({call_id, attempt, admitted_at, provider, model, cost_nanousd: Number(entry.cost_nanousd)})
      if (named.length > MAX_NAMED) named.shift()
    }
    onEntries(entries)
    if (page.length < PAGE_ENTRIES) break
  }
  for (const [writer, {reached}] of walks) {
    if (reached || breaks.has(writer)) continue
    breaks.set(writer, {
      kind: 'chain',
      writer,
      entry: null,
      text: `The last entries of writer ${writer} are missing from the ledger.`,
    })
  }
  return {
    entries,
    writers: walks.size,
    breaks: [...breaks.values()],
    recovered: {...recovered, newest: named.toReversed()},
  }
}

/** An altered number may be beyond exactness; it must then differ, not throw. */
const plain = (value: unknown) => (typeof value === 'bigint' ? String(value) : value)
const whole = (value: number | bigint) => BigInt(Number.isSafeInteger(value) || typeof value === 'bigint' ? value : 0)
