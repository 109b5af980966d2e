import {isList, isObject, type JsonObject, type JsonValue, listOf, own} from '../../guardrails/json.ts'
import {DATA_KEYS} from '../../guardrails/strings.ts'
import {slotsOf} from '../../guardrails/texts.ts'
import {type BodyString, viewOf} from '../../guardrails/view.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {ECHO, withoutPieces} from './deltas.ts'
import type {Delta} from './nested-pieces.ts'

/** Strings of an event that are no pieces: they repeat what was streamed, or hold what comes nowhere else, such as citations. */
export function othersOf(endpoint: EndpointName, event: JsonObject, deltas: readonly Delta[]): readonly BodyString[] {
  return viewOf(endpoint, 'output', withoutPieces(event, deltas)).strings
}

/** The same with the tokens apart: there are thousands of them, and most say what a piece says. */
export function partedOf(endpoint: EndpointName, event: JsonObject, deltas: readonly Delta[]) {
  const logprobs: JsonValue[] = []
  const bare = withoutLogprobs(event, logprobs) as JsonObject
  const tokens = logprobs.length ? viewOf(endpoint, 'output', {logprobs}).strings.map(({text}) => text) : []
  return {others: othersOf(endpoint, bare, deltas), tokens}
}

function withoutLogprobs(value: JsonValue, found: JsonValue[]): JsonValue {
  if (isList(value)) {
    const made = value.map(each => withoutLogprobs(each, found))
    return made.some((each, at) => each !== value[at]) ? made : value
  }
  if (!isObject(value)) return value
  let made: Record<string, JsonValue> | undefined
  for (const key of Object.keys(value)) {
    const before = value[key]!
    if (DATA_KEYS.has(key)) continue
    if (key === 'logprobs') found.push(before)
    const put = key === 'logprobs' ? null : withoutLogprobs(before, found)
    if (put === before) continue
    made ??= {...value}
    made[key] = put
  }
  return made ?? value
}

/** What kinds of text such strings are judged as: where prose stands, it is prose. */
export function kindsOf(endpoint: EndpointName, event: JsonObject): (other: BodyString) => string {
  const prose = new Set(
    bodiesOf(endpoint, event)
      .flatMap(body => slotsOf(endpoint, 'output', body))
      .flatMap(({text, is_judged}) => (is_judged ? [text] : [])),
  )
  const kind = endpoint === 'messages' ? 'text' : endpoint === 'createModelResponse' ? 'output_text' : 'content'
  return ({text, is_echo}) => (is_echo ? ECHO : prose.has(text) ? kind : 'other')
}

/** What an event holds of an answer, as the whole answer would have it. */
function bodiesOf(endpoint: EndpointName, event: JsonObject): readonly JsonValue[] {
  switch (endpoint) {
    case 'messages':
      return [{content: own(own(event, 'message'), 'content') ?? null}]
    case 'createModelResponse': {
      const {text, refusal, part, item, response} = event
      const text_part = {text: text ?? null, refusal: refusal ?? null}
      return [{output: [{type: 'message', content: [text_part, part ?? null]}, item ?? null]}, {output: own(response, 'output') ?? null}]
    }
    default:
      return [
        {
          choices: listOf(own(event, 'choices')).map(choice => ({
            text: own(choice, 'text') ?? null,
            message: own(choice, 'message') ?? null,
          })),
        },
      ]
  }
}
