import {isSound} from '../../guardrails/event-texts.ts'
import {isList, type JsonObject, type JsonPath, type JsonValue, listOf, own, withAll} from '../../guardrails/json.ts'
import {isLeftAlone} from '../../guardrails/left-alone.ts'
import {type Delta, nestedPieces} from '../../guardrails/nested-pieces.ts'
import type {EndpointName} from '../../schema/endpoints.ts'

/** Kinds of texts that an element of the answer has under another name than their own. */
const PLACES: Readonly<Record<string, JsonPath>> = {
  'chat text': ['text'],
  'chat block_text': ['message', 'content_blocks', 0, 'text'],
  'chat block_thinking': ['message', 'content_blocks', 0, 'thinking'],
  'chat arguments': ['message', 'tool_calls', 0, 'function', 'arguments'],
  'messages arguments': ['partial_json'],
  'responses output_text': ['content', 0, 'text'],
  'responses transcript': ['content', 0, 'transcript'],
  'responses reasoning_text': ['content', 0, 'text'],
  'responses refusal': ['content', 0, 'refusal'],
  'responses summary_text': ['summary', 0, 'text'],
}

/**
 * The pieces of text in one event, in the words that `endpoint` streams: the arguments of tool calls are JSON that
 * comes as text. `nests`: with those that a provider streams below its delta under names of its own.
 */
export function deltasOf(endpoint: EndpointName, event: JsonObject, nests = false): readonly Delta[] {
  switch (endpoint) {
    case 'chatComplete':
    case 'promptComplete':
      return chat(event, nests)
    case 'complete':
      return listOf(own(event, 'choices')).flatMap((choice, place) => {
        const known = piece(event, ['choices', place, 'text'], `text ${indexOf(choice, place)}`)
        return !nests
          ? known
          : [
              ...known,
              ...nestedPieces(event, ['choices', place], String(indexOf(choice, place)), {known, skipped: NO_TEXTS}),
            ]
      })
    case 'messages':
      return message(event, nests)
    case 'createModelResponse':
      return response(event)
    case 'realtime':
      return spoken(event)
    default:
      return []
  }
}

/** True for a text that is JSON. */
export function isJsonSlot(slot: string): boolean {
  return slot.startsWith('arguments ')
}

/** True for tokens. */
export function isTokenSlot(slot: string): boolean {
  return TOKENS.test(slot)
}
const TOKENS = /^other [^ .]*\.?tokens\./

/** Members of a delta whose name another kind of text has. */
const TAKEN: ReadonlySet<string> = new Set(['text', 'arguments', 'block_text', 'block_thinking', 'other', 'tool_input'])

const NOTHING: readonly Delta[] = []

function chat(event: JsonObject, nests: boolean): readonly Delta[] {
  return listOf(own(event, 'choices')).flatMap((choice, place) => {
    const delta = own(choice, 'delta')
    if (delta === undefined || delta === null) return NOTHING
    const index = indexOf(choice, place)
    const path = ['choices', place, 'delta']
    // A provider's own members, such as a reasoning by another name, come in pieces as well.
    const texts = keysOf(delta).filter(key => !TAKEN.has(key) && /^\w{1,40}$/.test(key))
    const within = (list: string, each: (item: JsonValue, at: number) => readonly Delta[]) =>
      listOf(own(delta, list)).flatMap(each)
    const known = [
      ...texts.flatMap(key => piece(event, [...path, key], `${key} ${index}`)),
      ...within('content', (_, at) => piece(event, [...path, 'content', at, 'text'], `content ${index}`)),
      ...within('content_blocks', (block, at) =>
        (['text', 'thinking'] as const).flatMap(key =>
          piece(event, [...path, 'content_blocks', at, 'delta', key], `block_${key} ${index}.${indexOf(block, at)}`),
        ),
      ),
      ...within('tool_calls', (call, at) => [
        ...piece(
          event,
          [...path, 'tool_calls', at, 'function', 'arguments'],
          `arguments ${index}.${indexOf(call, at)}`,
        ),
        ...piece(event, [...path, 'tool_calls', at, 'custom', 'input'], `tool_input ${index}.${indexOf(call, at)}`),
      ]),
      ...piece(event, [...path, 'function_call', 'arguments'], `arguments ${index}.only`),
      ...piece(event, [...path, 'audio', 'transcript'], `transcript ${index}`),
    ]
    return !nests || isPlain(delta) ? known : [...known, ...nestedPieces(event, path, String(index), {known})]
  })
}

