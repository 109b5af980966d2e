import {CheckFault} from '../fault.ts'
import {isObject, type JsonValue} from '../json.ts'
import {budget, finding} from '../pattern.ts'
import type {SlicedWork} from '../time-slices.ts'
import type {JsonSchema} from './read.ts'
import {type Complaint, RULES, type SchemaValidation} from './rules.ts'

const MAX_COMPLAINTS = 10
const MAX_STEPS = 1_000_000
const DEEPEST = 200

/** Steps between two pauses. */
const PAUSE = 1024

/** The first ten breaches; none: the value fits. Throws a `CheckFault` when the work or the depth is too much. */
export function validating(schema: JsonSchema, value: JsonValue): SlicedWork<readonly Complaint[]> {
  const pattern_work = budget()
  let steps = 0
  let paused_at = 0
  const run: SchemaValidation = {
    spend(by) {
      steps += by
      if (steps > MAX_STEPS) throw new CheckFault('The JSON is too much to hold against the schema.', 'TooMuchError')
    },
    *fits(node, value, place, depth) {
      run.spend(1)
      if (steps - paused_at > PAUSE) {
        paused_at = steps
        yield
      }
      if (depth > DEEPEST) throw new CheckFault(`The JSON or its schema is more than ${DEEPEST} deep.`, 'TooMuchError')
      if (node === true) return []
      if (!isObject(node)) return [{at: place, keyword: 'false'}]
      const found: Complaint[] = []
      for (const [keyword, expected] of Object.entries(node)) {
        const rule = Object.hasOwn(RULES, keyword) ? RULES[keyword] : undefined
        if (!rule || found.length >= MAX_COMPLAINTS) continue
        const complaints = rule(expected, value, {run, node, place, depth: depth + 1, keyword})
        found.push(...('next' in complaints ? yield* complaints : complaints))
      }
      return found.slice(0, MAX_COMPLAINTS)
    },
    matches: (source, text) => finding(schema.patterns.get(source)!, text, pattern_work),
    target: reference => schema.target(reference) ?? false,
  }
  return run.fits(schema.root, value, '', 0)
}
