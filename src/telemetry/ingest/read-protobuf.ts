import {ProtobufReader, WireFault} from '../otlp/wire-reader.ts'
import {BoundedAttributes, SpanBudget} from './budget.ts'
import {momentOf} from './moment.ts'
import {
  type FoundSpan,
  hexId,
  type IngestSignal,
  MAX_EVENTS,
  MAX_LINKS,
  MAX_READ_BYTES,
  MAX_SOURCE_BYTES,
  MAX_SPAN_BYTES,
  MAX_VALUE_DEPTH,
  optionalId,
  RECEIVED_KINDS,
  type ReceivedEvent,
  type ReceivedLink,
  type ReceivedSpan,
  type SpanAttributes,
  type SpanSource,
  type SpanValue,
} from './received.ts'

const ERROR = 2

type ReadItem = (of: ProtobufReader, source: SpanSource) => ReceivedSpan

/**
 * The spans of an `ExportTraceServiceRequest`, or the records of an `ExportLogsServiceRequest`, which has the same
 * form, one by one; null for one that cannot be read, and `part` where a source begins. Throws a `WireFault` where the
 * bytes around them are no such message.
 */
export function* protobufSpans(bytes: Buffer, signal: IngestSignal): Generator<FoundSpan> {
  const request = new ProtobufReader(bytes)
  const read = signal === 'traces' ? spanIn : recordIn
  for (let field = request.next(); field !== 0; field = request.next()) {
    if (field === 1) yield* ofResource(request.message(), read)
    else request.skip()
  }
}

/** Fields come in any order: the resource may be behind its spans, so that it is looked for first. */
function* ofResource(of: ProtobufReader, read: ReadItem): Generator<FoundSpan> {
  yield 'part'
  let resource: SpanAttributes = new Map()
  const first = of.copy()
  for (let field = first.next(); field !== 0; field = first.next()) {
    if (field === 1) resource = resourceIn(first.message())
    else first.skip()
  }
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 2) yield* ofScope(of.message(), resource, read)
    else of.skip()
  }
}

function* ofScope(of: ProtobufReader, resource: SpanAttributes, read: ReadItem): Generator<FoundSpan> {
  yield 'part'
  let scope: SpanSource['scope'] = {name: '', version: ''}
  const first = of.copy()
  for (let field = first.next(); field !== 0; field = first.next()) {
    if (field === 1) scope = scopeIn(first.message())
    else first.skip()
  }
  const source = {resource, scope}
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 2) yield readable(of.message(), source, read)
    else of.skip()
  }
}

/** Never more than the bad span is lost. */
function readable(of: ProtobufReader, source: SpanSource, read: ReadItem): ReceivedSpan | null {
  if (of.length > MAX_READ_BYTES) return null
  try {
    return read(of, source)
  } catch (fault) {
    if (fault instanceof WireFault) return null
    throw fault
  }
}

function spanIn(of: ProtobufReader, source: SpanSource): ReceivedSpan {
  const budget = new SpanBudget(MAX_SPAN_BYTES)
  const attributes = new BoundedAttributes(budget)
  const events: ReceivedEvent[] = []
  const links: ReceivedLink[] = []
  const ids = {trace: '', span: '', parent: null as string | null}
  const texts = {name: '', tracestate: ''}
  const times = {start: 0n, end: 0n}
  let kind = 0
  let status: ReceivedSpan['status'] = {is_error: false, message: ''}
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 1) ids.trace = hexId(of.bytes().toString('hex'), 32)
    else if (field === 2) ids.span = hexId(of.bytes().toString('hex'), 16)
    else if (field === 3) texts.tracestate = of.text()
    else if (field === 4) ids.parent = optionalId(of.bytes().toString('hex'), 16)
    else if (field === 5) texts.name = of.text()
    else if (field === 6) kind = of.number()
    else if (field === 7) times.start = of.fixed64()
    else if (field === 8) times.end = of.fixed64()
    else if (field === 9) addAttribute(of.message(), attributes)
    else if (field === 10 || field === 12 || field === 14) budget.dropped += Math.min(of.number(), 0xffffffff)
    else if (field === 11) addEvent(of.message(), events, budget)
    else if (field === 13) addLink(of.message(), links, budget)
    else if (field === 15) status = statusIn(of.message(), budget)
    else of.skip()
  }
  return {
    trace_id: ids.trace,
    span_id: ids.span,
    parent_span_id: ids.parent,
    tracestate: budget.text(texts.tracestate),
    name: budget.text(texts.name),
    kind: RECEIVED_KINDS[kind] ?? 'unspecified',
    start_ns: times.start,
    end_ns: times.end,
    ...{attributes: attributes.all, events, links, status, source},
    dropped: budget.dropped,
    is_cut: budget.is_cut,
  }
}