function message(event: JsonObject, nests: boolean): readonly Delta[] {
  const key =
    event.type === 'content_block_delta' ? 'delta' : event.type === 'content_block_start' ? 'content_block' : null
  if (!key) return []
  const known = [
    ...piece(event, [key, 'text'], `text ${event.index}`),
    ...piece(event, [key, 'thinking'], `thinking ${event.index}`),
    ...piece(event, [key, 'partial_json'], `arguments ${event.index}`),
  ]
  return nests && key === 'delta' ? [...known, ...nestedPieces(event, [key], String(event.index), {known})] : known
}

/** Members of a choice that repeat its text in tokens, or end it. */
const NO_TEXTS: ReadonlySet<string> = new Set(['logprobs', 'finish_reason', 'stop_reason'])

/** True for a delta of nothing but texts, as most are: all of it is known. */
function isPlain(delta: JsonValue | undefined): boolean {
  return keysOf(delta).every(key => !TAKEN.has(key) && typeof own(delta, key) !== 'object' && /^\w{1,40}$/.test(key))
}

const RESPONSE_DELTAS: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'output_text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_summary_text.delta': 'summary_text',
  'response.reasoning_text.delta': 'reasoning_text',
}

function response(event: JsonObject): readonly Delta[] {
  const {type} = event
  if (typeof type !== 'string' || !/^response\..*\.delta$/.test(type) || isSound(event)) return []
  if (type.endsWith('arguments.delta')) return piece(event, ['delta'], `arguments ${event.output_index}`)
  const kind = Object.hasOwn(RESPONSE_DELTAS, type) ? RESPONSE_DELTAS[type] : 'tool_input'
  return piece(event, ['delta'], `${kind} ${event.output_index}.${event.content_index ?? event.summary_index ?? 0}`)
}

/**
 * The pieces of a realtime session: each event has one, of a part of an item. What a client spoke is written down in
 * pieces, too.
 */
function spoken(event: JsonObject): readonly Delta[] {
  const {type} = event
  if (typeof type !== 'string' || !type.endsWith('.delta') || isSound(event)) return []
  const kind = /arguments\.delta$/.test(type) ? 'arguments' : /transcript/.test(type) ? 'transcript' : 'output_text'
  const place = [event.item_id ?? event.output_index ?? '', event.content_index ?? 0].map(each =>
    String(each).replaceAll(/[ .]/g, '_'),
  )
  return piece(event, ['delta'], `${kind} ${place.join('.')}`)
}

function piece(event: JsonObject, path: JsonPath, slot: string): readonly Delta[] {
  let value: JsonValue | undefined = event
  let holder: JsonValue | undefined
  for (const key of path) {
    holder = value
    value = own(value, key)
  }
  if (typeof value !== 'string' || !value || isLeftAlone(value, String(path.at(-1)), holder)) return []
  return [{slot, path, text: value}]
}

/** An event without its pieces: what else it says. */
export function withoutPieces(event: JsonObject, deltas: readonly Delta[]): JsonObject {
  const bare = deltas.length
    ? withTexts(
        event,
        deltas,
        deltas.map(() => ''),
      )
    : event
  return isSound(event) ? {...bare, delta: ''} : bare
}

