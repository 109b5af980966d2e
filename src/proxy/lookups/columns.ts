/** Reads JSON that the administration wrote into columns: a value of another kind counts as absent. */

export function parsed(column: string | null): Record<string, unknown> {
  return column === null ? {} : (JSON.parse(column) as Record<string, unknown>)
}

export function texts(value: unknown): Record<string, string> {
  if (!value || typeof value !== 'object') return {}
  return Object.fromEntries(
    Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  )
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
