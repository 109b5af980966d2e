/** True where another connection holds the lock of a SQLite file: the same may be tried again. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('SQLITE_BUSY')
  )
}
