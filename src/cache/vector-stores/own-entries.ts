import {isMeant} from '../../ports/cache/kept-page.ts'
import type {KeptEntry, KeptFilter} from '../../schema/cache.ts'
import type {Page, Paged} from '../../schema/paging.ts'
import {VectorStoreFault} from './fault.ts'
import type {EntrySeal} from './sealed-entry.ts'
import type {ListedPoint, PointCursor, PointPage, PointScan} from './wire.ts'

/** An entry of this house, as the administration sees it. */
export interface OwnEntry {
  readonly id: number
  readonly place: string
  readonly kept: KeptEntry
}

export interface OwnEntriesOptions {
  readonly entries: Pick<EntrySeal, 'open'>
  /** Reads one page, within its own deadline. */
  readonly scan: (scan: PointScan) => Promise<PointPage>
  readonly now_ms: number
  /** The length of vectors. */
  readonly dimensions: number
  /** Aborted when the whole takes too long. */
  readonly signal: AbortSignal
}

const PAGE = 100
/** A store that always names a next page ends here. */
const MAX_PAGES = 20_000
const PLACE = /^[0-9a-f]{64}$/

/** The entries in a store that the keys of this house open and that have not ended, a page of the store at a time. */
export async function* ownEntries(options: OwnEntriesOptions): AsyncGenerator<readonly OwnEntry[]> {
  const {scan, now_ms, signal} = options
  let from: PointCursor = null
  for (let page = 0; page < MAX_PAGES; page++) {
    const {points, next} = await scan({from, most: PAGE, now_ms})
    signal.throwIfAborted()
    yield points.map(point => ownEntry(point, options)).filter(entry => entry !== null)
    if (next === null) return
    if (next === from) throw new VectorStoreFault('failed', 'it names the same page again')
    from = next
  }
}

function ownEntry({id, partition: place, sealed}: ListedPoint, {entries, now_ms, dimensions}: OwnEntriesOptions) {
  if (typeof place !== 'string' || !PLACE.test(place) || typeof sealed !== 'string') return null
  const opened = entries.open(place, sealed)
  if (!opened || String(opened.id) !== String(id) || opened.entry.expires_at_ms <= now_ms) return null
  const {digest, workspace_id, log_id, features, created_at_ms: stored_at_ms, expires_at_ms} = opened.entry
  const bytes = features.length + dimensions * Float32Array.BYTES_PER_ELEMENT
  const kept = {digest, workspace_id, log_id, ...opened.about, stored_at_ms, expires_at_ms, bytes}
  return {id: opened.id, place, kept}
}

/** The entries that a filter means, the newest first: one page of them, and how many there are. */
export async function pageOfOwn(
  pages: AsyncIterable<readonly OwnEntry[]>,
  filter: KeptFilter,
  {current_page, page_size}: Page,
): Promise<Paged<KeptEntry>> {
  const wanted = (current_page + 1) * page_size
  let rows: KeptEntry[] = []
  let total = 0
  for await (const page of pages) {
    const meant = page.map(({kept}) => kept).filter(kept => isMeant(kept, filter))
    total += meant.length
    rows.push(...meant)
    if (rows.length > 2 * wanted + PAGE) rows = newest(rows).slice(0, wanted)
  }
  return {total, rows: newest(rows).slice(current_page * page_size, wanted)}
}

function newest(rows: readonly KeptEntry[]): KeptEntry[] {
  return rows.toSorted((one, other) => other.stored_at_ms - one.stored_at_ms || (one.digest < other.digest ? -1 : 1))
}