/** The answer as far as its texts go: an element for each, in the order of `texts`. */
export function answerOf(endpoint: EndpointName, texts: ReadonlyMap<string, string>): JsonObject {
  const lists: Record<string, JsonValue[]> = {[listIn(endpoint)]: []}
  for (const [slot, text] of texts) {
    const kind = kindOf(slot)
    const list = kind === ECHO ? REPEATED : listIn(endpoint)
    lists[list] ??= []
    lists[list].push(kind === ECHO ? text : element(kind, endpoint, text))
  }
  return endpoint === 'createModelResponse' ? {object: 'response', ...lists} : lists
}

/** The changed texts, in the order in which `answerOf` was given them; null when one is gone. */
export function textsIn(
  endpoint: EndpointName,
  answer: JsonValue,
  slots: Iterable<string>,
): ReadonlyMap<string, string> | null {
  const texts = new Map<string, string>()
  const places: Record<string, number> = {}
  for (const slot of slots) {
    const kind = kindOf(slot)
    const list = kind === ECHO ? REPEATED : listIn(endpoint)
    const all = own(answer, list)
    const at = places[list] ?? 0
    places[list] = at + 1
    let value: JsonValue | undefined = isList(all) ? all[at] : undefined
    if (kind !== ECHO) for (const key of placeOf(kind, endpoint)) value = own(value, key)
    if (typeof value !== 'string') return null
    texts.set(slot, value)
  }
  return texts
}

/** The part of a response that repeats its request: an element of its own, which is not judged as an answer. */
export const ECHO = 'echo'
const REPEATED = 'instructions'

function listIn(endpoint: EndpointName): string {
  return endpoint === 'messages' ? 'content' : dialectOf(endpoint) === 'responses' ? 'output' : 'choices'
}

function kindOf(slot: string): string {
  return slot.slice(0, slot.indexOf(' '))
}

function dialectOf(endpoint: EndpointName): 'chat' | 'messages' | 'responses' {
  return endpoint === 'messages'
    ? 'messages'
    : endpoint === 'createModelResponse' || endpoint === 'realtime'
      ? 'responses'
      : 'chat'
}

function placeOf(kind: string, endpoint: EndpointName): JsonPath {
  const dialect = dialectOf(endpoint)
  return PLACES[`${dialect} ${kind}`] ?? (dialect === 'chat' ? ['message', kind] : [kind])
}

const TYPES: Readonly<Record<string, string>> = {
  transcript: 'message',
  ...{
    output_text: 'message',
    refusal: 'message',
    summary_text: 'reasoning',
    reasoning_text: 'reasoning',
    arguments: 'function_call',
  },
}

function element(kind: string, endpoint: EndpointName, text: string): JsonValue {
  const dialect = dialectOf(endpoint)
  const nested = placeOf(kind, endpoint).reduceRight<JsonValue>(
    (within, key) => (typeof key === 'number' ? [within] : {[key]: within}),
    text,
  )
  if (dialect === 'chat') return nested
  const type = dialect === 'responses' ? (TYPES[kind] ?? kind) : kind === 'arguments' ? 'tool_use' : kind
  return {type, ...(nested as JsonObject)}
}

/** An event with other pieces of text in the places of its own. */
export function withTexts(event: JsonObject, deltas: readonly Delta[], texts: readonly string[]): JsonObject {
  const edits = deltas.flatMap(({path}, place) => (path ? [{path, put: texts[place]!}] : []))
  return withAll(event, edits) as JsonObject
}

/** An event whose text was changed, without its tokens: they hold the text in pieces too small to be rewritten. */
export function withoutTokens(event: JsonObject): JsonObject {
  if (isList(own(event, 'logprobs'))) return {...event, logprobs: []}
  const choices = listOf(own(event, 'choices'))
  if (!choices.some(choice => own(choice, 'logprobs'))) return event
  return {
    ...event,
    choices: choices.map(choice => (own(choice, 'logprobs') ? {...(choice as JsonObject), logprobs: null} : choice)),
  }
}

function indexOf(item: JsonValue, place: number): JsonValue {
  return own(item, 'index') ?? place
}

function keysOf(value: JsonValue | undefined): readonly string[] {
  return typeof value === 'object' && value !== null && !isList(value) ? Object.keys(value) : []
}
