import {isList, isObject, type Json, type JsonObject, listOf, own, type Path, withAt} from '../../guardrails/json.ts'
import {slotsOf} from '../../guardrails/texts.ts'
import type {EndpointName} from '../../schema/endpoints.ts'

/** A piece of text in an event of a stream: which of the answer's texts it belongs to, and where it stands. */
export interface Delta {
  /** The same for all pieces of one text. */
  readonly slot: string
  readonly path: Path
  readonly text: string
}

/** Where a text stands in an element of the answer that pieces are put together to. */
type Kind =
  | 'content'
  | 'refusal'
  | 'reasoning_content'
  | 'block_text'
  | 'block_thinking'
  | 'text'
  | 'thinking'
  | 'output_text'
  | 'summary_text'
  | 'reasoning_text'

/** The pieces of text in one event, in the words that `endpoint` streams. */
export function deltasOf(endpoint: EndpointName, event: JsonObject): readonly Delta[] {
  switch (endpoint) {
    case 'chatComplete':
    case 'promptComplete':
      return [
        ...choices(event, [
          ['delta', 'content'],
          ['delta', 'refusal'],
          ['delta', 'reasoning_content'],
        ]),
        ...parts(event),
      ]
    case 'complete':
      return choices(event, [['text']])
    case 'messages':
      return message(event)
    case 'createModelResponse':
      return response(event)
    default:
      return []
  }
}

function choices(event: JsonObject, paths: readonly Path[]): readonly Delta[] {
  return listOf(own(event, 'choices')).flatMap((choice, place) => {
    const index = own(choice, 'index') ?? place
    return paths.flatMap(path => piece(event, ['choices', place, ...path], `${path.at(-1)} ${index}`))
  })
}

/** Contents that come in parts, and blocks beside them. */
function parts(event: JsonObject): readonly Delta[] {
  return listOf(own(event, 'choices')).flatMap((choice, place) => {
    const delta = own(choice, 'delta')
    const index = own(choice, 'index') ?? place
    const path = ['choices', place, 'delta']
    return [
      ...listOf(own(delta, 'content')).flatMap((_, at) => piece(event, [...path, 'content', at, 'text'], `content ${index}`)),
      ...listOf(own(delta, 'content_blocks')).flatMap((block, at) =>
        (['text', 'thinking'] as const).flatMap(key =>
          piece(event, [...path, 'content_blocks', at, 'delta', key], `block_${key} ${index}.${own(block, 'index') ?? at}`),
        ),
      ),
    ]
  })
}

function message(event: JsonObject): readonly Delta[] {
  const key = event.type === 'content_block_delta' ? 'delta' : event.type === 'content_block_start' ? 'content_block' : null
  if (!key) return []
  return [...piece(event, [key, 'text'], `text ${event.index}`), ...piece(event, [key, 'thinking'], `thinking ${event.index}`)]
}

/** Texts in an event that are no pieces: they tell again what was streamed, or what was not. */
export function othersOf(endpoint: EndpointName, event: JsonObject): readonly Delta[] {
  const found = (body: JsonObject) =>
    slotsOf(endpoint, 'output', body).map(({path, text, is_judged}) => ({slot: is_judged ? 'judged' : 'beside', path, text}))
  switch (endpoint) {
    case 'messages':
      return found({content: own(own(event, 'message'), 'content') ?? null}).map(each => ({...each, path: ['message', ...each.path]}))
    case 'createModelResponse':
      return String(event.type).endsWith('.delta') ? [] : retold(event, found)
    case 'complete':
      return []
    default:
      return found({
        choices: listOf(own(event, 'choices')).map(choice => ({
          text: own(choice, 'text') ?? null,
          message: own(choice, 'message') ?? null,
        })),
      })
  }
}

/** What an event of a response tells again, of a part, an item or all. */
function retold(event: JsonObject, found: (body: JsonObject) => readonly Delta[]): readonly Delta[] {
  const {part, item, response} = event
  const within = (place: Path, key: string) => (each: Delta) => ({...each, path: [key, ...each.path.slice(place.length)]})
  return [
    ...piece(event, ['text'], 'judged'),
    ...piece(event, ['refusal'], 'judged'),
    ...found({output: [{type: 'message', content: [part ?? null]}]}).map(within(['output', 0, 'content', 0], 'part')),
    ...found({output: [item ?? null]}).map(within(['output', 0], 'item')),
    ...found({output: own(response, 'output') ?? null}).map(within([], 'response')),
  ]
}

/** What a text that was not streamed is judged as. */
export function strayKind(endpoint: EndpointName, is_judged: boolean): string {
  if (endpoint === 'messages') return is_judged ? 'text' : 'thinking'
  if (endpoint === 'createModelResponse') return is_judged ? 'output_text' : 'summary_text'
  return is_judged ? 'content' : 'reasoning_content'
}

const RESPONSE_DELTAS: Readonly<Record<string, Kind>> = {
  'response.output_text.delta': 'output_text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_summary_text.delta': 'summary_text',
  'response.reasoning_text.delta': 'reasoning_text',
}

function response(event: JsonObject): readonly Delta[] {
  const kind = typeof event.type === 'string' && Object.hasOwn(RESPONSE_DELTAS, event.type) ? RESPONSE_DELTAS[event.type] : undefined
  if (!kind) return []
  return piece(event, ['delta'], `${kind} ${event.output_index}.${event.content_index ?? event.summary_index ?? 0}`)
}

