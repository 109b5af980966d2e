/**
 * The way to the first text in `value` that holds a NUL character, which PostgreSQL takes in none; undefined where none
 * does.
 */
export function findNul(
  value: unknown,
  way: readonly (string | number)[] = [],
): readonly (string | number)[] | undefined {
  if (typeof value === 'string') return value.includes('\0') ? way : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const found = findNul(member, [...way, Array.isArray(value) ? Number(key) : key])
    if (found) return found
  }
  return undefined
}
