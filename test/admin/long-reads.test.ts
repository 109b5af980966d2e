import {expect, onTestFinished, test} from 'vitest'
import {openReadOnly} from '../../src/store/dialect/read-only.ts'
import {remoteSqlite} from '../../src/store/dialect/remote.ts'
import {startAdmin} from '../support/admin.ts'

const TIME = 'time_of_generation_min=2026-03-01T00:00:00Z&time_of_generation_max=2026-03-04T23:59:59.999Z'

test('what reads many rows is asked of the reader, not of the connection that calls wait for', async () => {
  const asked: string[] = []
  const admin = await startAdmin({
    readsOf(folder) {
      const {all: read} = openReadOnly({folder})
      return remoteSqlite(async (sql, parameters) => {
        asked.push(sql)
        return read(sql, parameters)
      })
    },
  })
  onTestFinished(() => admin.close())
  const questions = [
    [`/v1/analytics/graphs/cost?${TIME}`, 'log_hourly'],
    [`/v1/analytics/graphs/users?${TIME}`, 'logs'],
    [`/v1/analytics/groups/model?${TIME}`, 'log_hourly'],
    ['/v1/logs', 'logs'],
    ['/v1/traces', 'logs'],
    ['/v1/admin/usage?by=model&since=2026-02-01T00:00:00Z', 'usage_hourly'],
  ] as const
  for (const [path, table] of questions) {
    asked.length = 0
    const {status} = await admin.asAdmin('GET', path)
    const is_read = asked.some(sql => sql.includes(`"traffic"."${table}"`))
    expect([path, status, is_read]).toEqual([path, 200, true])
  }
})
