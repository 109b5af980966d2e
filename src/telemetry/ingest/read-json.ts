import {isObject, list, object, parseJson} from '../../base/json-object.ts'
import {BoundedAttributes, SpanBudget} from './budget.ts'
import {momentOf} from './moment.ts'
import {BODY, finite, MAX_SCOPE_CHARS} from './read-protobuf.ts'
import {
  type FoundSpan,
  hexId,
  type IngestSignal,
  MAX_EVENTS,
  MAX_LINKS,
  MAX_SOURCE_BYTES,
  MAX_SPAN_BYTES,
  MAX_VALUE_DEPTH,
  optionalId,
  RECEIVED_KINDS,
  type ReceivedEvent,
  type ReceivedKind,
  type ReceivedLink,
  type ReceivedSpan,
  type SpanAttributes,
  type SpanSource,
  type SpanValue,
} from './received.ts'

type Json = Readonly<Record<string, unknown>>

/** Members that hold 64 bits: a number that is written out would lose its last digits. No text has them unescaped. */
const WIDE = /"((?:startT|endT|observedT|t)imeUnixNano|intValue)"(\s*:\s*)(-?\d{16,20})(?=\s*[,}])/g
const MAX_NS = 2n ** 64n - 1n

/**
 * The spans of a request in the JSON of OTLP, one by one; null for one that cannot be read, and `part` where a source
 * begins. Throws a `SyntaxError` for what is no JSON, is nested too deep, or has more values than are read.
 */
export function jsonSpans(bytes: Buffer, signal: IngestSignal): Generator<FoundSpan> {
  if (hasTooMany(bytes)) throw new SyntaxError('it has more values than are read')
  const text = new TextDecoder().decode(bytes)
  const request = parseJson(text.replace(WIDE, '"$1"$2"$3"'))
  if (!isObject(request)) throw new SyntaxError('it is no object')
  const {of_resource} = MEMBERS[signal]
  if (!Array.isArray(request[of_resource] ?? [])) throw new SyntaxError(`it has ${of_resource} that are no list`)
  return itemsOf(request, signal)
}

/** Each value takes far more memory than its text: millions of them in few bytes are no spans. */
function hasTooMany(bytes: Buffer): boolean {
  let [opened, divided] = [0, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === COMMA) divided++
    else if (byte === BRACE || byte === BRACKET) opened++
  }
  return opened > MAX_OPENED || divided > MAX_DIVIDED
}

const [COMMA, BRACE, BRACKET] = [0x2c, 0x7b, 0x5b]
const MAX_OPENED = 1_000_000
const MAX_DIVIDED = 4_000_000

const MEMBERS = {
  traces: {of_resource: 'resourceSpans', of_scope: 'scopeSpans', items: 'spans'},
  logs: {of_resource: 'resourceLogs', of_scope: 'scopeLogs', items: 'logRecords'},
} as const

function* itemsOf(request: Json, signal: IngestSignal): Generator<FoundSpan> {
  const {of_resource, of_scope, items} = MEMBERS[signal]
  const read = signal === 'traces' ? spanOf : recordOf
  for (const each of list(request[of_resource])) {
    yield 'part'
    const of = object(each)
    const resource = resourceOf(object(of.resource).attributes)
    for (const part of list(of[of_scope])) {
      yield 'part'
      const scope = scopeOf(object(object(part).scope))
      for (const item of list(object(part)[items])) yield readable(item, {resource, scope}, read)
    }
  }
}

/** Never more than the bad span is lost. */
function readable(
  item: unknown,
  source: SpanSource,
  read: (of: Json, source: SpanSource) => ReceivedSpan,
): ReceivedSpan | null {
  try {
    return read(object(item), source)
  } catch (fault) {
    if (fault instanceof DeepValueFault) return null
    throw fault
  }
}

class DeepValueFault extends Error {}

function spanOf(of: Json, source: SpanSource): ReceivedSpan {
  const budget = new SpanBudget(MAX_SPAN_BYTES)
  const attributes = attributesOf(of.attributes, budget)
  const events: ReceivedEvent[] = []
  for (const each of list(of.events)) addEvent(object(each), events, budget)
  const links: ReceivedLink[] = []
  for (const each of list(of.links)) addLink(object(each), links, budget)
  for (const name of ['droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount'] as const)
    budget.dropped += countOf(of[name])
  const status = object(of.status)
  return {
    trace_id: hexId(of.traceId, 32),
    span_id: hexId(of.spanId, 16),
    parent_span_id: optionalId(of.parentSpanId, 16),
    tracestate: budget.text(textOf(of.traceState)),
    name: budget.text(textOf(of.name)),
    kind: kindOf(of.kind),
    start_ns: nanoseconds(of.startTimeUnixNano),
    end_ns: nanoseconds(of.endTimeUnixNano),
    ...{attributes, events, links, source},
    status: {
      is_error: status.code === 2 || status.code === 'STATUS_CODE_ERROR',
      message: budget.text(textOf(status.message)),
    },
    dropped: budget.dropped,
    is_cut: budget.is_cut,
  }
}

