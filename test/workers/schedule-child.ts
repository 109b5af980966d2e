import {sql} from 'kysely'
import {createLog} from '../../src/base/log.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import type {PostgresOptions} from '../../src/store/dialect/postgres.ts'
import {startSchedule} from '../../src/workers/schedule.ts'
import {say} from '../support/say.ts'

/**
 * Runs jobs on a shared database until it is killed. Arguments: the database's options as JSON, the name of this
 * process, `hangs`.
 */
const [options, holder, hangs] = process.argv.slice(2) as [string, string, string?]
const store = await openStore({kind: 'postgres', ...(JSON.parse(options) as PostgresOptions)})
const EVERY_MS = 50
const job = (name: 'budgets' | 'alerts') => ({
  name,
  every_ms: EVERY_MS,
  async run({now_ms}: {now_ms: number}) {
    await sql`insert into ran (name, period, holder) values (${name}, ${Math.floor(now_ms / EVERY_MS)}, ${holder})`.execute(
      store.db,
    )
    say(name)
    if (hangs) await new Promise(() => {})
  },
})
startSchedule({
  jobs: [job('budgets'), job('alerts')],
  store,
  holder,
  log: createLog('silent', 'gateway'),
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  lease_ms: 300,
})
