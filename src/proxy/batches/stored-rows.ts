import {Refusal} from '../../base/errors.ts'
import {isObject} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {RUNS_ROWS} from '../../guardrails/coverage.ts'
import {variantOf} from '../../providers/base-urls/base-url.ts'
import type {Json} from '../../providers/translation.ts'
import type {Call, ClientCall} from '../call/call.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'
import {parsedWhole} from '../guardrails/request-strings.ts'
import type {RequestCredentials} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import {MultiRequest, type MultiRequestServices, plainId} from '../upstream/multi-request.ts'
import {SubRequests} from '../upstream/sub-requests.ts'
import {RowGate} from './judge-rows.ts'

type Services = MultiRequestServices & Uses<'after' | 'judged'>

/** A call at a target that has guardrails. */
export interface BatchCall {
  readonly call: ClientCall
  readonly target: Target
  readonly credentials: RequestCredentials
}

/** Further paths that make a batch of rows which are stored. */
const RUNS_STORED =
  /\/(?:batchPredictionJobs|model-invocation-jobs?)$|:(?:batchGenerateContent|asyncBatchEmbedContent)$/
/** For a file's content to come and all of its rows to be judged. */
const DEADLINE_MS = 120_000
const MOST_FILES = 16
const NOT_STORED =
  'upload the file again through this gateway with transfer-encoding: chunked, which takes out what they change'

/** The reference of a batch to its rows. */
interface StoredRows {
  /** Ids of files, each with the member that names it. */
  readonly files: readonly {readonly id: string; readonly member: string}[]
  /** Members that name a bucket or a table. */
  readonly buckets: readonly string[]
  /** The endpoint that rows are for which name none. */
  readonly url: string | null
}

/** True for a call that makes a batch of rows that are stored elsewhere. */
export function namesStoredRows({incoming, body}: Call): boolean {
  const {path} = incoming.route
  return incoming.method === 'POST' && body.kind === 'json' && (RUNS_ROWS.test(path) || RUNS_STORED.test(path))
}

/**
 * Judges the rows that a batch is made of, unless they were judged under these guardrails when their file was uploaded:
 * they are fetched from the provider. Rows that cannot be fetched, are too long or are in a bucket count as a body that
 * guardrails cannot read.
 */
export async function judgeStoredRows(of: BatchCall, guarded: CallGuardrails, services: Services): Promise<void> {
  const {call, target} = of
  const {files, buckets, url} = storedRows(call.body.kind === 'json' ? await parsedWhole(call.body) : {})
  if (buckets.length > 0) guarded.noteUnread(buckets)
  const {input_digest} = guarded.guards
  for (const [at, {id, member}] of files.entries()) {
    const place = [call.caller.workspace_id, target, id] as const
    if (await services.judged.isJudged(...place, input_digest)) continue
    if (at < MOST_FILES && !IN_BUCKET.test(id) && (await judgeFile(of, id, url, guarded, services)))
      services.judged.note(...place, input_digest)
    else guarded.noteUnread([member])
  }
}

const IN_BUCKET = /^[a-z][a-z0-9+.-]*:\/\//i

function storedRows(members: Json): StoredRows {
  const files = [members.input_file_id, ...(Array.isArray(members.input_files) ? members.input_files : [])].flatMap(
    (id, at) => (typeof id === 'string' ? [{id: plainId(id), member: at === 0 ? 'input_file_id' : 'input_files'}] : []),
  )
  const {batch} = members
  const nested = isObject(batch) ? ['input_config', 'inputConfig'].filter(name => isStored(batch[name])) : []
  const buckets = BUCKETS.filter(
    name => members[name] !== undefined && (name !== 'inputConfig' || isStored(members[name])),
  )
  return {
    files,
    buckets: [...buckets, ...nested.map(name => `batch.${name}`)],
    url: typeof members.endpoint === 'string' ? members.endpoint : null,
  }
}

const BUCKETS = ['input_blob', 'inputDataConfig', 'inputConfig', 'input_dataset_id', 'inputDatasetId'] as const

/** Gemini's batches have their rows in the request, or name a file. */
function isStored(config: unknown): boolean {
  return isObject(config) && config.requests === undefined
}

/**
 * True when all of its rows were judged; false where they cannot be. Throws where one is denied, would be changed, or
 * is no row.
 */
async function judgeFile(
  of: BatchCall,
  id: string,
  url: string | null,
  guarded: CallGuardrails,
  services: Services,
): Promise<boolean> {
  const {call} = of
  const most_bytes = services.settings.guardrail_max_body_mb * 2 ** 20
  const over = new AbortController()
  const callOff = services.after(DEADLINE_MS, () =>
    over.abort(new Refusal('rows.late', {line: 1, limit_ms: DEADLINE_MS})),
  )
  const gate = new RowGate(guarded, {
    most_bytes,
    url,
    no_changes: NOT_STORED,
    part: id.slice(0, 64),
    after: services.after,
  })
  try {
    let length = 0
    for await (const chunk of contentOf(of, id, over.signal, services)) {
      length += chunk.length
      if (length > most_bytes) return false
      for await (const _ of gate.push(chunk)) if (over.signal.aborted) return false
      if (call.relay.gone) throw new Refusal('client.gone')
    }
    for await (const _ of gate.end()) if (over.signal.aborted) return false
    return gate.is_whole
  } catch (fault) {
    if (fault instanceof UnfetchedFault) {
      services.log.info(
        {fault: fault.cause, trace_id: call.trace.trace_id},
        'the file of a batch could not be fetched to be judged',
      )
      return false
    }
    throw fault
  } finally {
    callOff()
    over.abort(new Refusal('client.gone'))
  }
}

/** The provider did not give a file. */
class UnfetchedFault extends Error {
  constructor(cause: unknown) {
    super('a file could not be fetched', {cause})
    this.name = 'UnfetchedFault'
  }
}

async function* contentOf(of: BatchCall, id: string, signal: AbortSignal, services: Services): AsyncGenerator<Buffer> {
  let chunks: AsyncIterator<Buffer>
  try {
    chunks = (await openContent(of, id, signal, services))[Symbol.asyncIterator]()
  } catch (fault) {
    throw new UnfetchedFault(fault)
  }
  try {
    for (;;) {
      const next = await chunks.next().catch((fault: unknown) => Promise.reject(new UnfetchedFault(fault)))
      if (next.done) return
      yield next.value
    }
  } finally {
    void chunks.return?.()?.catch(() => undefined)
  }
}

/** As the gateway's own route gives it, or beside the path that the client called. */
async function openContent(
  {call, target, credentials}: BatchCall,
  id: string,
  signal: AbortSignal,
  services: Services,
): Promise<AsyncIterable<Buffer>> {
  const provider = variantOf(target.provider, '', target.options)
  const at = {call, target, provider, credentials}
  const operation = call.is_passthrough ? undefined : provider.operations?.endpoints.retrieveFileContent
  if (operation) return new MultiRequest(operation, {...at, model: null}, services).contentOf(id, signal)
  const file = `files/${uriPart(id, 'The id of the file')}/content`
  const place = call.is_passthrough
    ? {path: call.incoming.route.path.replace(RUNS_ROWS, `/${file}`)}
    : {path: `/${file}`, endpoint: 'retrieveFileContent' as const}
  const reply = await new SubRequests(at, signal, services).ask({method: 'GET', ...place})
  if (reply.headers['content-encoding'] === undefined || reply.headers['content-encoding'] === 'identity')
    return reply.body
  reply.drop()
  throw new Error(`it is encoded as ${reply.headers['content-encoding']}`)
}
