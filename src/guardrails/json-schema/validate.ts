import {CheckFault} from '../fault.ts'
import {isObject, type Json} from '../json.ts'
import {budget, isFound} from '../pattern.ts'
import type {JsonSchema} from './read.ts'
import {type Complaint, RULES, type Run} from './rules.ts'

const MOST_COMPLAINTS = 10
const MOST_STEPS = 1_000_000
const DEEPEST = 200

/** The first ten breaches; none: the value fits. Throws a `CheckFault` when the work or the depth is too much. */
export function validate(schema: JsonSchema, value: Json): readonly Complaint[] {
  const patternWork = budget()
  let steps = 0
  const run: Run = {
    spend(by) {
      steps += by
      if (steps > MOST_STEPS) throw new CheckFault('The JSON is too much to hold against the schema.', 'TooMuchError')
    },
    fits(node, value, place, depth) {
      run.spend(1)
      if (depth > DEEPEST) throw new CheckFault(`The JSON or its schema is more than ${DEEPEST} deep.`, 'TooMuchError')
      if (node === true) return []
      if (!isObject(node)) return [{at: place, keyword: 'false'}]
      const found: Complaint[] = []
      for (const [keyword, said] of Object.entries(node)) {
        const rule = Object.hasOwn(RULES, keyword) ? RULES[keyword] : undefined
        if (rule && found.length < MOST_COMPLAINTS) found.push(...rule(said, value, {run, node, place, depth: depth + 1, keyword}))
      }
      return found.slice(0, MOST_COMPLAINTS)
    },
    matches: (source, text) => isFound(schema.patterns.get(source)!, text, patternWork),
    target: reference => schema.target(reference) ?? false,
  }
  return run.fits(schema.root, value, '', 0)
}
