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
const INTEGERS: ReadonlySet<string> = new Set([
  ...COUNTS,
  'failures',
  'unpriced',
  'successes',
  'duration_ms',
  'grain',
  'status',
  'bucket',
])

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
    key: [
      'workspace_id',
      'grain',
      'hour',
      'api_key_id',
      'provider_slug',
      'provider',
      'model',
      'config_id',
      'status',
      'cache_status',
    ],
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
 * Indexes know a model by its first 255 bytes and its hash: an index of PostgreSQL takes no row over 2,704 bytes, and
 * one call with a longer model stopped the ledger.
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

/** Shared counters say whose entity they count, so that those of one policy are bounded; their sums stay at 64 bits. */
export const boundedCounters: Migration = {
  name: '0024_bounded_counters',
  area: 'traffic',
  async up(db, kind) {
    if (kind === 'sqlite') return // its counters are in memory
    await sql`alter table traffic.counters add column policy_id text`.execute(db)
    await sql`update traffic.counters set policy_id = substring(key from '^[a-z]+/[a-z]+/[0-9]+/policy/([^/]+)/')`.execute(
      db,
    )
    await index(db, kind, 'traffic.counters', ['policy_id'], {where: 'policy_id is not null'})
    await sql.raw(RESERVE).execute(db)
    await sql.raw(SETTLE).execute(db)
  },
}

/**
 * As in 0004, with the policy of a claim, and with `full` where no further counter of it may be made. Answers also
 * which were made.
 */
const RESERVE = `
create or replace function traffic.reserve_counters(reservation text, claims jsonb, until_ms bigint) returns jsonb language plpgsql as $$
declare
  now_ms constant bigint := extract(epoch from clock_timestamp()) * 1000;
  deadline bigint := until_ms;
  claim record;
  before bigint;
  refused bigint;
  over_places bigint[] := '{}';
  missing_places bigint[] := '{}';
  made_places bigint[] := '{}';
  left_places bigint[] := '{}';
  full_place bigint;
  made bigint;
begin
  if deadline is null then
    select max(h.deadline_ms) into deadline from (
      select deadline_ms from traffic.counter_holds where id = reservation order by key for update
    ) h;
    if deadline is null or deadline <= now_ms then
      return jsonb_build_object('word', 'unknown', 'now_ms', now_ms, 'places', '[]'::jsonb);
    end if;
  end if;
  for claim in
    select c.place - 1 as place, c.item->>'key' as key, (c.item->>'most')::numeric as most, (c.item->>'ends_at_ms')::bigint as ends_at_ms,
      (c.item->>'rebuilds')::boolean as rebuilds, (c.item->>'shadow')::boolean as shadow, c.item->>'group' as policy_id,
      coalesce((c.item->>'makes')::boolean, true) as makes
    from jsonb_array_elements(claims) with ordinality as c(item, place)
    order by (c.item->>'key') collate "C"
  loop
    if not claim.rebuilds and claim.makes then
      insert into traffic.counters (key, used, ends_at_ms, policy_id) values (claim.key, 0, claim.ends_at_ms, claim.policy_id)
        on conflict (key) do nothing;
      get diagnostics made = row_count;
      if made > 0 then made_places := made_places || claim.place; end if;
    end if;
    select used into before from traffic.counters where key = claim.key for update;
    if not found and not claim.rebuilds then
      left_places := left_places || claim.place;
      if claim.shadow then over_places := over_places || claim.place; else full_place := least(full_place, claim.place); end if;
    elsif not found then
      missing_places := missing_places || claim.place;
    elsif before > claim.most then
      if claim.shadow then over_places := over_places || claim.place; else refused := least(refused, claim.place); end if;
    end if;
  end loop;
  if cardinality(missing_places) > 0 then
    return jsonb_build_object('word', 'missing', 'now_ms', now_ms, 'places', to_jsonb(missing_places), 'made', to_jsonb(made_places));
  end if;
  if refused is not null then
    return jsonb_build_object('word', 'refused', 'now_ms', now_ms, 'places', jsonb_build_array(refused), 'made', to_jsonb(made_places));
  end if;
  if full_place is not null then
    return jsonb_build_object('word', 'full', 'now_ms', now_ms, 'places', jsonb_build_array(full_place), 'made', to_jsonb(made_places));
  end if;
  update traffic.counters set used = least(9223372036854775807::numeric, used::numeric + (c.item->>'amount')::bigint)::bigint
    from jsonb_array_elements(claims) as c(item) where key = c.item->>'key';
  insert into traffic.counter_holds (id, key, type, amount, deadline_ms)
    select reservation, c.item->>'key', c.item->>'type', (c.item->>'amount')::bigint, deadline
    from jsonb_array_elements(claims) with ordinality as c(item, place)
    where not c.place - 1 = any(left_places)
    order by 2
    on conflict (id, key) do update set amount = traffic.counter_holds.amount + excluded.amount;
  return jsonb_build_object('word', 'taken', 'now_ms', now_ms, 'places', to_jsonb(over_places), 'made', to_jsonb(made_places));
end $$`

/** As in 0004, up to 64 bits. */
const SETTLE = `
create or replace function traffic.settle_counters(reservation text, tokens bigint, cost_nanousd bigint, releases boolean) returns boolean language plpgsql as $$
declare
  hold record;
  known boolean := false;
begin
  for hold in select key, type, amount from traffic.counter_holds where id = reservation order by key for update loop
    known := true;
    update traffic.counters set used = greatest(0, least(9223372036854775807::numeric, used::numeric - hold.amount + case
      when releases then 0
      when hold.type = 'tokens' then tokens
      when hold.type = 'cost' then cost_nanousd
      else hold.amount
    end))::bigint where key = hold.key;
  end loop;
  delete from traffic.counter_holds where id = reservation;
  return known;
end $$`

const keyOf = ({key}: SumsTable) => key.map(column => (column === 'model' ? 'model_key' : column))

async function altered(db: Kysely<unknown>, table: SumsTable) {
  const name = sql.table(`traffic.${table.name}`)
  await sql`alter table ${name} add column model_key text`.execute(db)
  await sql`update ${name} set model_key = model where octet_length(model) <= 255`.execute(db)
  const {rows} = await sql<{model: string}>`select distinct model from ${name} where model_key is null`.execute(db)
  for (const {model} of rows)
    await sql`update ${name} set model_key = ${indexed(model)} where model = ${model}`.execute(db)
  await sql`alter table ${name} alter column model_key set not null`.execute(db)
  await sql`alter table ${name} drop constraint ${sql.ref(table.constraint)}`.execute(db)
  await sql`alter table ${name} add constraint ${sql.ref(table.constraint)} primary key (${sql.raw(keyOf(table).join(', '))})`.execute(
    db,
  )
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
    await sql`insert into ${to} (model_key, ${names}) select ${indexed(model)}, ${names} from ${from} where model = ${model}`.execute(
      db,
    )
  await sql`drop table ${from}`.execute(db)
  await sql`alter table ${to} rename to ${sql.ref(table.name)}`.execute(db)
  for (const on of table.indexes) await index(db, kind, `traffic.${table.name}`, on)
}
