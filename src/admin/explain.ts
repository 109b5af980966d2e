import {Refusal} from '../base/errors.ts'
import {parseJson} from '../base/json-object.ts'
import {isAllowed} from '../identity/access.ts'
import {workspaceWords} from '../identity/model-lists.ts'
import {ExplainCreate, Explanation, type ImaginedCaller} from '../schema/explanations.ts'
import {type LoggedCall, labelOf, Replay, ReplayCreate, type Replayer, type ReplayMove} from '../schema/replays.ts'
import {type ReplayedRow, replayedRows} from '../store/logs-for-replay.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import type {LogBodiesTable} from '../store/tables/traffic.ts'
import {type OperationCall, operation} from './operation.ts'
import type {AdminServices} from './services.ts'
import {onlyOf, workspaceOf} from './tenancy.ts'

const tag = 'Configs'

/** The effect of a config: on a call that is not made, and on calls that were. */
export const explain = [
  operation({
    id: 'configs.explain',
    tag,
    method: 'POST',
    path: '/configs/explain',
    summary: 'Say what would become of a call, and why; nothing is sent',
    scopes: ['configs.read'],
    only_reads: true,
    body: ExplainCreate,
    reply: Explanation,
    handle: explained,
  }),
  operation({
    id: 'configs.replay',
    tag,
    method: 'POST',
    path: '/configs/replay',
    summary:
      'Say which logged calls a config would have sent elsewhere, a page at a time; needs the scope `logs.list` too',
    scopes: ['configs.read'],
    only_reads: true,
    body: ReplayCreate,
    reply: Replay,
    handle: replayed,
  }),
] as const

async function explained(call: OperationCall<undefined, undefined, typeof ExplainCreate>) {
  const {workspace_id, ...request} = call.body
  const workspace = await workspaceOf(call, workspace_id)
  return there(call.app.explain)(request, callerOf(workspace))
}

async function replayed(call: OperationCall<undefined, undefined, typeof ReplayCreate>) {
  const {app, db, body, now} = call
  if (!isAllowed(call.actor, ['logs.list'])) throw new Refusal('scope.missing', {scope: 'logs.list'})
  const workspace = await workspaceOf(call, body.workspace_id)
  const config = typeof body.config === 'string' ? body.config : JSON.stringify(body.config)
  const replayer = await there(app.replay)(config, callerOf(workspace))
  await app.settled?.()
  const range = {workspace_id: workspace.id, user_id: onlyOf(call.actor), since: body.since, before: body.before ?? now}
  const rows = await replayedRows(db, range, body.limit)
  const page = await replay(callsOf(rows), replayer, app)
  return {object: 'replay' as const, ...page, next: rows.length < body.limit ? null : rows.at(-1)!.created_at}
}

/** Services that the composition root leaves out where there is no data to ask about. */
function there<T>(service: T | undefined): T {
  if (service === undefined) throw new Error('this administration was put together without a data plane')
  return service
}

function callerOf({id, organisation_id, slug, name, defaults, models}: WorkspacesTable): ImaginedCaller {
  const {metadata, config_id} = parseJson(defaults ?? '{}') as {
    metadata?: Record<string, string>
    config_id?: string | null
  }
  return {
    organisation_id,
    workspace_id: id,
    workspace_slug: slug,
    metadata: metadata ?? {},
    config_id: config_id || null,
    models: {whose: workspaceWords(name), column: models ?? null},
  }
}

const MAX_EXAMPLES = 3
/** Other work of this process is let in after so many calls. */
const AT_A_TIME = 50

async function replay(calls: readonly ReplayedCall[], replayer: Replayer, app: AdminServices) {
  const moves = new Map<string, ReplayMove>()
  const sums = {calls: 0, changed: 0, left_out: 0, without_body: 0}
  const bodies = replayer.reads_bodies ? await bodiesOf(calls, app) : NO_BODIES
  for (const [index, {call, from, is_hit}] of calls.entries()) {
    if (index % AT_A_TIME === AT_A_TIME - 1) await new Promise<void>(done => setImmediate(done))
    if (from === null) {
      sums.left_out++
      continue
    }
    const body = bodies.get(call.id) ?? null
    sums.calls++
    if (replayer.reads_bodies && body === null) sums.without_body++
    const {to, by_lot} = await replayer.decide({...call, body})
    if (to === from || (is_hit && isAt(to, call.targets.at(-1)!.provider))) continue
    sums.changed++
    const key = JSON.stringify([from, to])
    const move = moves.get(key) ?? {from, to, calls: 0, by_lot: 0, examples: []}
    const examples = move.examples.length < MAX_EXAMPLES ? [...move.examples, call.id] : move.examples
    moves.set(key, {...move, calls: move.calls + 1, by_lot: move.by_lot + (by_lot ? 1 : 0), examples})
  }
  return {...sums, moves: [...moves.values()].sort(byWeight)}
}

