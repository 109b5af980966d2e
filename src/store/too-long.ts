/** A statement took longer than it may. */
export class TooLong extends Error {
  constructor(most_ms: number) {
    super(`A statement took longer than ${most_ms} ms.`)
    this.name = 'TooLong'
  }
}

/** PostgreSQL's word for a statement that passed `statement_timeout`. */
const QUERY_CANCELED = '57014'

export function isTooLong(fault: unknown): boolean {
  return fault instanceof TooLong || (fault instanceof Error && 'code' in fault && fault.code === QUERY_CANCELED)
}
