import {describe, expect, test} from 'vitest'
import {tracesOf} from '../../src/store/analytics/traces.ts'
import type {LogFilter} from '../../src/store/log-filter.ts'
import {insertOrganisation} from '../../src/store/organisations.ts'
import {insertWorkspace} from '../../src/store/workspaces.ts'
import {callAt, openFlush} from '../support/flushed.ts'
import {KINDS, testStore} from '../support/stores.ts'

describe.each(KINDS)('traces on %s', kind => {
  test('come by their last call, those of one moment by id, each once, in pages, of a workspace as of its organisation', async () => {
    const database = await testStore(kind)
    const flush = await openFlush(database)
    const {db} = database.store
    const at = '2026-01-01T00:00:00.000Z'
    const {organisation_id, workspace_id} = callAt({at})
    await insertOrganisation(db, {id: organisation_id, slug: 'o', name: 'O', created_at: at, last_updated_at: at})
    const plain = {name: 'W', is_default: 0, status: 'active' as const, created_at: at, last_updated_at: at}
    const empty = {description: null, icon: null, defaults: null, usage_limits: null, rate_limits: null}
    await insertWorkspace(db, {id: workspace_id, slug: 'w', organisation_id, ...plain, ...empty})
    // t00 has a call in every minute of an hour, beside one of t01 to t20 in turn, and forty more at its end
    const calls = Array.from({length: 60}, (_, n) => {
      const at = new Date(Date.parse('2026-03-04T05:00:00.000Z') + n * 60_000).toISOString()
      const trace_id = `t${String((n % 20) + 1).padStart(2, '0')}`
      return [
        callAt({at, trace_id, cost_nanousd: 5, log: {response_status: n % 2 ? 429 : 200}}),
        callAt({at, trace_id: 't00'}),
      ]
    }).flat()
    const last = Array.from({length: 40}, (_, n) =>
      callAt({at: `2026-03-04T05:59:${n + 10}.000Z`, trace_id: 't00', model: 'other'}),
    )
    await flush.apply(...calls, ...last)
    const names = async (filter: Partial<LogFilter>, current_page: number, page_size: number) => {
      const {total, rows} = await tracesOf({kind, db}, {organisation_id, ...filter}, {current_page, page_size})
      return [total, ...rows.map(({trace_id, requests}) => `${trace_id} ${requests}`)]
    }
    const between = {created_at: {least: '2026-03-04T05:10:00.000Z', most: '2026-03-04T05:12:59.999Z'}}
    for (const scope of [{}, {workspace_id}]) {
      expect(await names(scope, 0, 3)).toEqual([21, 't00 100', 't20 3', 't19 3'])
      expect(await names(scope, 1, 3)).toEqual([21, 't18 3', 't17 3', 't16 3'])
      expect(await names(scope, 2, 10)).toEqual([21, 't01 3'])
      expect(await names(scope, 3, 10)).toEqual([21])
      expect(await names({...scope, statuses: [429]}, 0, 2)).toEqual([10, 't20 3', 't18 3'])
      expect(await names({...scope, ...between}, 0, 9)).toEqual([4, 't00 3', 't13 1', 't12 1', 't11 1'])
      expect(await names({...scope, statuses: [404]}, 0, 9)).toEqual([0])
    }
    await flush.close()
    await database.close()
  })
})
