const SPECIAL = /[*()\\\0]/g

/**
 * `text` as a value inside a filter (RFC 4515, 3). Letters beyond ASCII stay as they are: ldapts reads the escapes of
 * their bytes as letters of their own.
 */
export function escapedFilterValue(text: string): string {
  return text.replace(SPECIAL, character => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/** `filter` with each `{name}` replaced by `value`, which can add no parenthesis and no wildcard to it. */
export function filledFilter(filter: string, name: 'username' | 'dn', value: string): string {
  const escaped = escapedFilterValue(value)
  return filter.replaceAll(`{${name}}`, () => escaped)
}
