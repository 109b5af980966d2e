/** A statement took longer than it may. */
export class StatementTimeoutFault extends Error {
  constructor(most_ms: number) {
    super(`A statement took longer than ${most_ms} ms.`)
    this.name = 'StatementTimeoutFault'
  }
}

/** PostgreSQL's word for a statement that passed `statement_timeout`. */
const QUERY_CANCELED = '57014'

export function isStatementTimeout(fault: unknown): boolean {
  return (
    fault instanceof StatementTimeoutFault ||
    (fault instanceof Error && 'code' in fault && fault.code === QUERY_CANCELED)
  )
}