/** The most calls first; of as many, by name. */
function byWeight(one: ReplayMove, other: ReplayMove): number {
  return other.calls - one.calls || (`${one.from} ${one.to}` < `${other.from} ${other.to}` ? -1 : 1)
}

const NO_BODIES: ReadonlyMap<string, Members> = new Map()

/** The parts of these calls' bodies that a condition can read, as far as they are kept, by the ids of the rows. */
async function bodiesOf(
  calls: readonly ReplayedCall[],
  {bodies, many_bodies}: AdminServices,
): Promise<ReadonlyMap<string, Members>> {
  const members = new Map<string, Members>()
  const keep = ({log_id, request_body}: LogBodiesTable) => {
    const body = request_body && plainMembers(request_body)
    if (body) members.set(log_id, body)
  }
  const rows = calls.filter(({from}) => from !== null).map(({row}) => row)
  if (many_bodies) await many_bodies(rows, keep)
  else
    for (const row of rows) {
      const found = await bodies(row)
      if (found) keep(found)
    }
  return members
}

type Members = Readonly<Record<string, unknown>>

/** Texts, numbers and the like at the top of a JSON body: no condition asks for more, and the rest is long. */
function plainMembers(bytes: Uint8Array): Members | null {
  try {
    const body: unknown = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return null
    return Object.fromEntries(Object.entries(body).filter(([, value]) => typeof value !== 'object' || value === null))
  } catch {
    return null
  }
}

interface ReplayedCall {
  /** The one that ended the call. */
  readonly row: ReplayedRow
  /** The end of the call, described; null when no config applied. */
  readonly from: string | null
  /** Answered from the cache: its row has the requested model, not the one that a target would have set. */
  readonly is_hit: boolean
  readonly call: LoggedCall
}

/** The calls of these rows, in the order of their last rows; the targets of each in the order of the calls. */
function callsOf(rows: readonly ReplayedRow[]): ReplayedCall[] {
  const byCall = Map.groupBy(rows, row => row.call_id)
  return [...byCall.values()].map(newest => {
    const targets = newest.toReversed()
    const [first, row] = [targets[0]!, newest[0]!]
    return {
      row,
      from: endOf(row),
      is_hit: row.outcome === 'ok' && row.upstream_url === null,
      call: {
        id: row.id,
        call_id: row.call_id,
        created_at_ms: Date.parse(row.created_at),
        method: row.method,
        url: row.url,
        metadata: parseJson(row.metadata) as Record<string, string>,
        model: first.model,
        is_stream: row.is_stream,
        targets: targets.map(each => ({provider: providerOf(each), model: bare(each.model), status: each.status})),
        body: null,
      },
    }
  })
}

function providerOf({provider_slug, provider}: ReplayedRow): string | null {
  return provider_slug ? `@${provider_slug}` : provider || null
}

/** Rows of calls that were not sent have the model with its provider's slug, as requested. */
function bare(model: string | null): string | null {
  const [, rest] = /^@[^/]*\/(.*)$/s.exec(model ?? '') ?? []
  return rest ?? model
}

function isAt(label: string, provider: string | null): boolean {
  return provider !== null && (label === provider || label.startsWith(`${provider}/`))
}

/** Refusals of a config begin so; others came before it applied (a limit, a bad body). */
const OF_CONFIG = /^(?:AB01|No provider)/

function endOf(row: ReplayedRow): string | null {
  const provider = providerOf(row)
  const refused = row.outcome === 'failed' && row.upstream_url === null
  if (provider !== null && !refused) return labelOf(provider, bare(row.model))
  return provider !== null || OF_CONFIG.test(row.error ?? '') ? `refused ${row.status}` : null
}
