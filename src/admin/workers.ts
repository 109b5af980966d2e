import type {z} from 'zod'
import {list, listOf} from '../schema/paging.ts'
import {WorkerView} from '../schema/workers.ts'
import type {WorkersTable} from '../store/tables/traffic.ts'
import {listJobs} from '../store/workers.ts'
import {type OperationCall, operation} from './operation.ts'

/** The jobs in the background, of all processes that share the database. */
export const workers = [
  operation({
    id: 'workers.list',
    tag: 'Workers',
    method: 'GET',
    path: '/admin/workers',
    summary: 'List the jobs in the background: who does them, when, and what came of it',
    scopes: ['organisation_settings.read'],
    reply: listOf(WorkerView),
    handle: listed,
  }),
] as const

async function listed({app, db}: OperationCall) {
  const rows = await listJobs(db)
  const now_ms = app.now().getTime()
  return list({total: rows.length, rows}, row => view(row, now_ms))
}

function view(
  {name, holder, lease_until_ms, due_at_ms, started_at, duration_ms, runs, failures, error}: WorkersTable,
  now_ms: number,
) {
  const is_running = lease_until_ms !== null && lease_until_ms > now_ms
  const view: z.input<typeof WorkerView> = {
    name,
    holder,
    status: is_running ? 'running' : error === null ? 'waiting' : 'failing',
    last_run_at: started_at,
    duration_ms,
    next_run_at: new Date(Math.max(due_at_ms, now_ms)).toISOString(),
    runs,
    failures,
    last_error: error,
    object: 'worker',
  }
  return view
}
