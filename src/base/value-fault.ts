/** Classes of SQLSTATE about one value: data exceptions, and program limits such as the width of an index's row. */
const OF_VALUE = /^(?:22|54)[0-9A-Z]{3}$/
const OF_SQLITE = /^SQLITE_(?:MISMATCH|TOOBIG|RANGE)$/
/** Redis has no classes: what it says of a number or a type that an operation cannot take. */
const OF_REDIS =
  /^(?:WRONGTYPE|ERR (?:value is not|increment or decrement would overflow|string exceeds|Protocol error: too big))/

/**
 * True when a store refused one value that it was given, so that the same again cannot help, and the store is well. All
 * other faults, such as a lock, a full disk or a lost connection, are about the store.
 */
export function isValueFault(fault: unknown): boolean {
  if (!(fault instanceof Error)) return false
  const code = 'code' in fault && typeof fault.code === 'string' ? fault.code : ''
  return (
    OF_VALUE.test(code) ||
    OF_SQLITE.test(code) ||
    code === 'ERR_STRING_TOO_LONG' ||
    (fault.name === 'ReplyError' && OF_REDIS.test(fault.message))
  )
}
