import {type RawBuilder, sql} from 'kysely'

/** The largest value of columns of sums. A sum that has it is flagged by it: the usage beyond it is unknown. */
export const MOST_SUM = 2n ** 63n - 1n

export const saturated = (sum: bigint): bigint => (sum > MOST_SUM ? MOST_SUM : sum)

/**
 * SQL for a column of sums with `more` added: a sum past the bound would refuse its whole row, and with it those that
 * others add.
 */
export const addedSum = (column: string, more: string) =>
  `case when ${column} > ${MOST_SUM} - ${more} then ${MOST_SUM} else ${column} + ${more} end`

/**
 * The sum of integers that are not negative, as text, and no more than `MOST_SUM`. In two halves: SQLite ends a query
 * whose sum passes 64 bits.
 */
export function saturatedSum(value: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`cast(${saturatedTotal(value)} as text)`
}

/** The same as a number. */
export function saturatedTotal(value: RawBuilder<unknown>): RawBuilder<unknown> {
  const high = sql`coalesce(cast(sum(cast(${value} as bigint) >> 32) as bigint), 0)`
  const low = sql`coalesce(cast(sum(cast(${value} as bigint) & 4294967295) as bigint), 0)`
  return sql`case when ${high} + (${low} >> 32) > 2147483647 then ${sql.lit(MOST_SUM)} else (${high} * 4294967296) + ${low} end`
}
