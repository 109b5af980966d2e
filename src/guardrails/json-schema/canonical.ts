import {CheckFault} from '../fault.ts'
import {isList, type JsonValue} from '../json.ts'

const DEEPEST = 200

/** `value` as JSON with its keys in order: equal values give equal texts. */
export function canonical(value: JsonValue, run: {spend(steps: number): void}, depth = 0): string {
  run.spend(1)
  if (depth > DEEPEST) throw new CheckFault(`The JSON or its schema is more than ${DEEPEST} deep.`, 'TooMuchError')
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isList(value)) return `[${value.map(each => canonical(each, run, depth + 1)).join()}]`
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each, run, depth + 1)}`).join()}}`
}
