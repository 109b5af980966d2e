import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {isObject, parseJson} from '../base/json-object.ts'
import type {CheckServices} from '../guardrails/check-services.ts'
import type {Hook} from '../guardrails/hook.ts'
import type {JsonValue} from '../guardrails/json.ts'
import type {TriedCall, TriedSide} from '../guardrails/trial.ts'
import {isAllowed} from '../identity/access.ts'
import {VENDOR_OPERATIONS} from '../providers/vendor-operations/table.ts'
import {ENDPOINTS, type EndpointName} from '../schema/endpoints.ts'
import {
  GuardrailCoverage,
  GuardrailCovered,
  GuardrailEvaluate,
  GuardrailEvaluated,
  GuardrailTest,
  GuardrailTested,
  type NamedGuardrail,
} from '../schema/guardrail-trials.ts'
import {SIDES, type Side} from '../schema/guardrails.ts'
import {findGuardrails} from '../store/guardrails.ts'
import {type ReplayedRow, replayedRows} from '../store/logs-for-replay.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import type {LogBodiesTable} from '../store/tables/traffic.ts'
import {checked, checksKnown, loadChecks, whole} from './guardrail-checks.ts'
import {evaluation, type JudgedCall} from './guardrail-evaluation.ts'
import {readLogBody} from './log-bodies.ts'
import {bodiesOf, loggedAnswer} from './logged-answers.ts'
import {type OperationCall, operation} from './operation.ts'
import type {AdminServices} from './services.ts'
import {type CallerScope, found, invalid, onlyOf, workspaceOf} from './tenancy.ts'

const tag = 'Guardrails'

/**
 * The verdicts of a guardrail: on a call that is not made, and on calls that were. Services that its checks need are
 * called.
 */
export const guardrailTrials = [
  operation({
    id: 'guardrails.test',
    tag,
    method: 'POST',
    path: '/guardrails/test',
    summary: 'Say what a guardrail would make of a call, and of its answer; no model is asked',
    scopes: ['guardrails.read'],
    only_reads: true,
    body: GuardrailTest,
    reply: GuardrailTested,
    ready: loadChecks,
    handle: tested,
  }),
  operation({
    id: 'guardrails.evaluate',
    tag,
    method: 'POST',
    path: '/guardrails/evaluate',
    summary: 'Say what a guardrail would have made of logged calls, a page at a time; needs the scope `logs.view` too',
    scopes: ['guardrails.read'],
    only_reads: true,
    body: GuardrailEvaluate,
    reply: GuardrailEvaluated,
    ready: loadChecks,
    handle: evaluated,
  }),
  operation({
    id: 'guardrails.coverage',
    tag,
    method: 'POST',
    path: '/guardrails/coverage',
    summary: 'Say what a guardrail judges of each operation of a provider, what it skips, and why',
    scopes: ['guardrails.read'],
    only_reads: true,
    body: GuardrailCoverage,
    reply: GuardrailCovered,
    ready: loadChecks,
    handle: covered,
  }),
] as const

async function covered(call: OperationCall<undefined, undefined, typeof GuardrailCoverage>) {
  const {hook, running} = await opened(call, await workspaceOf(call, call.body.workspace_id), call.body.guardrail)
  const {coveredBy, coveredRows, OPERATIONS} = checksKnown()
  const {unreadable_bodies: bodies, guardrail_max_body_mb: over_mb} = call.app.settings
  const vendors = VENDOR_OPERATIONS.map(({name, method, path, endpoint}) => ({
    name: endpoint ?? ('proxy' as const),
    operation: name,
    method,
    path,
  }))
  const sidesOf = (each: Pick<(typeof OPERATIONS)[number], 'name' | 'method'>) =>
    SIDES.map(side => {
      const {reads, judged, skipped} = coveredBy(hook, each, side)
      return {side, reads, judged: [...judged], skipped: [...skipped]}
    })
  const rowsOf = (each: {readonly method: string; readonly path: string}) => {
    const rows = coveredRows(hook, each)
    return rows && {rows: [...rows]}
  }
  return {
    object: 'guardrail_coverage' as const,
    guardrail: running,
    operations: [...OPERATIONS.map(each => ({...each, operation: each.name as string})), ...vendors].map(each => ({
      ...{operation: each.operation, method: each.method, path: each.path},
      sides: sidesOf(each),
      ...rowsOf(each),
    })),
    unreadable: {bodies, over_mb},
  }
}

