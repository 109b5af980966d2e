import {isObject, parsedObject} from '../base/json-object.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import type {ReplayedRow} from '../store/logs-for-replay.ts'
import type {LogBodiesTable} from '../store/tables/traffic.ts'
import {readLogBody} from './log-bodies.ts'
import type {AdminServices} from './services.ts'

/** An answer of the log as JSON. */
export interface LoggedAnswer {
  readonly body: Readonly<Record<string, unknown>>
  /** The format that a stream was put together in. */
  readonly endpoint?: EndpointName
}

/** The answer as JSON, a stream's put together; null where it is not kept whole. */
export async function loggedAnswer(
  endpoint: EndpointName,
  {response_body, response_encoding}: LogBodiesTable,
): Promise<LoggedAnswer | null> {
  return answerIn(endpoint, response_body ? await readLogBody(response_body, response_encoding) : null)
}

/** The same of a body as the log shows it. */
export async function answerIn(endpoint: EndpointName, logged_body: unknown): Promise<LoggedAnswer | null> {
  if (typeof logged_body !== 'string')
    return isObject(logged_body) && !('base64' in logged_body) ? {body: logged_body} : null
  const {assemble, isStreamed} = await streams()
  // The log has a stream in the words of its provider, which the client's need not be.
  for (const words of [endpoint, ...WORDS]) {
    const answer = isStreamed(words) ? assemble(words, Buffer.from(logged_body)) : null
    const body = answer && parsedObject(answer.toString())
    if (body) return {body, endpoint: words}
  }
  return null
}

const WORDS: readonly EndpointName[] = ['chatComplete', 'messages', 'createModelResponse']

async function streams() {
  const [{assemble}, {isStreamed}] = await Promise.all([import('../cache/assemble.ts'), import('../cache/rules.ts')])
  return {assemble, isStreamed}
}

/** The bodies that are kept of these rows, by their ids. */
export async function bodiesOf(
  rows: readonly ReplayedRow[],
  {bodies, many_bodies}: Pick<AdminServices, 'bodies' | 'many_bodies'>,
): Promise<ReadonlyMap<string, LogBodiesTable>> {
  const kept = new Map<string, LogBodiesTable>()
  if (many_bodies) await many_bodies(rows, row => void kept.set(row.log_id, row))
  else
    for (const row of rows) {
      const one = await bodies(row)
      if (one) kept.set(row.id, one)
    }
  return kept
}
