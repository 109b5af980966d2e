import type {IncomingHttpHeaders} from 'node:http'
import {isObject, parseJson} from '../base/json-object.ts'
import type {SemanticText} from '../cache/semantic/text.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import {type ReplayedRow, replayedRows} from '../store/logs-for-replay.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import type {LogBodiesTable} from '../store/tables/traffic.ts'
import {readLogBody} from './log-bodies.ts'
import {bodiesOf} from './logged-answers.ts'
import type {OperationCall} from './operation.ts'
import {onlyOf} from './tenancy.ts'

/** A logged call whose text the semantic cache would have compared. */
export interface LoggedPrompt {
  readonly row: ReplayedRow
  readonly bodies: LogBodiesTable
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
  readonly text: SemanticText
}

export interface PromptPage {
  readonly calls: number
  readonly left_out: number
  readonly without_body: number
  readonly prompts: readonly LoggedPrompt[]
  readonly next: string | null
}

const ENDPOINTS: ReadonlySet<string> = new Set<EndpointName>([
  'chatComplete',
  'complete',
  'messages',
  'createModelResponse',
])
const HITS: ReadonlySet<string | null> = new Set(['HIT', 'SEMANTIC HIT'])
const MAX_BODY_BYTES = 256 << 10

/** One page of the calls of a workspace that a provider answered, as far as their bodies are kept, the newest first. */
export async function loggedPrompts(
  {app, actor, db, now}: Pick<OperationCall, 'app' | 'actor' | 'db' | 'now'>,
  workspace: WorkspacesTable,
  {since, before = now, limit}: {readonly since: string; readonly before?: string | undefined; readonly limit: number},
  options: {readonly ignores_system?: boolean} = {},
): Promise<PromptPage> {
  const {semanticText} = await import('../cache/semantic/text.ts')
  await app.settled?.()
  const range = {workspace_id: workspace.id, user_id: onlyOf(actor), since, before}
  const rows = await replayedRows(app.reads ?? db, range, limit)
  const calls = [...Map.groupBy(rows, row => row.call_id).values()].map(([last]) => last!)
  const answered = calls.filter(
    ({endpoint, status, outcome, cache_status}) =>
      ENDPOINTS.has(endpoint) && status === 200 && outcome === 'ok' && !HITS.has(cache_status),
  )
  const kept = await bodiesOf(answered, app)
  const prompts: LoggedPrompt[] = []
  let without_body = 0
  for (const row of answered) {
    const bodies = kept.get(row.id)
    const body = bodies?.request_body ? await readLogBody(bodies.request_body, null) : null
    if (!bodies || !isObject(body)) {
      without_body++
      continue
    }
    const is_short = bodies.request_body!.length <= MAX_BODY_BYTES
    const text = is_short ? semanticText(row.endpoint as EndpointName, body, options) : null
    if (text) prompts.push({row, bodies, body, headers: headersIn(bodies.request_headers), text})
  }
  return {
    calls: calls.length,
    left_out: calls.length - prompts.length - without_body,
    without_body,
    prompts,
    next: rows.length < limit ? null : rows.at(-1)!.created_at,
  }
}

function headersIn(text: string): IncomingHttpHeaders {
  const headers = parseJson(text)
  if (!isObject(headers)) return {}
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name.toLowerCase(), value] as const] : [],
  )
  return Object.fromEntries(pairs)
}
