import type {Insertable} from 'kysely'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {Db} from '../../src/store/database.ts'
import {insertIntegration} from '../../src/store/integrations.ts'
import {deleteOlder} from '../../src/store/retention.ts'
import {keepFrom} from '../../src/store/retention-start.ts'
import type {LedgerEntriesTable, UsageHourlyTable} from '../../src/store/tables/traffic.ts'
import {type EntityUsageScope, usageSince} from '../../src/store/usage.ts'
import {integrationRow} from '../support/integrations.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const KEY: EntityUsageScope = {entity: 'key', id: 'key-1', workspace_id: 'ws-1'}
const WORKSPACE: EntityUsageScope = {entity: 'workspace', id: 'ws-1', workspace_id: 'ws-1'}

describe.each(KINDS)('what the ledger says was used, on %s', kind => {
  let opened: TestStore
  let db: Db
  beforeAll(async () => {
    opened = await testStore(kind)
    db = opened.store.db
    await seedCatalog(db)
  })
  afterAll(() => opened.close())

  test('nothing was used where nothing was called', async () => {
    expect(await usageSince(db, KEY, '2026-01-01T00:00:00.000Z')).toEqual({tokens: 0n, cost_nanousd: 0n})
    expect(
      await usageSince(db, {entity: 'provider', id: 'nobody', workspace_id: 'ws-1'}, '2026-01-01T00:00:00.000Z'),
    ).toEqual({
      tokens: 0n,
      cost_nanousd: 0n,
    })
  })

  test('the hour it begins in is read to the millisecond, later hours whole; others are left out', async () => {
    await spend(db, {at: '2026-02-01T10:29:59.999Z', cost: 1})
    await spend(db, {at: '2026-02-01T10:30:00.000Z', cost: 10})
    await spend(db, {at: '2026-02-01T11:00:00.000Z', cost: 100})
    await spend(db, {at: '2026-02-03T00:00:00.000Z', cost: 1000})
    await spend(db, {at: '2026-02-03T00:00:00.000Z', cost: 7, api_key_id: 'key-2'})
    await spend(db, {at: '2026-02-03T00:00:00.000Z', cost: 9, workspace_id: 'ws-2', api_key_id: 'key-3'})
    expect(await usageSince(db, KEY, '2026-02-01T10:30:00.000Z')).toEqual({tokens: 1110n * 3n, cost_nanousd: 1110n})
    expect(await usageSince(db, KEY, '2026-02-01T11:00:00.000Z')).toEqual({tokens: 1100n * 3n, cost_nanousd: 1100n})
    expect(await usageSince(db, KEY, '2026-02-01T10:00:00.000Z')).toEqual({tokens: 1111n * 3n, cost_nanousd: 1111n})
    expect((await usageSince(db, WORKSPACE, '2026-02-01T10:30:00.000Z')).cost_nanousd).toBe(1117n)
  })

  test('a provider and an integration are told apart from others of the workspace, and from their own elsewhere', async () => {
    const at = '2026-03-01T05:10:00.000Z'
    await spend(db, {at, cost: 1, provider_id: 'p-a', provider_slug: 'a', integration_id: 'i-1'})
    await spend(db, {at, cost: 10, provider_id: 'p-b', provider_slug: 'b', integration_id: 'i-1'})
    await spend(db, {at, cost: 100, provider_id: 'p-c', provider_slug: 'c', integration_id: 'i-2'})
    await spend(db, {
      at,
      cost: 1000,
      provider_id: 'p-d',
      provider_slug: 'a',
      integration_id: 'i-1',
      workspace_id: 'ws-2',
    })
    for (const since of ['2026-03-01T05:00:00.000Z', '2026-03-01T05:05:00.000Z']) {
      expect((await usageSince(db, {entity: 'provider', id: 'p-a', workspace_id: 'ws-1'}, since)).cost_nanousd).toBe(1n)
      expect(
        (await usageSince(db, {entity: 'integration', id: 'i-1/ws-1', workspace_id: 'ws-1'}, since)).cost_nanousd,
      ).toBe(11n)
    }
  })

  test('a slug that went from one integration to another does not carry its usage along', async () => {
    await spend(db, {
      at: '2026-04-01T05:10:00.000Z',
      cost: 1,
      provider_id: 'p-old',
      provider_slug: 'reused',
      integration_id: 'i-3',
      workspace_id: 'ws-2',
    })
    await spend(db, {
      at: '2026-04-02T05:10:00.000Z',
      cost: 10,
      provider_id: 'p-new',
      provider_slug: 'reused',
      integration_id: 'i-4',
      workspace_id: 'ws-2',
    })
    const since = '2026-04-01T00:00:00.000Z'
    expect(
      (await usageSince(db, {entity: 'integration', id: 'i-3/ws-2', workspace_id: 'ws-2'}, since)).cost_nanousd,
    ).toBe(1n)
    expect(
      (await usageSince(db, {entity: 'integration', id: 'i-4/ws-2', workspace_id: 'ws-2'}, since)).cost_nanousd,
    ).toBe(10n)
  })

  test('hours whose sums retention deleted are still counted, from the entries', async () => {
    await spend(db, {at: '2025-01-01T10:10:00.000Z', cost: 1, api_key_id: 'key-old'})
    await spend(db, {at: '2025-06-01T10:10:00.000Z', cost: 10, api_key_id: 'key-old'})
    await spend(db, {at: '2025-06-01T10:50:00.000Z', cost: 100, api_key_id: 'key-old'})
    await spend(db, {at: '2025-06-02T10:10:00.000Z', cost: 1000, api_key_id: 'key-old'})
    const key = {...KEY, id: 'key-old'}
    const before = await usageSince(db, key, '2025-01-01T00:00:00.000Z')
    const before_ms = Date.parse('2025-06-01T10:30:00.000Z')
    await keepFrom(db, 'hours', new Date(before_ms).toISOString())
    while (await deleteOlder(db, 'hours', before_ms));
    expect(before.cost_nanousd).toBe(1111n)
    expect(await usageSince(db, key, '2025-01-01T00:00:00.000Z')).toEqual(before)
    expect((await usageSince(db, key, '2025-06-01T10:20:00.000Z')).cost_nanousd).toBe(1100n)
    expect((await usageSince(db, key, '2025-06-01T11:00:00.000Z')).cost_nanousd).toBe(1000n)
  })

  test('sums beyond 2^53 are exact', async () => {
    for (let n = 0; n < 3; n++)
      await spend(db, {
        at: `2026-05-01T0${n}:00:00.000Z`,
        cost: Number.MAX_SAFE_INTEGER - n,
        api_key_id: 'key-9',
        tokens: 1,
      })
    const used = await usageSince(db, {...KEY, id: 'key-9'}, '2026-05-01T00:00:00.000Z')
    expect(used.cost_nanousd).toBe(3n * BigInt(Number.MAX_SAFE_INTEGER) - 3n)
  })
})

