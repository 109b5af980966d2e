import {isObject} from '../../base/json-object.ts'
import type {Json} from '../../providers/translation.ts'
import {requestsOfBatch} from '../../providers/vendor-batches/index.ts'
import type {CalledOperation} from '../../providers/vendor-operations/operation.ts'
import {applyParams, hasParams} from '../../routing/params.ts'
import {type JsonBody, wholeOf} from '../inbound/body.ts'
import {modelFor, type Target} from '../targets/target.ts'
import type {Call} from './call.ts'

type Of = Pick<Call, 'body' | 'operation' | 'is_passthrough'>
type At = Pick<Target, 'model' | 'params' | 'provider'>

/** Members that name models, in any operation. */
const NAMES: ReadonlySet<string> = new Set(['model', 'models', 'fallbacks', 'modelId'])
/** Members of a model's own object that name it. */
const OWN_NAMES = ['model', 'id', 'name'] as const
/** Without one of these a body names no further model; an escape may spell one. */
const HINTS = ['fallbacks', 'models', 'tools', '\\u'].map(word => Buffer.from(word))
/** The same where it is not known what a member means. */
const OPEN_HINTS = ['model', 'fallbacks', '\\u'].map(word => Buffer.from(word))
const DEEPEST = 64
const MOST_NODES = 200_000

/**
 * The models that a request names beside the one that answers it: for fallbacks, for tools that ask a model of their
 * own, in lists, and in the body where the path has the name. The provider may execute any of them. Without a
 * provider's slug.
 */
export function furtherModels({body, operation, is_passthrough}: Of, target: At): readonly string[] {
  if (body.kind === 'form')
    return operation?.path_model && body.model !== null ? [modelFor(target.provider, body.model)] : []
  if (body.kind !== 'json') return []
  const found = new Set<string>()
  if (operation?.path_model && body.model !== null) found.add(body.model)
  if (mayName(body, {operation, is_passthrough}, target)) {
    const fields = fieldsOf(body, target)
    if (beginsBatch(operation)) addRows(operation, fields, found)
    if (isOpen({operation, is_passthrough})) addDeep(fields, found)
    else addKnown(fields, found)
  }
  return [...found].map(model => modelFor(target.provider, operation?.path_model ? withoutResource(model) : model))
}

/** Vendors whose paths name models call them `models/NAME` in bodies. */
function withoutResource(model: string): string {
  return model.replace(/^models\//, '')
}

/** False where the words are missing without which a body names no further model: it is not parsed for them. */
export function mayName({bytes}: JsonBody, of: Omit<Of, 'body'>, {params}: Pick<At, 'params'>): boolean {
  if (hasParams(params) || beginsBatch(of.operation)) return true
  return (isOpen(of) ? OPEN_HINTS : HINTS).some(hint => bytes.includes(hint))
}

/** It is not known what its members mean. */
function isOpen({operation, is_passthrough}: Omit<Of, 'body'>): boolean {
  return is_passthrough && (!operation || operation.operation.models.includes('any'))
}

function beginsBatch(operation: CalledOperation | null): operation is CalledOperation {
  return operation?.operation.batches?.role === 'begins'
}

/** The members as they leave: a config may add some. */
function fieldsOf(body: JsonBody, {params}: At): Json {
  const whole = wholeOf(body)
  return hasParams(params) ? applyParams(whole, params) : whole
}

/** A batch has as many rows as its body has room for: none of them goes unseen. */
function addRows(operation: CalledOperation, fields: Json, found: Set<string>) {
  for (const row of requestsOfBatch(operation, fields)) {
    if (!isObject(row)) continue
    addNames(row.model, found)
    addKnown(row, found)
  }
}

/** Anthropic's and OpenRouter's fallbacks, and tools of vendors that ask a model of their own. */
function addKnown({fallbacks, models, tools}: Json, found: Set<string>) {
  addNames(fallbacks, found)
  addNames(models, found)
  if (!Array.isArray(tools)) return
  for (const tool of tools) {
    if (!isObject(tool)) continue
    addNames(tool.model, found)
    addNames(tool.models, found)
    for (const key in tool)
      if (isObject(tool[key]) && key !== 'function' && !/schema|parameters/i.test(key)) addNames(tool[key].model, found)
  }
}

/** Texts, and objects that hold one: a name alone, or a list. */
function addNames(value: unknown, found: Set<string>) {
  for (const each of Array.isArray(value) ? value.slice(0, MOST_NODES) : [value]) {
    if (typeof each === 'string') found.add(each)
    else if (isObject(each)) for (const name of OWN_NAMES) if (typeof each[name] === 'string') found.add(each[name])
  }
}

/** Every member of these names, at any depth: the meaning of an unknown operation cannot be known. */
function addDeep(fields: Json, found: Set<string>) {
  const open: {value: unknown; depth: number}[] = [{value: fields, depth: 0}]
  for (let nodes = 0; open.length > 0 && nodes < MOST_NODES; nodes++) {
    const {value, depth} = open.pop()!
    if (depth > DEEPEST || typeof value !== 'object' || value === null) continue
    if (isObject(value)) for (const key in value) if (NAMES.has(key)) addNames(value[key], found)
    for (const each of Object.values(value)) if (typeof each === 'object') open.push({value: each, depth: depth + 1})
  }
}
