import {type Kysely, sql} from 'kysely'
import {index, type Migration, types} from './support.ts'

/**
 * What limits stand on: sums by key and by workspace are found without reading everybody's hours, and on PostgreSQL the
 * counters that several processes share, with the two functions that claim and settle them in one statement. On SQLite
 * one process serves, and its counters are in memory.
 */
export const counters: Migration = {
  name: '0004_counters',
  area: 'traffic',
  async up(db, kind) {
    await index(db, kind, 'traffic.usage_hourly', ['api_key_id', 'hour'])
    await index(db, kind, 'traffic.usage_hourly', ['workspace_id', 'hour'])
    if (kind === 'postgres') await shared(db)
  },
}

async function shared(db: Kysely<unknown>) {
  const {text, integer} = types('postgres')
  await db.schema
    .createTable('traffic.counters')
    .addColumn('key', sql`text collate "C"`, c => c.primaryKey())
    .addColumn('used', integer, c => c.notNull())
    .addColumn('ends_at_ms', integer)
    .execute()
  await index(db, 'postgres', 'traffic.counters', ['ends_at_ms'])
  await db.schema
    .createTable('traffic.counter_holds')
    .addColumn('id', text, c => c.notNull())
    .addColumn('key', sql`text collate "C"`, c => c.notNull())
    .addColumn('type', text, c => c.notNull())
    .addColumn('amount', integer, c => c.notNull())
    .addColumn('deadline_ms', integer, c => c.notNull())
    .addPrimaryKeyConstraint('counter_holds_key', ['id', 'key'])
    .execute()
  await index(db, 'postgres', 'traffic.counter_holds', ['deadline_ms'])
  await sql.raw(RESERVE).execute(db)
  await sql.raw(SETTLE).execute(db)
}

/**
 * Claims: a JSON list of {key, type, amount, most, ends_at_ms, rebuilds, shadow}, `most` being what may be used before.
 * Without a deadline it extends. Rows are locked in the order of their keys, so that two claims never wait for each
 * other in a circle. Answers {word, now_ms, places}: places count from 0, in the order of the claims.
 */
const RESERVE = `
create function traffic.reserve_counters(reservation text, claims jsonb, until_ms bigint) returns jsonb language plpgsql as $$
declare
  now_ms constant bigint := extract(epoch from clock_timestamp()) * 1000;
  deadline bigint := until_ms;
  claim record;
  before bigint;
  refused bigint;
  over_places bigint[] := '{}';
  missing_places bigint[] := '{}';
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
      (c.item->>'rebuilds')::boolean as rebuilds, (c.item->>'shadow')::boolean as shadow
    from jsonb_array_elements(claims) with ordinality as c(item, place)
    order by (c.item->>'key') collate "C"
  loop
    if not claim.rebuilds then
      insert into traffic.counters (key, used, ends_at_ms) values (claim.key, 0, claim.ends_at_ms) on conflict (key) do nothing;
    end if;
    select used into before from traffic.counters where key = claim.key for update;
    if not found then
      missing_places := missing_places || claim.place;
    elsif before > claim.most then
      if claim.shadow then over_places := over_places || claim.place; else refused := least(refused, claim.place); end if;
    end if;
  end loop;
  if cardinality(missing_places) > 0 then
    return jsonb_build_object('word', 'missing', 'now_ms', now_ms, 'places', to_jsonb(missing_places));
  end if;
  if refused is not null then
    return jsonb_build_object('word', 'refused', 'now_ms', now_ms, 'places', jsonb_build_array(refused));
  end if;
  update traffic.counters set used = used + (c.item->>'amount')::bigint from jsonb_array_elements(claims) as c(item) where key = c.item->>'key';
  insert into traffic.counter_holds (id, key, type, amount, deadline_ms)
    select reservation, c.item->>'key', c.item->>'type', (c.item->>'amount')::bigint, deadline from jsonb_array_elements(claims) as c(item)
    order by 2
    on conflict (id, key) do update set amount = traffic.counter_holds.amount + excluded.amount;
  return jsonb_build_object('word', 'taken', 'now_ms', now_ms, 'places', to_jsonb(over_places));
end $$`

/** Puts what was used in place of what was held, or gives everything back; false when nothing is held under this id. */
const SETTLE = `
create function traffic.settle_counters(reservation text, tokens bigint, cost_nanousd bigint, releases boolean) returns boolean language plpgsql as $$
declare
  hold record;
  known boolean := false;
begin
  for hold in select key, type, amount from traffic.counter_holds where id = reservation order by key for update loop
    known := true;
    update traffic.counters set used = greatest(0, used - hold.amount + case
      when releases then 0
      when hold.type = 'tokens' then tokens
      when hold.type = 'cost' then cost_nanousd
      else hold.amount
    end) where key = hold.key;
  end loop;
  delete from traffic.counter_holds where id = reservation;
  return known;
end $$`
