import {Refusal} from '../../base/errors.ts'
import {UPLOADS_ROWS} from '../../guardrails/coverage.ts'
import type {Call} from '../call/call.ts'
import {hasBody, readPassing} from '../call/read-body.ts'
import {evaluateRequest} from '../guardrails/evaluate.ts'
import {type Body, type FormBody, isForm, readAs, type StreamBody} from '../inbound/body.ts'
import {messageOf} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import type {TargetGuardrails} from '../targets/guardrails.ts'
import type {MultiRequestServices} from '../upstream/multi-request.ts'
import {FormGate, type FormGateOptions, OF_BATCHES} from './form-gate.ts'
import {type BatchCall, judgeStoredRows, namesStoredRows} from './stored-rows.ts'

type Services = MultiRequestServices & Uses<'after' | 'guardrails' | 'judged'>

/**
 * Judges a request as it came in, the rows of batches with it: those of a file that is uploaded as they pass, those of
 * a stored file before a batch of it is made. Gives the body that goes out in its place, or null where it stays.
 */
export async function judgeRequest(of: BatchCall, guards: TargetGuardrails, services: Services): Promise<Body | null> {
  const {call, target} = of
  const has_rows = guards.input.some(({checks}) => checks.some(({prepared}) => prepared.check.sides.includes('input')))
  if (has_rows && isUpload(call)) {
    const {headers} = call.incoming
    if (call.body.kind === 'stream' && headers['content-encoding'] !== undefined) await readPassing(call, services)
    if (call.body.kind === 'stream' && !call.body.is_unreadable) return judgePassing(of, call.body, guards, services)
  }
  if (has_rows && call.body.kind === 'form' && purposeOf(call, call.body) !== null)
    return judgeForm(of, call.body, guards, services)
  const left = await evaluateRequest(guards, call, target, services)
  if (has_rows && namesStoredRows(call)) await judgeStoredRows(of, call.guardrails!, services)
  return left
}

/** Of other forms no more than the fields is judged, as long as they do not say that they are for a batch. */
function isUpload({incoming, body}: Call): boolean {
  const {method, route, headers} = incoming
  if (method !== 'POST' || (body.kind !== 'stream' && body.kind !== 'form') || !hasBody(incoming)) return false
  return (
    isForm(headers['content-type'] ?? '') && (route.endpoint?.name === 'uploadFile' || UPLOADS_ROWS.test(route.path))
  )
}

/** A form on the wire: its fields are judged now, its rows while it leaves. */
async function judgePassing(
  {call, target}: BatchCall,
  body: StreamBody,
  guards: TargetGuardrails,
  services: Services,
): Promise<null> {
  const content_type = call.incoming.headers['content-type'] ?? ''
  const gate = new FormGate(passing(call, body), content_type, {...optionsOf(call, services), judges_fields: true})
  const beginning = await gate.begin()
  const form = {bytes: beginning.closed, parts: beginning.parts}
  const left = await evaluateRequest(guards, call, target, services, form)
  const closed = left && 'bytes' in left ? left.bytes : beginning.closed
  const first = closed.subarray(0, closed.length - beginning.closing)
  const guarded = call.guardrails!
  body.judged = {
    chunks: joined([first], gate.rest(call, guarded)),
    added_bytes: first.length - beginning.bytes.length,
    get is_waiting() {
      return gate.is_waiting
    },
  }
  return null
}

/** A form that was read whole: nothing leaves before all of it was judged. */
async function judgeForm(
  {call, target}: BatchCall,
  body: FormBody,
  guards: TargetGuardrails,
  services: Services,
): Promise<Body | null> {
  const content_type = call.incoming.headers['content-type'] ?? ''
  const files = body.parts?.filter(({file_name, name}) => file_name !== null || name === 'file') ?? []
  const form = {bytes: body.bytes, parts: new Set(files.map(({name}) => name || 'file'))}
  const left = await evaluateRequest(guards, call, target, services, form)
  const bytes = left && 'bytes' in left ? left.bytes : body.bytes
  const gate = new FormGate(once(bytes), content_type, {
    ...optionsOf(call, services),
    purpose: purposeOf(call, body)!,
    judges_fields: false,
  })
  const beginning = await gate.begin()
  const chunks = [beginning.bytes]
  for await (const chunk of gate.rest(call, call.guardrails!)) chunks.push(chunk)
  return gate.has_changed ? readAs(Buffer.concat(chunks), content_type, call.incoming.route.endpoint) : left
}

function optionsOf(
  {incoming, request_encoding}: Call,
  {settings, after}: Services,
): Omit<FormGateOptions, 'judges_fields'> {
  const promises_length = incoming.headers['content-length'] !== undefined && request_encoding === null
  return {
    most_bytes: settings.guardrail_max_body_mb * 2 ** 20,
    purpose: incoming.own.values['file-purpose'] ?? '',
    url: incoming.own.values['provider-batch-endpoint'] ?? null,
    no_changes: promises_length ? CHUNKED : null,
    after,
  }
}

const CHUNKED = 'send the file with transfer-encoding: chunked, so that its length is not promised'

/** The purpose that makes it a file for batches; null where it is none. */
function purposeOf({incoming}: Call, {parts, bytes}: FormBody): string | null {
  const fields = parts?.filter(({name, plain_name}) => name === 'purpose' || plain_name === 'purpose') ?? []
  const purposes = [
    incoming.own.values['file-purpose'] ?? '',
    ...fields.map(({start, end}) => bytes.toString('utf8', start, end).trim()),
  ]
  return purposes.find(text => OF_BATCHES.test(text)) ?? null
}

async function* passing(call: Call, {lead}: StreamBody): AsyncGenerator<Buffer> {
  yield* lead
  try {
    yield* messageOf(call.incoming).iterator({destroyOnReturn: false}) as AsyncIterable<Buffer>
  } catch (cause) {
    throw new Refusal('client.gone', {}, {cause})
  }
}

async function* joined(first: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  yield* rest
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