interface Spent
  extends Partial<
    Pick<LedgerEntriesTable, 'api_key_id' | 'workspace_id' | 'provider_id' | 'provider_slug' | 'integration_id'>
  > {
  readonly at: string
  readonly cost: number
  /** Prompt tokens; a third of what is counted unless said. */
  readonly tokens?: number
}

let calls = 0

/** An entry and its hour, as the flush writes them. */
async function spend(db: Db, {at, cost, tokens, ...scope}: Spent) {
  const who = {
    organisation_id: 'org',
    workspace_id: 'ws-1',
    api_key_id: 'key-1',
    provider: 'some',
    model: 'm',
    ...scope,
  }
  const used = {
    prompt_tokens: tokens ?? cost,
    completion_tokens: tokens === undefined ? cost * 2 : 0,
    cost_nanousd: cost,
    unpriced: 0,
  }
  const entry: Insertable<LedgerEntriesTable> = {
    call_id: `call-${++calls}`,
    attempt: 1,
    trace_id: 't',
    user_id: null,
    provider_id: null,
    provider_slug: null,
    integration_id: null,
    config_id: null,
    endpoint: 'chatComplete',
    admitted_at: at,
    settled_at: at,
    outcome: 'ok',
    status: 200,
    usage: '{}',
    usage_source: 'provider',
    delivered: 1,
    counter_keys: '[]',
    writer: 'w',
    chain: '',
    ...who,
    ...used,
  }
  await db.insertInto('traffic.ledger_entries').values(entry).execute()
  const {
    integration_id: _,
    provider_id: __,
    ...hourly
  } = who as typeof who & Pick<LedgerEntriesTable, 'integration_id' | 'provider_id'>
  const hour: UsageHourlyTable = {
    ...hourly,
    provider_slug: scope.provider_slug ?? '',
    hour: `${at.slice(0, 13)}:00:00.000Z`,
    model_key: hourly.model ?? '',
    requests: 1,
    failures: 0,
    ...used,
  }
  await db
    .insertInto('traffic.usage_hourly')
    .values(hour)
    .onConflict(conflict =>
      conflict
        .columns(['hour', 'workspace_id', 'api_key_id', 'provider_slug', 'provider', 'model_key'])
        .doUpdateSet(e => ({
          prompt_tokens: e('traffic.usage_hourly.prompt_tokens', '+', used.prompt_tokens),
          completion_tokens: e('traffic.usage_hourly.completion_tokens', '+', used.completion_tokens),
          cost_nanousd: e('traffic.usage_hourly.cost_nanousd', '+', used.cost_nanousd),
        })),
    )
    .execute()
}

async function seedCatalog(db: Db) {
  const at = '2026-01-01T00:00:00.000Z'
  const times = {created_at: at, last_updated_at: at}
  await db
    .insertInto('organisations')
    .values({id: 'org', slug: 'org', name: 'Org', ...times})
    .execute()
  for (const id of ['ws-1', 'ws-2']) {
    await db
      .insertInto('workspaces')
      .values({
        id,
        slug: id,
        organisation_id: 'org',
        name: id,
        description: null,
        icon: null,
        is_default: 0,
        status: 'active',
        defaults: null,
        usage_limits: null,
        rate_limits: null,
        ...times,
      })
      .execute()
  }
  for (const id of ['i-1', 'i-2', 'i-3', 'i-4'])
    await insertIntegration(db, integrationRow({id, organisation_id: 'org', ai_provider_id: 'some'}))
  const providers = [
    ['p-a', 'a', 'i-1', 'ws-1'],
    ['p-b', 'b', 'i-1', 'ws-1'],
    ['p-c', 'c', 'i-2', 'ws-1'],
    ['p-d', 'a', 'i-1', 'ws-2'],
    ['p-old', 'reused', 'i-3', 'ws-2'],
    ['p-new', 'reused', 'i-4', 'ws-2'],
  ] as const
  for (const [id, slug, integration_id, workspace_id] of providers) {
    await db
      .insertInto('providers')
      .values({
        id,
        slug,
        organisation_id: 'org',
        workspace_id,
        integration_id,
        name: slug,
        note: null,
        is_virtual_key: 0,
        usage_limits: null,
        rate_limits: null,
        tags: '{}',
        status: id === 'p-old' ? 'archived' : 'active',
        expires_at: null,
        last_reset_at: null,
        ...times,
      })
      .execute()
  }
}
