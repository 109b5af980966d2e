import {expect, test} from 'vitest'
import {factsOf, latenciesOf} from '../../src/store/analytics/facts.ts'
import {usersOf} from '../../src/store/analytics/people.ts'
import {openReadOnly} from '../../src/store/dialect/read-only.ts'
import {remoteSqlite} from '../../src/store/dialect/remote.ts'
import {countLogs} from '../../src/store/log-counts.ts'
import type {LogFilter} from '../../src/store/log-filter.ts'
import {testStore} from '../support/stores.ts'

/** How SQLite would read `traffic.logs` for each statement that `work` runs. */
async function plansOf(work: (db: ReturnType<typeof remoteSqlite>) => Promise<unknown>): Promise<string[]> {
  const {store, folder, close} = await testStore('sqlite')
  // no sum says that there is nothing to be counted
  await store.db.updateTable('traffic.meta').set({value: '9999'}).where('key', '=', 'log_hourly_from').execute()
  const {all: read} = openReadOnly({folder})
  const plans: string[] = []
  const db = remoteSqlite(async (statement, parameters) => {
    const steps = read(`explain query plan ${statement}`, parameters) as {detail: string}[]
    plans.push(...steps.map(({detail}) => detail).filter(detail => /\blogs\b/.test(detail)))
    return read(statement, parameters)
  })
  await work(db)
  await close()
  return plans
}

test.each<Partial<LogFilter>>([
  {metadata: {team: 'blue'}},
  {user_ids: ['user-1']},
  {cost_nanousd: {least: 1}},
  {total_tokens: {most: 9}, workspace_id: 'ws-1'},
  {metadata: {team: 'blue'}, models: ['gpt'], statuses: [429], workspace_id: 'ws-1'},
])('rows that %j finds are counted and summed by their index alone', async more => {
  const created_at = {least: '2026-03-01T00:00:00.000Z', most: '2026-03-03T23:59:59.999Z'}
  const filter: LogFilter = {organisation_id: 'org', created_at, ...more}
  const plans = await plansOf(async db => {
    const reader = {kind: 'sqlite', db} as const
    await factsOf(reader, filter, 'day')
    await latenciesOf(reader, filter, 'day')
    await usersOf(reader, filter, 'all')
    await countLogs(db, filter)
  })
  expect(plans).toHaveLength(3 + 3 + 1 + 1)
  for (const plan of plans)
    expect(plan).toMatch(/USING COVERING INDEX logs_by_time \(workspace_id=\? AND created_at>\? AND created_at<\?\)/)
})
