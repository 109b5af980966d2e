import {parseJson} from '../../base/json-object.ts'
import type {ExplainedTarget} from '../../schema/explanations.ts'
import type {Call} from '../call/call.ts'
import {wholeOf} from '../inbound/body.ts'
import type {Target} from '../targets/target.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'

type ExplainedBody = NonNullable<ExplainedTarget['sends']>['body']
type Change = ExplainedBody['changes'][number]
type Json = Readonly<Record<string, unknown>>

/** The body that would leave, shown as the changes to the client's; in another dialect, whole. */
export function explainBody({body}: Call, target: Target, out: UpstreamRequest): ExplainedBody {
  if (out.translating) {
    const translated = Buffer.isBuffer(out.body) ? parsed(out.body) : null
    return {form: 'translated', bytes: lengthOf(out.body), changes: [], translated}
  }
  if (out.body === null || body.kind === 'none') return {form: 'none', bytes: 0, changes: []}
  // The bytes of one that is not read are not here: they pass by.
  if (!Buffer.isBuffer(out.body) || body.kind === 'stream') return {form: 'as sent', bytes: 0, changes: []}
  if (out.body.equals(body.bytes)) return {form: 'as sent', bytes: out.body.length, changes: []}
  const changes: Change[] =
    body.kind === 'json' ? changesOf(wholeOf(body), parsed(out.body) as Json, target, out) : modelOf(out)
  return {form: 'changed', bytes: out.body.length, changes}
}

function modelOf({model}: UpstreamRequest): Change[] {
  return [{key: 'model', change: 'set', value: model, because: 'model'}]
}

/** Members at the top, in the order of the sent body; removed ones at the end. */
function changesOf(
  before: Json,
  after: Json,
  {params, model: set_model}: Target,
  {is_metered}: UpstreamRequest,
): Change[] {
  const {default_params = {}, override_params = {}} = params
  const reason = (key: string): Change['because'] => {
    if (key === 'stream_options' && is_metered) return 'stream_usage'
    if (key === 'model') return set_model === null ? 'model' : 'override_params'
    if (Object.hasOwn(override_params, key)) return 'override_params'
    return Object.hasOwn(default_params, key) && !Object.hasOwn(before, key) ? 'default_params' : 'drop_params'
  }
  const changes = Object.keys(after).flatMap((key): Change[] => {
    const value = after[key]
    if (Object.hasOwn(before, key) && JSON.stringify(before[key]) === JSON.stringify(value)) return []
    const because = reason(key)
    if (because === 'drop_params') return [{key, change: 'shortened', value, because}]
    return [{key, change: Object.hasOwn(before, key) ? 'set' : 'added', value, because}]
  })
  const removed = Object.keys(before).filter(key => !Object.hasOwn(after, key))
  return [...changes, ...removed.map((key): Change => ({key, change: 'removed', because: 'drop_params'}))]
}

function lengthOf(body: UpstreamRequest['body']): number {
  return Buffer.isBuffer(body) ? body.length : 0
}

/** JSON, or the text where it is none. */
function parsed(bytes: Buffer): unknown {
  const text = bytes.toString()
  try {
    return parseJson(text)
  } catch {
    return text
  }
}
