import {hash} from 'node:crypto'
import {type Kysely, sql} from 'kysely'
import {index, type Kind, type Migration, strict, types} from './support.ts'

interface SumsTable {
  readonly name: string
  readonly constraint: string
  /** What makes a row the same row, `model` among it. */
  readonly key: readonly string[]
  readonly others: readonly string[]
  readonly indexes: readonly (readonly string[])[]
  /** Lies in the order of its key on SQLite. */
  readonly clustered: boolean
}

const COUNTS = ['requests', 'prompt_tokens', 'completion_tokens', 'cost_nanousd']
const INTEGERS: ReadonlySet<string> = new Set([...COUNTS, 'failures', 'unpriced', 'successes', 'duration_ms', 'grain', 'status', 'bucket'])

const TABLES: readonly SumsTable[] = [
  {
    name: 'usage_hourly',
    constraint: 'usage_hourly_key',
    key: ['hour', 'workspace_id', 'api_key_id', 'provider_slug', 'provider', 'model'],
    others: ['organisation_id', ...COUNTS, 'failures', 'unpriced'],
    indexes: [
      ['api_key_id', 'hour'],
      ['workspace_id', 'hour'],
    ],
    clustered: false,
  },
  {
    name: 'unpriced_hourly',
    constraint: 'unpriced_hourly_key',
    key: ['hour', 'workspace_id', 'api_key_id', 'provider', 'model', 'unit'],
    others: ['organisation_id', 'requests'],
    indexes: [],
    clustered: false,
  },
  {
    name: 'log_hourly',
    constraint: 'log_hourly_key',
    key: ['workspace_id', 'grain', 'hour', 'api_key_id', 'provider_slug', 'provider', 'model', 'config_id', 'status', 'cache_status'],
    others: [...COUNTS, 'successes', 'duration_ms'],
    indexes: [['hour']],
    clustered: true,
  },
  {
    name: 'log_latencies',
    constraint: 'log_latencies_key',
    key: ['workspace_id', 'grain', 'hour', 'provider', 'model', 'bucket'],
    others: ['requests'],
    indexes: [['hour']],
    clustered: true,
  },
]

/**
 * Indexes know a model by its first 255 bytes and its hash: an index of PostgreSQL takes no row over 2,704 bytes, and one call with a longer
 * model stopped the ledger.
 */
export const modelKeys: Migration = {
  name: '0024_model_keys',
  area: 'traffic',
  async up(db, kind) {
    for (const table of TABLES) await (kind === 'sqlite' ? rebuilt(db, table) : altered(db, table))
  },
}

/** Records of the journal that no database takes as they are: what is known of them, for `gateway ledger verify`. */
export const setAside: Migration = {
  name: '0024_set_aside',
  area: 'traffic',
  async up(db, kind) {
    const {text, integer} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('traffic.set_aside')
        .addColumn('writer', text, c => c.notNull())
        .addColumn('segment', integer, c => c.notNull())
        .addColumn('position', integer, c => c.notNull())
        .addColumn('record', text, c => c.notNull())
        .addColumn('reason', text, c => c.notNull())
        .addColumn('is_charged', integer, c => c.notNull())
        .addColumn('is_kept', integer, c => c.notNull())
        .addColumn('set_aside_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('set_aside_key', ['writer', 'segment', 'position']),
    ).execute()
  },
}

/** Of a model over 255 bytes: so much of it as is whole characters, and the hash of the whole. */
function indexed(model: string): string {
  const {read} = new TextEncoder().encodeInto(model, new Uint8Array(255))
  return `${model.slice(0, read)}~${hash('sha256', model, 'hex')}`
}

const keyOf = ({key}: SumsTable) => key.map(column => (column === 'model' ? 'model_key' : column))

async function altered(db: Kysely<unknown>, table: SumsTable) {
  const name = sql.table(`traffic.${table.name}`)
  await sql`alter table ${name} add column model_key text`.execute(db)
  await sql`update ${name} set model_key = model where octet_length(model) <= 255`.execute(db)
  const {rows} = await sql<{model: string}>`select distinct model from ${name} where model_key is null`.execute(db)
  for (const {model} of rows) await sql`update ${name} set model_key = ${indexed(model)} where model = ${model}`.execute(db)
  await sql`alter table ${name} alter column model_key set not null`.execute(db)
  await sql`alter table ${name} drop constraint ${sql.ref(table.constraint)}`.execute(db)
  await sql`alter table ${name} add constraint ${sql.ref(table.constraint)} primary key (${sql.raw(keyOf(table).join(', '))})`.execute(db)
}

/** SQLite changes no primary key: the rows move into a table that has the other one. */
async function rebuilt(db: Kysely<unknown>, table: SumsTable) {
  const kind: Kind = 'sqlite'
  const made = `traffic.${table.name}_new`
  const columns = [...table.key, ...table.others]
  const type = (column: string) => types(kind)[INTEGERS.has(column) ? 'integer' : 'text']
  let create = db.schema.createTable(made).addColumn('model_key', 'text', c => c.notNull())
  for (const column of columns) create = create.addColumn(column, type(column), c => c.notNull())
  const keyed = create.addPrimaryKeyConstraint(table.constraint, keyOf(table) as never[])
  await (table.clustered ? keyed.modifyEnd(sql`strict, without rowid`) : strict(kind, keyed)).execute()
  const [to, from, names] = [sql.table(made), sql.table(`traffic.${table.name}`), sql.raw(columns.join(', '))]
  const short = sql`length(cast(model as blob)) <= 255`
  await sql`insert into ${to} (model_key, ${names}) select model, ${names} from ${from} where ${short}`.execute(db)
  const {rows} = await sql<{model: string}>`select distinct model from ${from} where not (${short})`.execute(db)
  for (const {model} of rows)
    await sql`insert into ${to} (model_key, ${names}) select ${indexed(model)}, ${names} from ${from} where model = ${model}`.execute(db)
  await sql`drop table ${from}`.execute(db)
  await sql`alter table ${to} rename to ${sql.ref(table.name)}`.execute(db)
  for (const on of table.indexes) await index(db, kind, `traffic.${table.name}`, on)
}