function recordOf(of: Json, source: SpanSource): ReceivedSpan {
  const budget = new SpanBudget(MAX_SPAN_BYTES)
  const severity = budget.text(textOf(of.severityText))
  const event_name = budget.text(textOf(of.eventName))
  const body = new BoundedAttributes(budget)
  body.add(BODY, anyValue(of.body, 0))
  const attributes = attributesOf(of.attributes, budget)
  budget.dropped += countOf(of.droppedAttributesCount)
  const read = {
    ...{trace_id: lowered(of.traceId), span_id: lowered(of.spanId), severity, event_name, attributes},
    time_ns: nanoseconds(of.timeUnixNano),
    observed_ns: nanoseconds(of.observedTimeUnixNano),
    ...{body: body.all.get(BODY), dropped: budget.dropped, is_cut: budget.is_cut},
  }
  return momentOf(read, source)
}

const lowered = (id: unknown) => (typeof id === 'string' ? id.toLowerCase() : id)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A 32-bit count, as a number or its digits; 0 for anything else. An object may have members that break `Number`. */
function countOf(value: unknown): number {
  const count = typeof value === 'number' || typeof value === 'string' ? Math.trunc(Number(value)) : 0
  return count > 0 ? Math.min(count, 0xffffffff) : 0
}

/** An enumeration: its number or its name. */
function kindOf(value: unknown): ReceivedKind {
  if (typeof value === 'number') return RECEIVED_KINDS[value] ?? 'unspecified'
  const name = textOf(value)
  return RECEIVED_KINDS.find(kind => name === `SPAN_KIND_${kind.toUpperCase()}`) ?? 'unspecified'
}

/** A 64-bit number, as a number or its digits; absent it is 0. Null for anything else, such as a date. */
function nanoseconds(value: unknown): bigint | null {
  if (value === undefined || value === null) return 0n
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !/^\d{1,20}$/.test(text)) return null
  const found = BigInt(text)
  return found <= MAX_NS ? found : null
}

function attributesOf(given: unknown, budget: SpanBudget): SpanAttributes {
  const attributes = new BoundedAttributes(budget)
  for (const each of list(given)) addAttribute(object(each), attributes)
  return attributes.all
}

/** Of a source one that is nested too deep is left out: its spans are as good as others. */
function resourceOf(given: unknown): SpanAttributes {
  const attributes = new BoundedAttributes(new SpanBudget(MAX_SOURCE_BYTES))
  for (const each of list(given)) {
    try {
      addAttribute(object(each), attributes)
    } catch (fault) {
      if (!(fault instanceof DeepValueFault)) throw fault
    }
  }
  return attributes.all
}

function addAttribute({key, value}: Json, attributes: BoundedAttributes): void {
  if (attributes.isFull) attributes.pass()
  else attributes.add(textOf(key), anyValue(value, 0))
}

/** Undefined: it has no value. */
function anyValue(given: unknown, depth: number): SpanValue | undefined {
  if (depth === MAX_VALUE_DEPTH) throw new DeepValueFault()
  const {stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue} = object(given)
  if (typeof stringValue === 'string') return stringValue
  if (typeof boolValue === 'boolean') return boolValue
  if (intValue !== undefined) return integer(intValue)
  if (doubleValue !== undefined) return double(doubleValue)
  if (arrayValue !== undefined) return list(object(arrayValue).values).map(each => anyValue(each, depth + 1) ?? null)
  if (kvlistValue !== undefined) return members(list(object(kvlistValue).values), depth + 1)
  return typeof bytesValue === 'string' ? bytesValue : undefined
}

function integer(value: unknown): SpanValue | undefined {
  if (typeof value === 'number') return finite(value)
  if (typeof value !== 'string' || !/^-?\d{1,20}$/.test(value)) return undefined
  const exact = Number(value)
  return Number.isSafeInteger(exact) ? exact : value
}

function double(value: unknown): SpanValue | undefined {
  if (typeof value === 'number') return finite(value)
  return typeof value === 'string' && value !== '' ? finite(Number(value)) : undefined
}

function members(pairs: readonly unknown[], depth: number): SpanValue {
  const found = new Map<string, SpanValue>()
  for (const pair of pairs) {
    const {key, value} = object(pair)
    const of = anyValue(value, depth)
    if (of !== undefined && !found.has(textOf(key))) found.set(textOf(key), of)
  }
  return Object.fromEntries(found)
}

function addEvent(of: Json, events: ReceivedEvent[], budget: SpanBudget): void {
  if (events.length === MAX_EVENTS) return void budget.dropped++
  const attributes = attributesOf(of.attributes, budget)
  const name = budget.text(textOf(of.name))
  if (budget.take(name.length)) events.push({time_ns: nanoseconds(of.timeUnixNano) ?? 0n, name, attributes})
}

function addLink(of: Json, links: ReceivedLink[], budget: SpanBudget): void {
  if (links.length === MAX_LINKS) return void budget.dropped++
  const [trace_id, span_id] = [hexId(of.traceId, 32), hexId(of.spanId, 16)]
  if (trace_id !== '' && span_id !== '') links.push({trace_id, span_id})
}

function scopeOf({name, version}: Json): SpanSource['scope'] {
  const budget = new SpanBudget(MAX_SOURCE_BYTES)
  const text = (value: unknown) => budget.text(textOf(value)).slice(0, MAX_SCOPE_CHARS)
  return {name: text(name), version: text(version)}
}
