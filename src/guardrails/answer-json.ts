import type {Refusal} from '../base/errors.ts'
import {findingKeyFault, keyFault, WIDEST_OF_ANSWERS} from '../base/json-keys.ts'
import {parsed, TooDeepFault} from '../base/json-object.ts'
import {isTooDeep} from '../base/json-shape.ts'
import {isObject, type JsonObject, type JsonValue} from './json.ts'
import {readingJson} from './json-text.ts'
import {DEEPEST} from './strings.ts'
import {inTimeSlices} from './time-slices.ts'

/** A longer answer is read with pauses, so that no other call waits for it. */
const LONG_ANSWER_BYTES = 1 << 18

/**
 * The whole answer of a provider as guardrails judge it. Throws what `unreadable` makes of the reason why they cannot.
 */
export async function readAnswerJson(
  bytes: Buffer,
  unreadable: (reason: string) => Refusal,
): Promise<{readonly text: string; readonly json: JsonObject}> {
  const text = bytes.toString()
  const is_long = bytes.length > LONG_ANSWER_BYTES
  const json = is_long ? ((await inTimeSlices(readingJson(text))) as JsonValue | undefined) : parsed(text)
  if (json === undefined && isTooDeep(text))
    throw unreadable(`${new TooDeepFault().message}, so that guardrails cannot judge it`)
  if (!isObject(json)) throw unreadable('it is not a JSON object, so that guardrails cannot judge it')
  const fault = is_long
    ? await inTimeSlices(findingKeyFault(text, DEEPEST, WIDEST_OF_ANSWERS))
    : keyFault(text, DEEPEST, WIDEST_OF_ANSWERS)
  if (fault) throw unreadable(`it ${KEY_FAULTS[fault.kind]} ${fault.path}, so that guardrails cannot judge it`)
  return {text, json}
}

const KEY_FAULTS = {repeated: 'names twice', deep: 'is nested too deep at', wide: 'has too many members at'} as const
