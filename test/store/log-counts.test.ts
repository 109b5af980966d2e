import {afterEach, describe, expect, test} from 'vitest'
import {countLogs} from '../../src/store/log-counts.ts'
import {type LogFilter, listLogs} from '../../src/store/logs.ts'
import {insertOrganisation} from '../../src/store/organisations.ts'
import {deleteOlder} from '../../src/store/retention.ts'
import {keepFrom} from '../../src/store/retention-start.ts'
import {insertWorkspace} from '../../src/store/workspaces.ts'
import {callAt, openFlush} from '../support/flushed.ts'
import {KINDS, testStore} from '../support/stores.ts'

let opened: {close(): Promise<void>}[] = []
afterEach(async () => {
  for (const each of opened.reverse()) await each.close()
  opened = []
})

async function open(kind: 'sqlite' | 'postgres') {
  const database = await testStore(kind)
  opened.push(database)
  const flush = await openFlush(database)
  opened.push(flush)
  const {db} = database.store
  const at = '2026-01-01T00:00:00.000Z'
  const {organisation_id, workspace_id} = callAt({at})
  await insertOrganisation(db, {id: organisation_id, slug: 'o', name: 'O', created_at: at, last_updated_at: at})
  const plain = {name: 'W', is_default: 0, status: 'active' as const, created_at: at, last_updated_at: at}
  const empty = {description: null, icon: null, defaults: null, usage_limits: null, rate_limits: null}
  await insertWorkspace(db, {id: workspace_id, slug: 'w', organisation_id, ...plain, ...empty})
  // every ten minutes of four hours, by two models, of which one fails
  const calls = Array.from({length: 24}, (_, n) => {
    const at = new Date(Date.parse('2026-03-04T05:00:00.000Z') + n * 600_000).toISOString()
    return callAt({
      at,
      model: n % 2 ? 'odd' : 'even',
      log: {response_status: n % 2 ? 429 : 200, metadata: {team: n % 3 ? 'blue' : 'red'}},
    })
  })
  await flush.apply(...calls)
  return {
    db,
    flush,
    count: (filter: Partial<LogFilter>) => countLogs(db, {organisation_id, ...filter}),
    organisation_id,
    workspace_id,
  }
}

const between = (least: string, most: string) => ({
  created_at: {least: `2026-03-04T${least}.000Z`, most: `2026-03-04T${most}.999Z`},
})

