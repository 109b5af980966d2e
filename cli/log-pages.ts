/** The part of a request that says which rows of the log a page reads. */
export interface LogPageRequest {
  readonly limit: number
  readonly before?: string
}

export interface LogPagesOptions {
  /** All rows that are read at most. */
  readonly limit: number
  /** Those of one page. */
  readonly page_rows: number
}

export interface ReadLogPage<Page> {
  readonly page: Page
  /** The rows that were wanted so far. */
  readonly rows: number
}

/** Pages of an operation that reads the log, the newest rows first, until the limit or the end of the log. */
export async function* logPages<Page extends {readonly next: string | null}>(
  {limit, page_rows}: LogPagesOptions,
  read: (request: LogPageRequest) => Promise<Page>,
): AsyncGenerator<ReadLogPage<Page>> {
  let before: string | null | undefined
  for (let rows = 0; rows < limit && before !== null; ) {
    const wanted = Math.min(limit - rows, page_rows)
    const page = await read({limit: wanted, ...(before && {before})})
    before = page.next
    rows += wanted
    yield {page, rows}
  }
}

/** Adds the counts of a page to those of the pages before, by their names. */
export function addCounts<Name extends string>(
  sums: Record<Name, number>,
  page: Readonly<Record<NoInfer<Name>, number>>,
) {
  for (const name of Object.keys(sums) as Name[]) sums[name] += page[name]
}
