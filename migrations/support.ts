import {type CreateTableBuilder, type Kysely, sql} from 'kysely'

export type Kind = 'sqlite' | 'postgres'

/** One step forward; never edited once released. It changes one file: a commit over two is not atomic (core rule 1). */
export interface Migration {
  readonly name: string
  readonly area: 'control' | 'traffic'
  up(db: Kysely<unknown>, kind: Kind): Promise<void>
}

/** Column types that differ in name only. Times and JSON are text, booleans 0/1, money integer nano-dollars. */
export function types(kind: Kind) {
  return {
    text: 'text',
    integer: kind === 'sqlite' ? 'integer' : 'bigint',
    bytes: kind === 'sqlite' ? sql`blob` : 'bytea',
    real: kind === 'sqlite' ? 'real' : 'double precision',
  } as const
}

/** SQLite tables are STRICT: a column holds its type or the write fails. */
export function strict<T extends string, C extends string>(
  kind: Kind,
  table: CreateTableBuilder<T, C>,
): CreateTableBuilder<T, C> {
  return kind === 'sqlite' ? table.modifyEnd(sql`strict`) : table
}

/**
 * `create index`, in the words of either kind: on an attached SQLite file the index carries the schema, not the table.
 */
export async function index(
  db: Kysely<unknown>,
  kind: Kind,
  table: string,
  columns: readonly string[],
  options: {unique?: boolean; where?: string} = {},
) {
  const [schema, bare] = table.includes('.') ? (table.split('.') as [string, string]) : [undefined, table]
  const name = `${bare}_${columns.map(column => column.split(' ')[0]).join('_')}`
  const on = kind === 'sqlite' || !schema ? bare : table
  const called = kind === 'sqlite' && schema ? `${schema}.${name}` : name
  await sql`create ${sql.raw(options.unique ? 'unique index' : 'index')} ${sql.raw(called)} on ${sql.raw(on)} (${sql.raw(columns.join(', '))}) ${sql.raw(options.where ? `where ${options.where}` : '')}`.execute(
    db,
  )
}