function recordIn(of: ProtobufReader, source: SpanSource): ReceivedSpan {
  const budget = new SpanBudget(MAX_SPAN_BYTES)
  const attributes = new BoundedAttributes(budget)
  const body = new BoundedAttributes(budget)
  const ids = {trace: '', span: ''}
  const texts = {severity: '', event_name: ''}
  const times = {at: 0n, observed: 0n}
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 1) times.at = of.fixed64()
    else if (field === 3) texts.severity = budget.text(of.text())
    else if (field === 5) body.add(BODY, valueIn(of.message(), 0))
    else if (field === 6) addAttribute(of.message(), attributes)
    else if (field === 7) budget.dropped += Math.min(of.number(), 0xffffffff)
    else if (field === 9) ids.trace = of.bytes().toString('hex')
    else if (field === 10) ids.span = of.bytes().toString('hex')
    else if (field === 11) times.observed = of.fixed64()
    else if (field === 12) texts.event_name = budget.text(of.text())
    else of.skip()
  }
  const read = {
    ...{trace_id: ids.trace, span_id: ids.span, time_ns: times.at, observed_ns: times.observed, ...texts},
    ...{body: body.all.get(BODY), attributes: attributes.all, dropped: budget.dropped, is_cut: budget.is_cut},
  }
  return momentOf(read, source)
}

export const BODY = 'body'

function addAttribute(of: ProtobufReader, attributes: BoundedAttributes): void {
  if (attributes.isFull) return attributes.pass()
  let name = ''
  let value: SpanValue | undefined
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 1) name = of.text()
    else if (field === 2) value = valueIn(of.message(), 0)
    else of.skip()
  }
  attributes.add(name, value)
}

/** Undefined: it has no value. */
function valueIn(of: ProtobufReader, depth: number): SpanValue | undefined {
  if (depth === MAX_VALUE_DEPTH) throw new WireFault('a value is nested too deep')
  let value: SpanValue | undefined
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 1) value = of.text()
    else if (field === 2) value = of.number() !== 0
    else if (field === 3) value = of.integer()
    else if (field === 4) value = finite(of.double())
    else if (field === 5) value = listIn(of.message(), depth + 1)
    else if (field === 6) value = objectIn(of.message(), depth + 1)
    else if (field === 7) value = of.bytes().toString('base64')
    else of.skip()
  }
  return value
}

function listIn(of: ProtobufReader, depth: number): SpanValue {
  const values: SpanValue[] = []
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 1) values.push(valueIn(of.message(), depth) ?? null)
    else of.skip()
  }
  return values
}

function objectIn(of: ProtobufReader, depth: number): SpanValue {
  const members = new Map<string, SpanValue>()
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field !== 1) {
      of.skip()
      continue
    }
    const pair = of.message()
    let name = ''
    let value: SpanValue | undefined
    for (let part = pair.next(); part !== 0; part = pair.next()) {
      if (part === 1) name = pair.text()
      else if (part === 2) value = valueIn(pair.message(), depth)
      else pair.skip()
    }
    if (value !== undefined && !members.has(name)) members.set(name, value)
  }
  return Object.fromEntries(members)
}

/** JSON has no other numbers. */
export function finite(value: number): number | string {
  return Number.isFinite(value) ? value : String(value)
}

function addEvent(of: ProtobufReader, events: ReceivedEvent[], budget: SpanBudget): void {
  if (events.length === MAX_EVENTS) return void budget.dropped++
  const attributes = new BoundedAttributes(budget)
  let time_ns = 0n
  let name = ''
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 1) time_ns = of.fixed64()
    else if (field === 2) name = of.text()
    else if (field === 3) addAttribute(of.message(), attributes)
    else of.skip()
  }
  const text = budget.text(name)
  if (budget.take(text.length)) events.push({time_ns, name: text, attributes: attributes.all})
}

function addLink(of: ProtobufReader, links: ReceivedLink[], budget: SpanBudget): void {
  if (links.length === MAX_LINKS) return void budget.dropped++
  let trace_id = ''
  let span_id = ''
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 1) trace_id = hexId(of.bytes().toString('hex'), 32)
    else if (field === 2) span_id = hexId(of.bytes().toString('hex'), 16)
    else of.skip()
  }
  if (trace_id !== '' && span_id !== '') links.push({trace_id, span_id})
}

function statusIn(of: ProtobufReader, budget: SpanBudget): ReceivedSpan['status'] {
  let message = ''
  let code = 0
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 2) message = of.text()
    else if (field === 3) code = of.number()
    else of.skip()
  }
  return {is_error: code === ERROR, message: budget.text(message)}
}

/** Of a source one that cannot be read is left out: its spans are as good as others. */
function resourceIn(of: ProtobufReader): SpanAttributes {
  const attributes = new BoundedAttributes(new SpanBudget(MAX_SOURCE_BYTES))
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field !== 1) {
      of.skip()
      continue
    }
    const attribute = of.message()
    try {
      addAttribute(attribute, attributes)
    } catch (fault) {
      if (!(fault instanceof WireFault)) throw fault
    }
  }
  return attributes.all
}

function scopeIn(of: ProtobufReader): SpanSource['scope'] {
  const scope = {name: '', version: ''}
  const budget = new SpanBudget(MAX_SOURCE_BYTES)
  for (let field = of.next(); field !== 0; field = of.next()) {
    if (field === 1) scope.name = budget.text(of.text()).slice(0, MAX_SCOPE_CHARS)
    else if (field === 2) scope.version = budget.text(of.text()).slice(0, MAX_SCOPE_CHARS)
    else of.skip()
  }
  return scope
}

export const MAX_SCOPE_CHARS = 256
