import type {Exported} from '../../schema/log-exports.ts'
import type {LogRow} from '../../store/logs.ts'
import type {LogBodiesTable} from '../../store/tables/traffic.ts'
import {readLogBody} from '../log-bodies.ts'
import {metricsOf} from '../logs.ts'

/** The fields of a row that were requested, in the order of the request. Bodies that are not kept are null. */
export async function exportedRow(
  row: LogRow,
  fields: readonly Exported[],
  bodies: LogBodiesTable | undefined,
): Promise<object> {
  const metrics = metricsOf(row, {log_store_file_path_format: 'v1'})
  const {key, value} = metrics.metadata
  const result: Record<string, unknown> = {}
  for (const field of fields) {
    if (field === 'request') result.request = bodies?.request_body ? await readLogBody(bodies.request_body, null) : null
    else if (field === 'response')
      result.response = bodies?.response_body ? await readLogBody(bodies.response_body, bodies.response_encoding) : null
    else if (field === 'metadata') result.metadata = Object.fromEntries(key.map((name, at) => [name, value[at]]))
    else result[field] = metrics[field]
  }
  return result
}