function piece(event: JsonObject, path: Path, slot: string): readonly Delta[] {
  let value: Json | undefined = event
  for (const key of path) value = own(value, key)
  return typeof value === 'string' && value ? [{slot, path, text: value}] : []
}

/** Pieces of the arguments of tool calls: JSON that comes as text, which no guardrail judges. */
export function argumentsIn(endpoint: EndpointName, event: JsonObject): readonly Delta[] {
  if (endpoint === 'messages') return piece(event, ['delta', 'partial_json'], `arguments ${event.index}`)
  if (endpoint === 'createModelResponse')
    return event.type === 'response.function_call_arguments.delta' ? piece(event, ['delta'], `arguments ${event.output_index}`) : []
  return listOf(own(event, 'choices')).flatMap((choice, place) =>
    listOf(own(own(choice, 'delta'), 'tool_calls')).flatMap((call, at) =>
      piece(
        event,
        ['choices', place, 'delta', 'tool_calls', at, 'function', 'arguments'],
        `arguments ${own(choice, 'index') ?? place}.${own(call, 'index') ?? at}`,
      ),
    ),
  )
}

/** The answer as far as its texts go: an element for each, in the order of `texts`. */
export function answerOf(endpoint: EndpointName, texts: ReadonlyMap<string, string>): JsonObject {
  const all = [...texts].map(([slot, text]) => element(slot.split(' ', 1)[0] as Kind, endpoint, text))
  return {[LIST[endpoint] ?? 'choices']: all}
}

/** What became of the texts, in the order in which `answerOf` was given them; null where one is gone. */
export function textsIn(endpoint: EndpointName, answer: Json, slots: Iterable<string>): ReadonlyMap<string, string> | null {
  const all = own(answer, LIST[endpoint] ?? 'choices')
  const texts = new Map<string, string>()
  let place = 0
  for (const slot of slots) {
    let value: Json | undefined = isList(all) ? all[place++] : undefined
    for (const key of placeOf(slot.split(' ', 1)[0] as Kind, endpoint)) value = own(value, key)
    if (typeof value !== 'string') return null
    texts.set(slot, value)
  }
  return texts
}

const LIST: Partial<Readonly<Record<EndpointName, string>>> = {messages: 'content', createModelResponse: 'output'}

function placeOf(kind: Kind, endpoint: EndpointName): Path {
  if (endpoint === 'messages') return [kind]
  if (endpoint === 'createModelResponse')
    return kind === 'summary_text' ? ['summary', 0, 'text'] : ['content', 0, kind === 'refusal' ? 'refusal' : 'text']
  if (kind === 'block_text' || kind === 'block_thinking') return ['message', 'content_blocks', 0, kind.slice('block_'.length)]
  return kind === 'text' ? ['text'] : ['message', kind]
}

function element(kind: Kind, endpoint: EndpointName, text: string): Json {
  if (endpoint === 'messages') return {type: kind, [kind]: text}
  if (endpoint === 'createModelResponse') {
    if (kind === 'summary_text') return {type: 'reasoning', summary: [{type: 'summary_text', text}]}
    if (kind === 'reasoning_text') return {type: 'reasoning', content: [{type: 'reasoning_text', text}]}
    return {type: 'message', content: [kind === 'refusal' ? {type: 'refusal', refusal: text} : {type: 'output_text', text}]}
  }
  if (kind === 'block_text' || kind === 'block_thinking') return {message: {content_blocks: [{[kind.slice('block_'.length)]: text}]}}
  return kind === 'text' ? {text} : {message: {[kind]: text}}
}

/** An event with other pieces of text in the places of its own. */
export function withTexts(event: JsonObject, deltas: readonly Delta[], texts: readonly string[]): JsonObject {
  return deltas.reduce<Json>((now, {path}, place) => withAt(now, path, texts[place]!), event) as JsonObject
}

/** An event that tells texts again which were streamed before: `by` is done to each (Responses alone does so). */
export async function repeated(event: JsonObject, by: (answer: JsonObject) => Promise<Json>): Promise<JsonObject> {
  const again = async (value: Json | undefined, key: string): Promise<JsonObject> => {
    const answer = await by({output: [{type: 'message', content: [value ?? null]}]})
    return {...event, [key]: own(listOf(own(listOf(own(answer, 'output'))[0], 'content')), 0) ?? null}
  }
  switch (event.type) {
    case 'response.output_text.done':
      return {...event, text: own((await again({type: 'output_text', text: event.text ?? ''}, 'part')).part, 'text') ?? ''}
    case 'response.reasoning_text.done':
    case 'response.reasoning_summary_text.done':
      return {...event, text: own((await again({type: 'text', text: event.text ?? ''}, 'part')).part, 'text') ?? ''}
    case 'response.refusal.done':
      return {...event, refusal: own((await again({type: 'refusal', refusal: event.refusal ?? ''}, 'part')).part, 'refusal') ?? ''}
    case 'response.reasoning_summary_part.done':
    case 'response.content_part.done':
      return again(event.part, 'part')
    case 'response.output_item.done':
      return {...event, item: listOf(own(await by({output: [event.item ?? null]}), 'output'))[0] ?? null}
    case 'response.completed':
    case 'response.incomplete':
      return isObject(event.response) ? {...event, response: await by(event.response)} : event
    default:
      return event
  }
}
