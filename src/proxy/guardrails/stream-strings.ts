import {
  at,
  isList,
  isObject,
  type JsonObject,
  type JsonPath,
  type JsonValue,
  listOf,
  own,
} from '../../guardrails/json.ts'
import type {Delta} from '../../guardrails/nested-pieces.ts'
import {DATA_KEYS, ECHOED, mapEveryString, mapStrings} from '../../guardrails/strings.ts'
import {isGuarded, slotsOf} from '../../guardrails/texts.ts'
import {viewOf} from '../../guardrails/view.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {ECHO, withoutPieces} from './deltas.ts'

/**
 * A string of an event that is no piece of a text that its dialect streams: it repeats what was streamed, or holds what
 * comes nowhere else.
 */
export interface EventString {
  readonly text: string
  /** The provider repeats the request there. */
  readonly is_echo: boolean
  /** Its path; null: it is a key, a number, or a part of JSON inside a text. */
  readonly path: JsonPath | null
  /** JSON inside a text. Its strings are given besides. */
  readonly is_json: boolean
}

/** The texts of `logprobs`: every string in them, and the tokens of each list in their order, as one text. */
export interface TokenStrings {
  readonly all: readonly string[]
  readonly sequences: readonly {readonly path: JsonPath; readonly text: string}[]
}

/** Those strings, with the tokens apart: there are thousands of them, and most say what a piece says. */
export function partedOf(endpoint: EndpointName, event: JsonObject, deltas: readonly Delta[]) {
  const found: {path: JsonPath; value: JsonValue}[] = []
  const bare = withoutLogprobs(event, [], found) as JsonObject
  const tokens: TokenStrings = {
    all: found.length
      ? viewOf(endpoint, 'output', {logprobs: found.map(({value}) => value)}).strings.map(({text}) => text)
      : [],
    sequences: found.flatMap(sequencesIn),
  }
  return {others: othersOf(endpoint, bare, deltas), tokens}
}

/** True where an event has such a string. */
export function hasOthers(endpoint: EndpointName, event: JsonObject, deltas: readonly Delta[]): boolean {
  return othersOf(endpoint, event, deltas).length > 0
}

function othersOf(endpoint: EndpointName, event: JsonObject, deltas: readonly Delta[]): readonly EventString[] {
  const bare = withoutPieces(event, deltas)
  const others: EventString[] = []
  const path: (string | number)[] = []
  let json_at: JsonPath | undefined
  const onJson = (text: string) => {
    json_at = [...path]
    others.push({text, is_echo: isEcho(bare, path), path: json_at, is_json: true})
  }
  const by = (text: string, _: string, is_echo: boolean) => {
    const is_whole = at(bare, path) === text
    // what is no JSON after all is given as a string, too
    const is_json = json_at?.length === path.length && json_at.every((key, place) => key === path[place])
    if (!is_whole || !is_json) others.push({text, is_echo, path: is_whole ? [...path] : null, is_json: false})
    return text
  }
  const trail = {path, onJson}
  if (isGuarded(endpoint, 'output')) mapStrings(bare, endpoint, 'output', by, trail)
  else mapEveryString(bare, by, text => by(text, '', false), trail)
  return others
}

/** The parts of the request that an event of a response repeats. */
function isEcho(event: JsonObject, path: JsonPath): boolean {
  return path[0] === 'response' && ECHOED.has(String(path[1])) && isObject(own(event, 'response'))
}

/** `logprobs` of every dialect: a list of tokens, or lists of them by what they are tokens of. */
function sequencesIn({path, value}: {path: JsonPath; value: JsonValue}): TokenStrings['sequences'] {
  const lists: [JsonPath, JsonValue | undefined][] = isList(value)
    ? [[path, value]]
    : ['content', 'refusal', 'tokens'].map(key => [[...path, key], own(value, key)])
  return lists.flatMap(([place, list]) => {
    const text = listOf(list)
      .map(each => (typeof each === 'string' ? each : own(each, 'token')))
      .filter(each => typeof each === 'string')
      .join('')
    return text ? [{path: place, text}] : []
  })
}

function withoutLogprobs(value: JsonValue, path: JsonPath, found: {path: JsonPath; value: JsonValue}[]): JsonValue {
  if (isList(value)) {
    const made = value.map((each, place) =>
      typeof each === 'object' ? withoutLogprobs(each, [...path, place], found) : each,
    )
    return made.some((each, place) => each !== value[place]) ? made : value
  }
  if (!isObject(value)) return value
  let made: Record<string, JsonValue> | undefined
  for (const key of Object.keys(value)) {
    const before = value[key]!
    if (DATA_KEYS.has(key) || typeof before !== 'object' || before === null) continue
    const way = [...path, key]
    if (key === 'logprobs') found.push({path: way, value: before})
    const put = key === 'logprobs' ? null : withoutLogprobs(before, way, found)
    if (put === before) continue
    made ??= {...value}
    made[key] = put
  }
  return made ?? value
}

/** The kinds of texts that such strings are judged as: in places of prose, they are prose. */
export function kindsOf(endpoint: EndpointName, event: JsonObject): (other: EventString) => string {
  const prose = new Set(
    bodiesOf(endpoint, event)
      .flatMap(body => slotsOf(endpoint, 'output', body))
      .flatMap(({text, is_judged}) => (is_judged ? [text] : [])),
  )
  const kind =
    endpoint === 'messages'
      ? 'text'
      : endpoint === 'createModelResponse' || endpoint === 'realtime'
        ? 'output_text'
        : 'content'
  return ({text, is_echo, is_json}) => (is_echo ? ECHO : is_json ? 'arguments' : prose.has(text) ? kind : 'other')
}

/** The parts of an answer in an event, in the form of the whole answer. */
function bodiesOf(endpoint: EndpointName, event: JsonObject): readonly JsonValue[] {
  switch (endpoint) {
    case 'messages':
      return [{content: own(own(event, 'message'), 'content') ?? null}]
    case 'realtime':
      return [event]
    case 'createModelResponse': {
      const {text, refusal, part, item, response} = event
      const text_part = {text: text ?? null, refusal: refusal ?? null}
      return [
        {output: [{type: 'message', content: [text_part, part ?? null]}, item ?? null]},
        {output: own(response, 'output') ?? null},
      ]
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