async function tested(call: OperationCall<undefined, undefined, typeof GuardrailTest>) {
  const {guardrail, request, response, workspace_id} = call.body
  const workspace = await workspaceOf(call, workspace_id)
  const {hook, running} = await opened(call, workspace, guardrail)
  const world = await worldOf(call.app, workspace)
  const body = readBody(request.body)
  const headers = Object.fromEntries(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const tried: TriedCall = {
    endpoint: checksKnown().endpointAt(request.method, request.path, ENDPOINTS),
    provider: '',
    model: textIn(body, 'model'),
    metadata: metadataOf(headers),
    headers,
    trace: {trace_id: newId(), span_id: newId()},
    is_streaming: isObject(body) && body.stream === true,
    request: body,
    response: response ? {status: response.status, body: readBody(response.body)} : null,
  }
  const sides: TriedSide[] = []
  for (const side of response ? SIDES : (['input'] as const))
    sides.push(await checksKnown().trySide(hook, side, tried, world))
  const results = sides.map(({result, headers, ...each}) => ({...each, headers: {...headers}, result: {...result}}))
  return {
    object: 'guardrail_test' as const,
    guardrail: running,
    is_denied: sides.some(({outcome}) => outcome === 'denied'),
    sides: results,
  }
}

/** So many calls are judged side by side: a check may wait for a service. */
const AT_A_TIME = 8

async function evaluated(call: OperationCall<undefined, undefined, typeof GuardrailEvaluate>) {
  const {app, db, body, now} = call
  if (!isAllowed(call.actor, ['logs.view'])) throw new Refusal('scope.missing', {scope: 'logs.view'})
  const workspace = await workspaceOf(call, body.workspace_id)
  const {hook, running} = await opened(call, workspace, body.guardrail)
  const world = await worldOf(app, workspace)
  await app.settled?.()
  const range = {workspace_id: workspace.id, user_id: onlyOf(call.actor), since: body.since, before: body.before ?? now}
  const rows = await replayedRows(db, range, body.limit)
  const calls = [...Map.groupBy(rows, row => row.call_id).values()].map(([last]) => last!)
  const guarded = calls.filter(({endpoint}) => checksKnown().isGuarded(endpoint as EndpointName, 'input'))
  const bodies = await bodiesOf(guarded, app)
  const sums = evaluation(hook)
  const sides = body.sides ?? SIDES
  for (let at = 0; at < guarded.length; at += AT_A_TIME) {
    const some = guarded.slice(at, at + AT_A_TIME)
    for (const judged of await Promise.all(some.map(row => judge(row, bodies.get(row.id), {hook, sides, world}))))
      sums.add(judged)
    await new Promise<void>(done => setImmediate(done))
  }
  return {
    object: 'guardrail_evaluation' as const,
    guardrail: running,
    calls: calls.length,
    left_out: calls.length - guarded.length,
    ...sums.sums(),
    next: rows.length < body.limit ? null : rows.at(-1)!.created_at,
  }
}

interface Judging {
  readonly hook: Hook
  readonly sides: readonly Side[]
  readonly world: CheckServices
}

/** The verdict of the guardrail on a logged call; `lacks` when a body that it would judge is not kept whole. */
async function judge(
  row: ReplayedRow,
  bodies: LogBodiesTable | undefined,
  {hook, sides, world}: Judging,
): Promise<JudgedCall> {
  const request = bodies?.request_body ? await readLogBody(bodies.request_body, null) : null
  if (!bodies || !isObject(request)) return {log_id: row.id, tried: [], lacks: true}
  const has_output = sides.includes('output') && checksKnown().isGuarded(row.endpoint as EndpointName, 'output')
  const is_answered = has_output && (row.status === 200 || row.status === 246)
  const answer = is_answered ? await answerOf(row, bodies) : null
  const call: TriedCall = {
    endpoint: row.endpoint as EndpointName,
    provider: row.provider,
    model: textIn(request, 'model') ?? row.model,
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    headers: JSON.parse(bodies.request_headers) as Record<string, string>,
    trace: {trace_id: row.call_id, span_id: row.id},
    is_streaming: row.is_stream,
    request: request as JsonValue,
    response: answer,
  }
  const tried: TriedSide[] = []
  for (const side of sides)
    if (side === 'input' || call.response) tried.push(await checksKnown().trySide(hook, side, call, world))
  return {log_id: row.id, tried, lacks: is_answered && answer === null}
}

async function answerOf(row: ReplayedRow, bodies: LogBodiesTable): Promise<TriedCall['response']> {
  const found = await loggedAnswer(row.endpoint as EndpointName, bodies)
  if (!found) return null
  const {body, endpoint} = found
  return {status: 200, body: body as JsonValue, ...(endpoint !== undefined && {endpoint})}
}

/** The guardrail that is meant, ready to run in a workspace. */
async function opened(
  {app, actor, db}: CallerScope & {readonly app: AdminServices},
  workspace: WorkspacesTable,
  named: NamedGuardrail,
) {
  const {hookOf, unsavedHook} = checksKnown()
  const place = {organisation_id: actor.organisation_id, workspace_id: workspace.id}
  const row =
    typeof named === 'string'
      ? found((await findGuardrails(db, {...place, refs: [named]}, app.seal))[0], 'guardrail')
      : undefined
  const hook =
    typeof named === 'string' ? row && hookOf(row) : unsavedHook(checked(app, named.checks), whole(named.actions ?? {}))
  if (!hook) throw invalid('guardrail', 'has no check that is switched on')
  return {hook, running: {id: row?.id ?? null, slug: row?.slug ?? null, version_id: row?.version_id ?? null}}
}

/** The composition root's services for running checks. */
function worldOf({check_services}: AdminServices, {id}: WorkspacesTable): Promise<CheckServices> {
  if (!check_services) throw new Error('this administration was put together without a way out')
  return check_services(id)
}

function readBody(value: unknown): JsonValue {
  if (typeof value !== 'string') return (value ?? null) as JsonValue
  try {
    return parseJson(value) as JsonValue
  } catch {
    return null
  }
}

function metadataOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const metadata = readBody(headers['x-gateway-metadata'] ?? headers['x-portkey-metadata'] ?? '{}')
  if (!isObject(metadata)) throw invalid('request.headers', 'x-gateway-metadata is no JSON object')
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

function textIn(body: unknown, key: string): string | null {
  return isObject(body) && typeof body[key] === 'string' ? body[key] : null
}
