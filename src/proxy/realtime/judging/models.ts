import {Refusal} from '../../../base/errors.ts'
import {keyFault} from '../../../base/json-keys.ts'
import {isObject} from '../../../base/json-object.ts'
import {MAX_JSON_DEPTH} from '../../../base/json-shape.ts'
import type {Json} from '../../../providers/translation.ts'
import {checkModels} from '../../call/model-access.ts'
import {modelFor} from '../../targets/target.ts'
import {eventIn} from '../events.ts'
import type {SessionInfo} from '../records.ts'

/** Events that name no model: items are data of the caller's, sound is sound. */
const NAMES_NONE = /^(?:input_audio_buffer|output_audio_buffer|conversation\.item)\.|^response\.cancel$/
/** Members that hold data of the caller's, and schemas of tools. */
const DATA: ReadonlySet<string> = new Set(['metadata', 'variables', 'parameters', 'item', 'content'])
const DEEPEST = 16
const MOST_NODES = 10_000

/**
 * True for an event that may name a model: for the session, its transcription, a response, a tool; one of a type that
 * is not known, too.
 */
export function mayNameModel(type: string | null): boolean {
  return type === null || !NAMES_NONE.test(type)
}

/**
 * Refuses (412) an event that names a model which a list does not allow, and (400) one that two readers may read
 * differently.
 */
export function checkEventModels({target, call}: SessionInfo, payload: Buffer): void {
  if (!payload.includes('"model"') && !payload.includes('\\u')) return
  const fault = keyFault(payload.toString(), MAX_JSON_DEPTH)
  if (fault?.kind === 'repeated') throw new Refusal('body.repeated_key', {path: fault.path})
  checkModels(
    target,
    call,
    modelsIn(eventIn(payload)).map(model => modelFor(target.provider, model)),
  )
}

function modelsIn(event: Json): readonly string[] {
  const found = new Set<string>()
  const open: {value: unknown; depth: number}[] = [{value: event, depth: 0}]
  for (let nodes = 0; open.length > 0 && nodes < MOST_NODES; nodes++) {
    const {value, depth} = open.pop()!
    if (Array.isArray(value)) {
      for (const each of value) open.push({value: each, depth: depth + 1})
      continue
    }
    if (depth > DEEPEST || !isObject(value)) continue
    for (const key of Object.keys(value)) {
      if (key === 'model' && typeof value[key] === 'string') found.add(value[key])
      else if (typeof value[key] === 'object' && !DATA.has(key) && !(key === 'input' && Array.isArray(value[key])))
        open.push({value: value[key], depth: depth + 1})
    }
  }
  return [...found]
}
