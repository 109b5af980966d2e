import type {Command} from 'commander'
import type {z} from 'zod'
import type {WorkerView} from '../../src/schema/workers.ts'
import {withGateway} from '../connect.ts'
import {leaf} from '../options.ts'
import type {TableColumn} from '../table.ts'

type Row = z.output<typeof WorkerView>

const second = (at: string | null) => at?.slice(0, 19).replace('T', ' ')
const shortTime = (at: string | null) => at?.slice(5, 16).replace('T', ' ')

const COLUMNS: readonly TableColumn<Row>[] = [
  {title: 'name', value: row => row.name, whole: true},
  {title: 'status', value: row => row.status},
  {title: 'last run', value: row => second(row.last_run_at), short: row => shortTime(row.last_run_at)},
  {title: 'ms', value: row => row.duration_ms, align: 'right', optional: 1},
  {title: 'next run', value: row => second(row.next_run_at), short: row => shortTime(row.next_run_at)},
  {title: 'runs', value: row => row.runs, align: 'right', optional: 2},
  {title: 'failed', value: row => row.failures, align: 'right'},
  {title: 'holder', value: row => row.holder, whole: true, optional: 3},
  {title: 'last error', value: row => row.last_error, below: true},
]

/** `gateway workers`: the work beside calls. */
export function workers(): Command {
  return leaf('workers', 'List the jobs in the background, and what came of them', [
    'gateway workers',
    'gateway workers --json',
  ]).action((_: object, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.call('workers.list')
      gateway.print.list(reply, reply.data, COLUMNS)
    }),
  )
}
