import type {LogFilter} from '../log-filter.ts'

const DAY_MS = 86_400_000

/**
 * The same rows, a part for each day (UTC): rows of one day are sorted in less time than all of them, and others have
 * their turn at the reader in between. Where an index finds the few rows of a trace there is one part, and where the
 * time is open.
 */
export function byDay(filter: LogFilter): LogFilter[] {
  const {least, most} = filter.created_at ?? {}
  if (least === undefined || most === undefined || filter.trace_id !== undefined || isBound(filter.feedback))
    return [filter]
  const parts: LogFilter[] = []
  for (let from = least; from <= most; ) {
    const next = new Date((Math.floor(Date.parse(from) / DAY_MS) + 1) * DAY_MS)
    const last = new Date(next.getTime() - 1).toISOString()
    parts.push({...filter, created_at: {least: from, most: last < most ? last : most}})
    from = next.toISOString()
  }
  return parts
}

/** The day in which all rows of a filter lie, `2026-01-02`; undefined where it may be several. */
export function dayOf({created_at}: LogFilter): string | undefined {
  const day = created_at?.least?.slice(0, 10)
  return day === created_at?.most?.slice(0, 10) ? day : undefined
}

export function isBound(range: {readonly least?: unknown; readonly most?: unknown} | undefined): boolean {
  return range?.least !== undefined || range?.most !== undefined
}
