import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {bodyFinder} from '../../src/store/bodies/index.ts'
import type {Db} from '../../src/store/database.ts'
import {findLog, type LogFilter, listLogs, unpricedModels} from '../../src/store/logs.ts'
import {insertOrganisation} from '../../src/store/organisations.ts'
import {firstIdFrom} from '../../src/store/retention.ts'
import {insertWorkspace} from '../../src/store/workspaces.ts'
import {keepBodies} from '../support/bodies.ts'
import {insertHour, insertLog} from '../support/logs.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const PAGE = {current_page: 0, page_size: 100}
/** An id as rows of that moment have, which ends with a letter. */
const idAt = (letter: string, created_at: string) =>
  `${firstIdFrom(Date.parse(created_at))}-7000-8000-00000000000${letter}`
const ORGANISATION = {organisation_id: 'org'}

describe.each(KINDS)('rows of the log on %s', kind => {
  let opened: TestStore
  let db: Db
  beforeAll(async () => {
    opened = await testStore(kind)
    db = opened.store.db
    const at = '2026-01-01T00:00:00.000Z'
    const places = {org: ['ws-1', 'ws-2'], elsewhere: ['ws-9']}
    for (const [organisation_id, ids] of Object.entries(places)) {
      await insertOrganisation(db, {
        id: organisation_id,
        slug: organisation_id,
        name: organisation_id,
        created_at: at,
        last_updated_at: at,
      })
      const plain = {name: 'W', is_default: 0, status: 'active' as const, created_at: at, last_updated_at: at}
      const empty = {description: null, icon: null, defaults: null, usage_limits: null, rate_limits: null}
      for (const id of ids) await insertWorkspace(db, {id, slug: id, organisation_id, ...plain, ...empty})
    }
    await insertLog(db, {
      id: idAt('a', '2026-01-01T00:00:00.000Z'),
      created_at: '2026-01-01T00:00:00.000Z',
      model: 'm-1',
      cost_nanousd: 10,
      prompt_tokens: 5,
    })
    await insertLog(db, {
      id: idAt('c', '2026-01-02T00:00:00.000Z'),
      created_at: '2026-01-02T00:00:00.000Z',
      status: 500,
      api_key_id: 'key-2',
      metadata: '{"team":"blue","_user":"u"}',
    })
    await insertLog(db, {
      id: idAt('b', '2026-01-02T00:00:00.000Z'),
      created_at: '2026-01-02T00:00:00.000Z',
      workspace_id: 'ws-2',
      trace_id: 'other',
      provider_slug: 'prod',
      provider_id: 'p-1',
    })
    await insertLog(db, {
      id: idAt('d', '2026-01-03T00:00:00.000Z'),
      created_at: '2026-01-03T00:00:00.000Z',
      config_id: 'config-1',
      completion_tokens: 7,
      metadata: '{"team":"a \\"b\\" %_"}',
    })
    await insertLog(db, {
      id: idAt('x', '2026-01-03T00:00:00.000Z'),
      created_at: '2026-01-03T00:00:00.000Z',
      organisation_id: 'elsewhere',
      workspace_id: 'ws-9',
    })
  })
  afterAll(() => opened.close())

  const ids = async (filter: Partial<LogFilter>, page = PAGE) => {
    const {total, rows} = await listLogs(db, {...ORGANISATION, ...filter}, page)
    return {total, ids: rows.map(row => row.id.at(-1)).join('')}
  }

  test('come newest first, by id within a moment, in pages', async () => {
    expect(await ids({})).toEqual({total: 4, ids: 'dcba'})
    expect(await ids({}, {current_page: 1, page_size: 3})).toEqual({total: 4, ids: 'a'})
    expect(await ids({}, {current_page: 9, page_size: 3})).toEqual({total: 4, ids: ''})
  })

  test('are of one organisation, and of one workspace where one is named', async () => {
    expect(await ids({organisation_id: 'elsewhere'})).toEqual({total: 1, ids: 'x'})
    expect(await ids({workspace_id: 'ws-2'})).toEqual({total: 1, ids: 'b'})
    expect(await ids({workspace_id: 'ws-9'})).toEqual({total: 0, ids: ''})
    expect((await findLog(db, ORGANISATION, idAt('b', '2026-01-02T00:00:00.000Z')))?.provider_slug).toBe('prod')
    expect(
      await findLog(db, {...ORGANISATION, workspace_id: 'ws-1'}, idAt('b', '2026-01-02T00:00:00.000Z')),
    ).toBeUndefined()
    expect(await findLog(db, ORGANISATION, idAt('x', '2026-01-03T00:00:00.000Z'))).toBeUndefined()
  })

  test.each<[string, Partial<LogFilter>, string]>([
    [
      'a time, both ends included',
      {created_at: {least: '2026-01-01T00:00:00.000Z', most: '2026-01-02T00:00:00.000Z'}},
      'cba',
    ],
    ['a least total', {total_tokens: {least: 5}}, 'da'],
    ['a most total', {total_tokens: {most: 5}}, 'cba'],
    ['prompt tokens', {prompt_tokens: {least: 1}}, 'a'],
    ['completion tokens', {completion_tokens: {least: 7, most: 7}}, 'd'],
    ['cost', {cost_nanousd: {least: 10, most: 10}}, 'a'],
    ['models', {models: ['m-1', 'm-2']}, 'a'],
    [
      'provider and model in one',
      {
        provider_models: [
          {provider: 'openai', model: 'm-1'},
          {provider: 'other', model: 'gpt'},
        ],
      },
      'a',
    ],
    ['statuses', {statuses: [500, 404]}, 'c'],
    ['the slug of a provider', {providers: ['prod']}, 'b'],
    ['the id of a provider', {providers: ['p-1', 'p-2']}, 'b'],
    ['keys', {api_key_ids: ['key-2']}, 'c'],
    ['a trace', {trace_id: ['other']}, 'b'],
    ['a span', {span_id: `span-${idAt('d', '2026-01-03T00:00:00.000Z')}`}, 'd'],
    ['metadata, all of it', {metadata: {team: 'blue', _user: 'u'}}, 'c'],
    ['metadata that is not all there', {metadata: {team: 'blue', _user: 'v'}}, ''],
    ['metadata to the letter, with its quotes', {metadata: {team: 'a "b" %_'}}, 'd'],
    ['metadata by no pattern and no part', {metadata: {team: 'a "b" %%'}}, ''],
    ['metadata whatever is like it', {metadata: {team: 'Blue'}}, ''],
    ['two things at once', {statuses: [200], api_key_ids: ['key-2']}, ''],
  ])('are found by %s', async (_, filter, found) => {
    expect(await ids(filter)).toEqual({total: found.length, ids: found})
  })

  test('have bodies only where some were kept', async () => {
    const created_at = '2026-01-01T00:00:00.000Z'
    const find = bodyFinder(opened.options, db)
    await keepBodies(opened, {log_id: 'a', request_body: Buffer.from('{}')}, Date.parse(created_at) + 250)
    const kept = await find({id: 'a', created_at, last_byte_ms: 200})
    expect(Buffer.from(kept!.request_body!).toString()).toBe('{}')
    expect(await find({id: 'b', created_at, last_byte_ms: 200})).toBeUndefined()
  })

  test('models without a price are summed from the hours, the most used first', async () => {
    const hour = (at: number) => `2026-01-01T0${at}:00:00.000Z`
    await insertHour(db, {hour: hour(1), model: 'old', unpriced: 9})
    await insertHour(db, {hour: hour(2), model: 'rare', unpriced: 1})
    await insertHour(db, {hour: hour(2), model: 'often', unpriced: 2})
    await insertHour(db, {hour: hour(4), model: 'often', unpriced: 3, workspace_id: 'ws-2'})
    await insertHour(db, {hour: hour(5), model: 'often', unpriced: 0, requests: 8})
    await insertHour(db, {
      hour: hour(5),
      model: 'foreign',
      unpriced: 8,
      organisation_id: 'elsewhere',
      workspace_id: 'ws-9',
    })
    const since = '2026-01-01T02:59:00.000Z'
    const often = {provider: 'openai', model: 'often', requests: 5, last_seen: hour(4), units: [], parts: []}
    const rare = {provider: 'openai', model: 'rare', requests: 1, last_seen: hour(2), units: [], parts: []}
    expect(await unpricedModels(db, ORGANISATION, since, PAGE)).toEqual({total: 2, rows: [often, rare]})
    expect(await unpricedModels(db, ORGANISATION, since, {current_page: 1, page_size: 1})).toEqual({
      total: 2,
      rows: [rare],
    })
    expect((await unpricedModels(db, {...ORGANISATION, workspace_id: 'ws-2'}, since, PAGE)).rows).toEqual([
      {...often, requests: 3},
    ])
  })
})
