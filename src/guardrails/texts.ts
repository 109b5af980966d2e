import type {EndpointName} from '../schema/endpoints.ts'
import type {Side} from '../schema/guardrails.ts'
import {clientTexts, serverTexts} from './event-texts.ts'
import {isList, isObject, type JsonObject, type JsonPath, type JsonValue, own} from './json.ts'

/** The place of a text of people or models in a body. */
export interface Slot {
  readonly path: JsonPath
  readonly text: string
  /**
   * True for texts that verdicts on prose read (docs/guardrails.md, What a check reads); the others belong to the
   * conversation.
   */
  readonly is_judged: boolean
}

type Reader = (body: JsonObject) => Slot[]

const DEEPEST = 4

/**
 * The places of a dialect's texts. Judged on the way in is the last message alone, with its tool results, and every
 * prompt and input; on the way out every choice. Pictures, tool calls and token lists are no texts; strings of every
 * kind are in `strings.ts`. A route that is not here has none.
 */
const READERS: Readonly<Partial<Record<EndpointName, Readonly<Record<Side, Reader>>>>> = {
  chatComplete: {input: conversation, output: choices},
  messages: {
    input: body => [...content(own(body, 'system'), ['system'], false), ...conversation(body)],
    output: body => blocks(own(body, 'content'), ['content']),
  },
  createModelResponse: {
    input: body => [
      ...content(own(body, 'instructions'), ['instructions'], false),
      ...items(own(body, 'input'), ['input']),
    ],
    output: body =>
      entries(own(body, 'output')).flatMap(([item, index]) =>
        content(item, ['output', index], own(item, 'type') === 'message'),
      ),
  },
  complete: {input: body => texts(own(body, 'prompt'), ['prompt']), output: choices},
  realtime: {input: clientTexts, output: serverTexts},
  embed: {input: body => texts(own(body, 'input'), ['input']), output: () => []},
  promptComplete: {
    input: body => [...conversation(body), ...texts(own(body, 'prompt'), ['prompt']), ...variables(body)],
    output: choices,
  },
}

/** True for the routes whose texts are guarded (decisions: providers and guardrails). */
export function isGuarded(endpoint: EndpointName, side: Side): boolean {
  return Object.hasOwn(READERS, endpoint) && !(endpoint === 'embed' && side === 'output')
}

export function slotsOf(endpoint: EndpointName, side: Side, body: JsonValue): readonly Slot[] {
  const reader = Object.hasOwn(READERS, endpoint) ? READERS[endpoint] : undefined
  return reader && isObject(body) ? reader[side](body) : []
}

function conversation(body: JsonObject): Slot[] {
  return items(own(body, 'messages'), ['messages'])
}

/** Messages, or the items of a response's input; a text alone is the only item. */
function items(value: JsonValue | undefined, path: JsonPath): Slot[] {
  if (!isList(value)) return content(value, path, true)
  return value.flatMap((item, index) => {
    const is_last = index === value.length - 1
    return typeof item === 'string' ? text(item, [...path, index], is_last) : content(item, [...path, index], is_last)
  })
}

function choices(body: JsonObject): Slot[] {
  return entries(own(body, 'choices')).flatMap(([choice, index]) => {
    const path = ['choices', index]
    const message = own(choice, 'message')
    return [
      ...text(own(choice, 'text'), [...path, 'text'], true),
      ...content(own(message, 'content'), [...path, 'message', 'content'], true),
      ...text(own(message, 'refusal'), [...path, 'message', 'refusal'], true),
      ...text(own(message, 'reasoning_content'), [...path, 'message', 'reasoning_content'], false),
      ...blocks(own(message, 'content_blocks'), [...path, 'message', 'content_blocks']).map(slot => ({
        ...slot,
        is_judged: false,
      })),
    ]
  })
}

function blocks(value: JsonValue | undefined, path: JsonPath): Slot[] {
  return entries(value).flatMap(([block, index]) => [
    ...content(block, [...path, index], true),
    ...text(own(block, 'thinking'), [...path, index, 'thinking'], false),
  ])
}

/** The texts of a message, an item, a part, or of lists of them within each other. */
function content(value: JsonValue | undefined, path: JsonPath, is_judged: boolean, depth = 0): Slot[] {
  if (typeof value === 'string') return text(value, path, is_judged)
  if (depth > DEEPEST) return []
  if (isList(value)) return value.flatMap((part, index) => content(part, [...path, index], is_judged, depth + 1))
  if (!isObject(value)) return []
  const within = (key: string) => content(own(value, key), [...path, key], is_judged, depth + 1)
  const source = own(value, 'source')
  return [
    ...text(own(value, 'text'), [...path, 'text'], is_judged),
    ...text(own(value, 'refusal'), [...path, 'refusal'], is_judged),
    ...(own(source, 'type') === 'text' ? text(own(source, 'data'), [...path, 'source', 'data'], is_judged) : []),
    ...within('content'),
    ...within('output'),
    ...within('summary'),
  ]
}

function texts(value: JsonValue | undefined, path: JsonPath): Slot[] {
  if (typeof value === 'string') return text(value, path, true)
  return entries(value).flatMap(([each, index]) => content(each, [...path, index], true))
}

function variables(body: JsonObject): Slot[] {
  const values = own(body, 'variables')
  return isObject(values) ? Object.keys(values).flatMap(name => text(own(values, name), ['variables', name], true)) : []
}

function text(value: JsonValue | undefined, path: JsonPath, is_judged: boolean): Slot[] {
  return typeof value === 'string' && value ? [{path, text: value, is_judged}] : []
}

function entries(value: JsonValue | undefined): [JsonValue, number][] {
  return isList(value) ? value.map((each, index) => [each, index]) : []
}
