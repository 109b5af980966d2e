import {isObject, type JsonObject, type JsonValue} from '../../base/json-member.ts'
import {scoring} from '../../guardrails/injection/score.ts'
import type {SlicedWork} from '../../guardrails/time-slices.ts'
import type {Suspicion} from '../../schema/mcp-pin-changes.ts'

/** A text counts from this score on, as one plain phrase has it. */
const THRESHOLD = 0.5
/** A shorter text holds no order. */
const SHORTEST = 12
/** Of a definition so many texts are looked at, and of a text so many characters. */
const MOST_TEXTS = 500
const MOST_CHARACTERS = 20_000
const MOST_FOUND = 10

/** Texts of a definition that read like orders to a model. A heuristic: it knows phrases, not their meaning. */
export function* suspicionsOf(definition: JsonObject): SlicedWork<Suspicion[]> {
  const found: Suspicion[] = []
  let looked = 0
  for (const {path, text} of textsIn('', definition)) {
    if (++looked > MOST_TEXTS || found.length >= MOST_FOUND) break
    const {score, rules} = yield* scoring(text.slice(0, MOST_CHARACTERS))
    if (score >= THRESHOLD) found.push({path: path.slice(0, 300).toWellFormed(), rules: rules.map(({id}) => id)})
  }
  return found
}

function* textsIn(path: string, value: JsonValue): Generator<{readonly path: string; readonly text: string}> {
  if (typeof value === 'string') {
    if (value.length >= SHORTEST) yield {path, text: value}
    return
  }
  if (Array.isArray(value)) for (const [at, inner] of value.entries()) yield* textsIn(`${path}/${at}`, inner)
  if (isObject(value))
    for (const [key, inner] of Object.entries(value))
      yield* textsIn(`${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, inner)
}