describe.each(KINDS)('rows of the log are counted on %s', kind => {
  test('that a filter finds', async () => {
    const {count} = await open(kind)
    const finds: readonly (readonly [Partial<LogFilter>, number])[] = [
      [{}, 24],
      [{statuses: [429]}, 12],
      [{models: ['even', 'odd'], statuses: [200]}, 12],
      [{metadata: {team: 'red'}}, 8],
      [{...between('05:00:00', '05:59:59')}, 6],
      [{...between('05:10:00', '07:09:59'), statuses: [429]}, 6],
      [{...between('05:10:00', '05:20:00')}, 2],
      [{created_at: {least: '2026-03-04T05:30:00.000Z'}}, 21],
      [{created_at: {most: '2026-03-04T06:00:00.000Z'}}, 7],
      [{...between('05:20:00', '08:09:59'), metadata: {team: 'red'}}, 6],
      [{organisation_id: 'elsewhere'}, 0],
    ]
    for (const [filter, found] of finds) expect([filter, await count(filter)]).toEqual([filter, found])
  })

  test('from the sums of whole hours, where these know what is named', async () => {
    const {db, count} = await open(kind)
    await db
      .updateTable('traffic.log_hourly')
      .set({requests: 100})
      .where('hour', '=', '2026-03-04T06:00:00.000Z')
      .execute()
    expect(await count({})).toBe(18 + 200)
    expect(await count({...between('06:00:00', '06:59:58')})).toBe(6)
    expect(await count({metadata: {team: 'red'}})).toBe(8)
  })

  test('as they are there when rows and sums are kept for different times', async () => {
    const {db, count} = await open(kind)
    await keepFrom(db, 'logs', '2026-03-04T05:30:00.000Z')
    while (await deleteOlder(db, 'logs', Date.parse('2026-03-04T05:30:00.000Z')));
    expect([await count({}), await count({statuses: [429]})]).toEqual([21, 11])
    await keepFrom(db, 'hours', '2026-03-04T07:00:00.000Z')
    while (await deleteOlder(db, 'hours', Date.parse('2026-03-04T07:00:00.000Z')));
    expect([await count({}), await count({statuses: [429]})]).toEqual([21, 11])
  })

  test('once a day where no sum knows the filter, and anew when a row came or rows may be deleted', async () => {
    const {db, count, flush} = await open(kind)
    const red = {metadata: {team: 'red'}}
    const times = [
      between('05:00:00', '08:59:59'),
      {},
      {created_at: {least: '2026-03-04T05:00:00.001Z'}},
      between('08:00:00', '08:59:59'),
    ]
    const counts = () => Promise.all(times.map(time => count({...red, ...time})))
    expect(await counts()).toEqual([8, 8, 7, 2])
    // a day is not read again while the sums have the same of it
    await db
      .updateTable('traffic.logs')
      .set({metadata: '{}'})
      .where('created_at', '>=', '2026-03-04T08:00:00.000Z')
      .execute()
    expect(await counts()).toEqual([8, 8, 7, 2])
    const late = {log: {metadata: {team: 'red'}}}
    await flush.apply(
      callAt({at: '2026-03-04T06:30:00.000Z', ...late}),
      callAt({at: '2026-03-05T06:30:00.000Z', ...late}),
    )
    expect(await counts()).toEqual([7, 8, 7, 2])
    await flush.apply(callAt({at: '2026-03-04T08:30:00.000Z', ...late}))
    expect(await counts()).toEqual([8, 9, 8, 1])
    await keepFrom(db, 'logs', '2026-03-05T00:00:00.000Z')
    while (await deleteOlder(db, 'logs', Date.parse('2026-03-05T00:00:00.000Z')));
    expect(await counts()).toEqual([0, 1, 1, 0])
  })

  test('of users and of an organisation, page by page, whatever no sum knows', async () => {
    const {db, organisation_id, workspace_id} = await open(kind)
    const page = async (filter: Partial<LogFilter>, current_page: number, page_size: number) => {
      const {total, rows} = await listLogs(
        db,
        {organisation_id, metadata: {team: 'red'}, ...filter},
        {current_page, page_size},
      )
      return [total, ...rows.map(({created_at}) => created_at.slice(11, 16))]
    }
    for (const scope of [{}, {workspace_id}]) {
      expect(await page(scope, 0, 8)).toEqual([
        8,
        '08:30',
        '08:00',
        '07:30',
        '07:00',
        '06:30',
        '06:00',
        '05:30',
        '05:00',
      ])
      expect(await page(scope, 0, 3)).toEqual([8, '08:30', '08:00', '07:30'])
      expect(await page(scope, 2, 3)).toEqual([8, '05:30', '05:00'])
      expect(await page(scope, 3, 3)).toEqual([8])
      expect(await page({...scope, ...between('05:10:00', '06:10:00')}, 0, 3)).toEqual([2, '06:00', '05:30'])
      expect(await page({...scope, user_ids: ['nobody']}, 0, 3)).toEqual([0])
    }
  })

  test('and a list ends with the last of them', async () => {
    const {db, organisation_id} = await open(kind)
    const page = async (current_page: number) =>
      (await listLogs(db, {organisation_id, statuses: [429]}, {current_page, page_size: 5})).rows.map(({created_at}) =>
        created_at.slice(11, 16),
      )
    expect(await page(0)).toEqual(['08:50', '08:30', '08:10', '07:50', '07:30'])
    expect(await page(2)).toEqual(['05:30', '05:10'])
    expect(await page(3)).toEqual([])
  })
})
