import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {readFields, SseFramer} from '../../src/base/sse.ts'
import {
  type Dialect,
  type Framing,
  InvalidResponseFault,
  type Json,
  type StreamEvent,
  type StreamTranslator,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../../src/providers/translation.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'
import {TOKEN_CLASSES, type Usage} from '../../src/schema/usage.ts'

/**
 * A case of `test/fixtures/<dialect>/<endpoint>/<case>`. `case.json` says what is asked and what must come of it;
 * beside it stand the provider's own bytes: `reply.json` (a whole answer), `events.txt` (a stream). Where both are
 * there, they tell one answer.
 */
export interface Case {
  readonly name: string
  readonly asked: Json
  /** Differs from the common context in these. */
  readonly context?: Partial<TranslationContext>
  /** What must leave: path, body and whatever else is said. */
  readonly request?: Json
  /** The field that the refusal names. */
  readonly refused?: string
  /** The client's body for `reply.json`. */
  readonly answer?: Json
  /** Words of the `InvalidResponseFault` that `reply.json` gets. */
  readonly bad_reply?: string
  /** Usage but for zeros. */
  readonly usage?: Json | null
  /**
   * The chunks for `events.txt`: a delta, `[delta, finish reason, choice]`, or `{chunk}`: one as it is, but for its
   * envelope.
   */
  readonly chunks?: readonly unknown[]
  readonly finished?: boolean
  /** The start of the message that the stream fails with, and its status. */
  readonly failed?: {readonly message: string; readonly status?: number | null}
  /** Answers that are not 2xx: status, body as text, the fault. */
  readonly faults?: readonly (readonly [status: number, body: string, fault: Json])[]
  readonly reply?: unknown
  readonly events?: Buffer
}

const root = join(import.meta.dirname, '../fixtures')

export function casesIn(dialect: string, endpoint: string): readonly Case[] {
  const folder = join(root, dialect, endpoint)
  if (!existsSync(folder)) return []
  // Some dialects keep their cases in another form.
  const names = readdirSync(folder).filter(name => existsSync(join(folder, name, 'case.json')))
  return names.map(name => {
    const at = (file: string) => join(folder, name, file)
    const said = JSON.parse(readFileSync(at('case.json'), 'utf8'))
    const reply = existsSync(at('reply.json')) ? {reply: JSON.parse(readFileSync(at('reply.json'), 'utf8'))} : {}
    const events = existsSync(at('events.txt')) ? {events: readFileSync(at('events.txt'))} : {}
    return {asked: {}, ...said, ...reply, ...events, name}
  })
}

export function contextOf(dialect: string, asked: Json, more: Partial<TranslationContext> = {}): TranslationContext {
  const model = typeof asked.model === 'string' ? asked.model : ''
  const is_stream = asked.stream === true
  return {
    provider: dialect,
    model,
    is_stream,
    strict: true,
    options: {},
    call_id: 'call1',
    created_s: 1_700_000_000,
    ...more,
  }
}

/** Tests of every fixture of a dialect: what leaves, what comes back, and the stream however it is cut. */
export function testFixtures(dialect: Dialect, endpoints: Readonly<Partial<Record<EndpointName, number>>>) {
  for (const [endpoint, least] of Object.entries(endpoints)) {
    const cases = casesIn(dialect.name, endpoint)
    const translation = dialect.endpoints[endpoint as EndpointName]!
    describe(`${dialect.name} ${endpoint}`, () => {
      test(`has ${least} cases`, () => expect(cases.length).toBeGreaterThanOrEqual(least))
      for (const said of cases) testCase(dialect, translation, said)
      testChanged(dialect, translation, cases)
    })
  }
}

function testCase(dialect: Dialect, translation: Translation, said: Case) {
  const context = contextOf(dialect.name, said.asked, said.context)
  const {request, refused, answer, bad_reply, chunks, events} = said
  if (request) {
    test(`${said.name}: what leaves`, () => {
      const {body, ...rest} = translation.request(said.asked, context)
      expect({
        ...rest,
        body: Buffer.isBuffer(body) ? body.toString('latin1') : JSON.parse(JSON.stringify(body)),
      }).toEqual(request)
    })
  }
  if (refused) {
    test(`${said.name}: refused`, () => {
      const error = caught(() => translation.request(said.asked, context))
      expect(error).toBeInstanceOf(UnsupportedInputFault)
      expect((error as UnsupportedInputFault).field).toBe(refused)
    })
  }
  if (answer) {
    test(`${said.name}: the answer`, () => {
      const given = translation.reply(said.reply, context, said.asked)
      expect(JSON.parse(JSON.stringify(given.body))).toEqual(answer)
      expect(counted(given.usage)).toEqual(said.usage ?? null)
    })
  }
  if (bad_reply !== undefined) {
    test(`${said.name}: no answer at all`, () => {
      const error = caught(() => translation.reply(said.reply, context, said.asked))
      expect(error).toBeInstanceOf(InvalidResponseFault)
      expect((error as Error).message).toContain(bad_reply)
    })
  }
  for (const [status, body, fault] of said.faults ?? []) {
    test(`${said.name}: the fault of ${status}`, () => {
      expect(dialect.fault(status, Buffer.from(body), context)).toEqual({type: null, param: null, code: null, ...fault})
    })
  }
  if (chunks && events) testStream(translation, said, context, chunks, events)
}

function testStream(
  translation: Translation,
  said: Case,
  context: TranslationContext,
  chunks: readonly unknown[],
  bytes: Buffer,
) {
  const {framing, open} = translation.stream!
  const hear = (pieces: readonly Buffer[]) => {
    const stream = open(context, said.asked)
    return {stream, given: [...framed(framing, pieces).flatMap(event => stream.event(event)), ...stream.end()]}
  }
  test(`${said.name}: the stream`, () => {
    const {stream, given} = hear([bytes])
    expect(given.map(bare)).toEqual(chunks.map(expanded))
    expect(envelopes(given)).toBeLessThanOrEqual(1)
    expect(stream.finished).toBe(said.finished ?? true)
    expect(counted(stream.usage)).toEqual(said.usage ?? null)
    expect(stream.text_bytes).toBe(spokenBytes(given, context.strict) ?? stream.text_bytes)
    if (!said.failed) return expect(stream.failed).toBeNull()
    expect(stream.failed?.message).toContain(said.failed.message)
    expect(stream.failed?.message).toMatch(new RegExp(`^${context.provider} error: `))
    expect(stream.failed?.status).toBe(said.failed.status ?? null)
  })
  test(`${said.name}: the stream cut anywhere`, () => {
    const whole = JSON.stringify(hear([bytes]).given)
    for (let at = 1; at < bytes.length; at++) {
      expect(
        JSON.stringify(hear([bytes.subarray(0, at), bytes.subarray(at)]).given) === whole,
        `cut at byte ${at}`,
      ).toBe(true)
    }
    expect(JSON.stringify(hear([...bytes].map(byte => Buffer.of(byte))).given)).toBe(whole)
  })
  if (!said.answer || said.finished === false) return
  test(`${said.name}: streamed and whole are one answer`, () => {
    const {stream, given} = hear([bytes])
    const plain = translation.reply(said.reply, context, said.asked)
    expect(stream.usage).toEqual(plain.usage)
    expect(joined(given)).toEqual(spokenIn(JSON.parse(JSON.stringify(plain.body))))
  })
}

/**
 * Everything that must not happen on hostile input: a throw that is no refusal, a prototype that is touched, half an
 * answer.
 */
export function testHostile(
  dialect: Dialect,
  endpoints: readonly EndpointName[],
  more: Partial<TranslationContext> = {},
) {
  for (const endpoint of endpoints) {
    const translation = dialect.endpoints[endpoint]!
    const context = contextOf(dialect.name, {model: 'm'}, more)
    test(`${dialect.name} ${endpoint}: hostile requests are translated or refused`, () => {
      for (const asked of HOSTILE) {
        const error = caught(() => translation.request(asked, context))
        if (error) expect(error).toBeInstanceOf(UnsupportedInputFault)
      }
      expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    })
    test(`${dialect.name} ${endpoint}: what is no answer is a bad reply`, () => {
      for (const said of NO_ANSWERS) {
        expect(
          caught(() => translation.reply(said, context, {documents: ['a'], input: 'a', prompt: 'a'})),
        ).toBeInstanceOf(InvalidResponseFault)
      }
    })
    if (!translation.stream) continue
    test(`${dialect.name} ${endpoint}: a stream of anything gives chunks or fails`, () => {
      for (const data of [...NO_ANSWERS, ...HOSTILE, '[DONE']) {
        const stream = translation.stream!.open({...context, is_stream: true}, {})
        const given = [...stream.event({name: null, data}), ...stream.end()]
        for (const chunk of given) expect(Array.isArray(chunk.choices)).toBe(true)
        if (typeof data === 'string' && data !== '') expect(stream.failed).not.toBeNull()
        expect(stream.failed !== null && stream.finished).toBe(false)
      }
    })
  }
}

const deep = JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`)
const polluting = JSON.parse(
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"messages":[{"role":"__proto__","content":"a"}]}',
)
const HOSTILE: readonly Json[] = [
  {},
  polluting,
  {messages: 'text'},
  {messages: [null]},
  {messages: [{role: 'user', content: 7}]},
  {messages: [{role: 'user', content: [null]}]},
  {messages: [{role: 'user', content: [{type: '__proto__'}]}]},
  {messages: [{role: 'user', content: [{type: 'image_url', image_url: {url: {}}}]}]},
  {messages: [{role: 'user', content: deep}]},
  {
    messages: [
      {role: 'assistant', tool_calls: [{id: 'a', function: {name: 'constructor', arguments: '{"__proto__":1}'}}]},
    ],
  },
  {messages: [{role: 'assistant', tool_calls: {}}]},
  {messages: [{role: 'tool', content: 'a'}]},
  {messages: [{role: 'user', content: 'a'}], tools: [{type: 'constructor'}]},
  {messages: [{role: 'user', content: 'a'}], tools: 'toString', tool_choice: {type: '__proto__'}},
  {messages: [{role: 'user', content: 'a'}], stop: {}, response_format: 3, reasoning_effort: 'constructor'},
  {prompt: deep, input: deep, documents: deep, query: deep, size: deep, n: deep},
  {prompt: 'a', input: [1, 2], documents: [null], query: 'a', size: '1x', n: -1},
]
const NO_ANSWERS: readonly unknown[] = [
  '<html>Bad gateway</html>',
  7,
  true,
  [],
  {},
  {error: {message: 'no'}},
  {choices: {}},
  {choices: [null], results: [null]},
]

function caught(act: () => unknown): unknown {
  try {
    act()
    return undefined
  } catch (error) {
    return error
  }
}

export function framed(framing: Framing, pieces: readonly Buffer[]): readonly StreamEvent[] {
  const events: StreamEvent[] = []
  const tell = (name: string | null, text: string) => {
    try {
      events.push({name, data: JSON.parse(text)})
    } catch {
      events.push({name, data: text})
    }
  }
  if (framing === 'json_array') {
    const lines = Buffer.concat([...pieces])
      .toString('utf8')
      .split('\n')
    for (const line of lines.filter(line => line.trim() !== '')) tell(null, line)
    return events
  }
  const framer = new SseFramer(raw => {
    const {event, data} = readFields(raw!)
    if (data.length > 0 || event !== null) tell(event, data.join('\n'))
  })
  for (const piece of pieces) framer.push(piece)
  framer.end()
  return events
}

function counted(usage: Usage | null): Json | null {
  if (!usage) return null
  const tokens = Object.fromEntries(TOKEN_CLASSES.filter(name => usage[name] > 0).map(name => [name, usage[name]]))
  return {...tokens, ...(Object.keys(usage.units).length > 0 ? {units: usage.units} : {})}
}

/** A chunk without what all of a stream share. */
function bare(chunk: Json): Json {
  const {id: _id, object: _object, created: _created, model: _model, provider: _provider, ...rest} = chunk
  return JSON.parse(JSON.stringify(rest))
}

function expanded(said: unknown): Json {
  if (typeof said === 'object' && said !== null && 'chunk' in said) return (said as {chunk: Json}).chunk
  const [delta, finish_reason = null, index = 0] = Array.isArray(said) ? said : [said]
  return {choices: [{index, delta, logprobs: null, finish_reason}]}
}

function envelopes(chunks: readonly Json[]): number {
  return new Set(chunks.map(({id, object, created, provider}) => JSON.stringify([id, object, created, provider]))).size
}

export interface Heard {
  content: string
  finish_reason: unknown
  tool_calls: {id: unknown; name: unknown; arguments: string}[]
  content_blocks: Record<string, string>[]
}

/** A stream's choices put together as an SDK does it. */
export function joined(chunks: readonly Json[]): Readonly<Record<string, Heard>> {
  const choices: Record<string, Heard> = {}
  for (const chunk of chunks) {
    for (const choice of chunk.choices as readonly Record<string, unknown>[]) {
      const key = String(choice.index)
      choices[key] ??= {content: '', finish_reason: null, tool_calls: [], content_blocks: []}
      const received = choices[key]
      received.finish_reason ??= choice.finish_reason
      received.content += (choice.text as string | undefined) ?? ''
      const delta = (choice.delta ?? {}) as Record<string, unknown>
      received.content += (delta.content as string | undefined) ?? ''
      for (const call of (delta.tool_calls ?? []) as {
        index: number
        id?: string
        function: {name?: string; arguments?: string}
      }[]) {
        received.tool_calls[call.index] ??= {id: call.id, name: call.function.name, arguments: ''}
        received.tool_calls[call.index]!.arguments += call.function.arguments ?? ''
      }
      for (const block of (delta.content_blocks ?? []) as {index: number; delta: Record<string, string>}[]) {
        received.content_blocks[block.index] ??= {}
        const known = received.content_blocks[block.index]!
        for (const [kind, text] of Object.entries(block.delta)) known[kind] = (known[kind] ?? '') + text
      }
    }
  }
  return choices
}

export function spokenIn(body: Json): Readonly<Record<string, Heard>> {
  const choices: Record<string, Heard> = {}
  for (const choice of body.choices as readonly Record<string, unknown>[]) {
    const message = (choice.message ?? {}) as Record<string, unknown>
    const calls = (message.tool_calls ?? []) as {id: string; function: {name: string; arguments: string}}[]
    choices[String(choice.index)] = {
      content: (choice.text as string | undefined) ?? (message.content as string | null) ?? '',
      finish_reason: choice.finish_reason,
      tool_calls: calls.map(({id, function: {name, arguments: given}}) => ({id, name, arguments: given})),
      content_blocks: ((message.content_blocks ?? []) as Record<string, string>[]).map(({type: _, ...said}) => said),
    }
  }
  return choices
}

/** Bytes of what the chunks say; null where thinking is kept from them, so that more was written than is seen. */
function spokenBytes(chunks: readonly Json[], strict: boolean): number | null {
  if (strict) return null
  return Object.values(joined(chunks)).reduce((sum, {content, tool_calls, content_blocks}) => {
    const thought = content_blocks.reduce((bytes, {thinking = ''}) => bytes + Buffer.byteLength(thinking), 0)
    const called = tool_calls.reduce(
      (bytes, call) => bytes + Buffer.byteLength(String(call.name)) + Buffer.byteLength(call.arguments),
      0,
    )
    return sum + Buffer.byteLength(content) + thought + called
  }, 0)
}

/** A stream's translator told of `events`, for tests that make them. */
export function told(stream: StreamTranslator, events: readonly Json[]): readonly Json[] {
  return [...events.flatMap(data => stream.event({name: null, data})), ...stream.end()]
}

/** A turn of a conversation, in no vendor's words. */
export interface Turn {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly text: string
  readonly thought?: string
  readonly images: readonly string[]
  readonly calls: readonly Said[]
  /** The call that a tool's turn answers. */
  readonly answers?: string
}

export interface Said {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

const words = fc.string({unit: 'grapheme', minLength: 1, maxLength: 40})
const given = fc
  .dictionary(fc.string({maxLength: 8}), fc.jsonValue({maxDepth: 2}), {maxKeys: 4})
  .map(value => JSON.stringify(value))

/**
 * What an assistant says: text, calls or both, thinking before it or not. Ids are of nine letters and digits, as
 * Mistral wants them.
 */
export const spoken: fc.Arbitrary<Turn> = fc
  .record({
    text: fc.oneof(words, fc.constant('')),
    thought: fc.option(words, {nil: undefined}),
    calls: fc.array(
      fc.record({
        id: fc.stringMatching(/^[a-zA-Z0-9]{9}$/),
        name: fc.stringMatching(/^[a-z_]{1,12}$/),
        arguments: given,
      }),
      {
        maxLength: 3,
      },
    ),
  })
  .filter(
    ({text, calls}) => (text !== '' || calls.length > 0) && new Set(calls.map(({id}) => id)).size === calls.length,
  )
  .map(said => ({role: 'assistant', images: [], ...said}))

/** Conversations as clients have them: calls are answered, in the order they were made. */
export const conversation: fc.Arbitrary<readonly Turn[]> = fc
  .tuple(
    fc.array(
      fc.record({role: fc.constant('system' as const), text: words, images: fc.constant([]), calls: fc.constant([])}),
      {
        maxLength: 2,
      },
    ),
    fc.array(
      fc.tuple(
        fc.record({
          role: fc.constant('user' as const),
          text: words,
          images: fc.array(fc.webUrl(), {maxLength: 2}),
          calls: fc.constant([]),
        }),
        spoken,
        words,
      ),
      {minLength: 1, maxLength: 3},
    ),
  )
  .map(([system, rounds]) => [
    ...system,
    ...rounds.flatMap(([user, assistant, result]): Turn[] => [
      user,
      assistant,
      ...assistant.calls.map(
        ({id}, at): Turn => ({role: 'tool', text: `${result}${at}`, images: [], calls: [], answers: id}),
      ),
    ]),
  ])

/** A turn in OpenAI's words; thinking as it was given out before. */
export function messageOf({role, text, thought, images, calls, answers}: Turn): Json {
  const pictures = images.map(url => ({type: 'image_url', image_url: {url}}))
  return {
    role,
    content: images.length > 0 ? [{type: 'text', text}, ...pictures] : calls.length > 0 && text === '' ? null : text,
    ...(thought
      ? {content_blocks: [{type: 'thinking', thinking: thought}, ...(text ? [{type: 'text', text}] : [])]}
      : {}),
    ...(calls.length > 0
      ? {
          tool_calls: calls.map(({id, name, arguments: text}) => ({
            id,
            type: 'function',
            function: {name, arguments: text},
          })),
        }
      : {}),
    ...(answers ? {tool_call_id: answers} : {}),
  }
}

/** A chat's only choice, whole or streamed, as a turn. */
export function turnOf(received: Heard): Turn {
  const thought = received.content_blocks.map(({thinking = ''}) => thinking).join('')
  return {
    role: 'assistant',
    text: received.content,
    thought: thought || undefined,
    images: [],
    calls: received.tool_calls.map(({id, name, arguments: text}) => ({
      id: String(id),
      name: String(name),
      arguments: text,
    })),
  }
}

/** `text` in pieces, at `cuts` counted in code points. */
export function pieces(text: string, cuts: readonly number[]): readonly string[] {
  const points = [...text]
  const at = [...new Set([0, ...cuts.map(cut => cut % (points.length + 1)), points.length])].sort(
    (one, other) => one - other,
  )
  return at.slice(1).map((end, place) => points.slice(at[place], end).join(''))
}

/**
 * Answers with a member changed give a whole answer or an `InvalidResponseFault`, and streams with changed events are
 * followed or fail.
 */
function testChanged(dialect: Dialect, translation: Translation, cases: readonly Case[]) {
  const replies = cases.filter(({answer}) => answer)
  if (replies.length > 0) {
    test('a changed answer is whole or a bad reply', () => {
      fc.assert(
        fc.property(
          fc.constantFrom(...replies),
          fc.nat(),
          fc.jsonValue({maxDepth: 2}),
          ({reply, asked, context: more}, at, value) => {
            const context = contextOf(dialect.name, asked, more)
            const error = caught(() =>
              expectWhole(translation.reply(withChange(reply as Json, at, value), context, asked).body),
            )
            if (error && !(error instanceof InvalidResponseFault)) throw error
          },
        ),
        {numRuns: 300},
      )
    })
  }
  const {stream} = translation
  const streams = cases.filter(({events}) => events)
  if (!stream || streams.length === 0) return
  test('a stream of changed events is followed or fails', () => {
    const events = streams.flatMap(({events}) => framed(stream.framing, [events!])).map(({data}) => data as Json)
    const changed = fc
      .tuple(fc.constantFrom(...events), fc.nat(), fc.jsonValue({maxDepth: 3}))
      .map(([event, at, value]) => (typeof event === 'object' ? withChange(event, at, value) : event))
    const anything = fc.oneof(
      {weight: 3, arbitrary: changed},
      {weight: 3, arbitrary: fc.constantFrom(...events)},
      {weight: 1, arbitrary: fc.jsonValue()},
    )
    fc.assert(
      fc.property(fc.array(anything, {maxLength: 12}), fc.boolean(), (data, strict) => {
        const translator = stream.open(contextOf(dialect.name, {stream: true}, {strict}), {})
        const given = [...data.flatMap(one => translator.event({name: null, data: one})), ...translator.end()]
        expect(translator.finished && translator.failed !== null).toBe(false)
        for (const received of Object.values(joined(given))) {
          for (const call of received.tool_calls) expect(call.name).toEqual(expect.stringMatching(/./))
        }
      }),
      {numRuns: 500},
    )
  })
}

/** An answer whose members are of OpenAI's kinds. */
function expectWhole(body: Json | {readonly bytes: Buffer}) {
  const said = JSON.parse(JSON.stringify(body)) as Record<string, unknown[]>
  const list = (said.choices ?? said.data ?? said.results) as readonly Record<string, unknown>[]
  expect(Array.isArray(list)).toBe(true)
  for (const entry of list) {
    if (said.results) expect([typeof entry.index, typeof entry.relevance_score]).toEqual(['number', 'number'])
    else if (said.data) expect(entry.embedding ?? entry.url ?? entry.b64_json).toBeTruthy()
    else if (entry.message === undefined)
      expect([typeof entry.text, typeof entry.finish_reason]).toEqual(['string', 'string'])
    else {
      const {content, tool_calls} = entry.message as {
        content: unknown
        tool_calls?: {id: string; function: Record<string, unknown>}[] | null
      }
      if (content !== null) expect(typeof content).toBe('string')
      for (const {id, function: called} of tool_calls ?? []) {
        expect([typeof id, typeof called.name, typeof called.arguments]).toEqual(['string', 'string', 'string'])
      }
      expect(typeof entry.finish_reason).toBe('string')
    }
  }
}

/** `event` with the member that `at` counts to replaced, however deep it stands. */
function withChange(event: Json, at: number, value: unknown): Json {
  let left = at % 12
  const change = (part: unknown): unknown => {
    if (left-- === 0) return value
    if (Array.isArray(part)) return part.map(change)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, change(inner)]))
  }
  const changed = Object.entries(event).map(([key, inner]) => [key, change(inner)])
  return Object.fromEntries(changed)
}
