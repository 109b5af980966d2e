import {AwsEventStream, readEvent} from '../../../src/base/aws-event-stream.ts'
import {topLevel} from '../../../src/base/json.ts'
import {keyFault} from '../../../src/base/json-keys.ts'
import {object, parsed, parsedObject, parseJson} from '../../../src/base/json-object.ts'
import {checkDepth, MAX_JSON_DEPTH, wayToNeverKey} from '../../../src/base/json-shape.ts'
import {JsonSkim} from '../../../src/base/json-skim.ts'
import {JsonValueFramer} from '../../../src/base/json-values.ts'
import {assemble} from '../../../src/cache/assemble.ts'
import {canonical} from '../../../src/cache/canonical.ts'
import {mayStore} from '../../../src/cache/rules.ts'
import {synthesizeStream} from '../../../src/cache/synthesize-stream.ts'
import {readPricingConfig} from '../../../src/pricing/config.ts'
import {readPriceFile} from '../../../src/pricing/file.ts'
import {readPrompt} from '../../../src/prompts/prompt.ts'
import {countTokens, messagesClient} from '../../../src/providers/messages/index.ts'
import {endedResponse, underWay} from '../../../src/providers/openai/background.ts'
import {plainFault} from '../../../src/providers/openai/fault.ts'
import {meterFilter} from '../../../src/providers/openai/meter.ts'
import {requestedMode} from '../../../src/providers/openai/mode.ts'
import {observeStream} from '../../../src/providers/openai/observe.ts'
import {readReply, requestUnits} from '../../../src/providers/openai/reply.ts'
import {countBodyTokens} from '../../../src/providers/openai/tokens.ts'
import {list} from '../../../src/providers/registry.ts'
import {responsesClient} from '../../../src/providers/responses/index.ts'
import type {Dialect, Json, Translation} from '../../../src/providers/translation.ts'
import {chargedTools} from '../../../src/providers/unified/charged-tools.ts'
import {deltasOf} from '../../../src/proxy/guardrails/deltas.ts'
import {readEvents} from '../../../src/proxy/guardrails/stream-rewriter.ts'
import {StreamText} from '../../../src/proxy/guardrails/stream-text.ts'
import {eventIn, modelOf, statusOf} from '../../../src/proxy/realtime/events.ts'
import {type RequestTranslation, translated} from '../../../src/proxy/upstream/translate.ts'
import {TranslatedStream} from '../../../src/proxy/upstream/translated-stream.ts'
import {changesBetween} from '../../../src/schema/changes.ts'
import {readConfig} from '../../../src/schema/configs.ts'
import type {EndpointName} from '../../../src/schema/endpoints.ts'
import {findNul} from '../../../src/schema/nul.ts'
import {hasMask, maskAll} from '../../../src/schema/secrets.ts'
import {casesIn, contextOf} from '../../support/dialect.ts'

/** Something that reads JSON of others. */
export interface Reader {
  readonly name: string
  /** Texts with `@` where the shape comes. */
  readonly places: readonly string[]
  read(text: string): unknown
  /** How often it parses the text, and writes it, where it does. */
  readonly parses: number
  readonly writes: number
  /** How long it may hold the event loop beyond that. */
  readonly most_ms: number
}

const ERRORS = [
  '{"error":{"message":@}}',
  '{"message":@}',
  '{"detail":@}',
  '{"errors":@}',
  '{"error":@}',
  '[{"error":{"message":@,"details":@}}]',
  '@',
  '{"message":{"detail":@},"type":@,"code":@}',
]
const ANSWERS = [
  '{"id":"c","choices":@}',
  '{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":@},"finish_reason":"stop"}]}',
  '{"id":"c","choices":[{"index":0,"message":{"content":"x","tool_calls":@},"finish_reason":"stop"}],"usage":@}',
  '{"message":{"role":"assistant","content":@,"tool_calls":@},"usage":@}',
  '{"candidates":@,"usageMetadata":@}',
  '{"candidates":[{"content":{"parts":@},"finishReason":"STOP","groundingMetadata":@}]}',
  '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":@}}]},"finishReason":"STOP"}]}',
  '{"type":"message","role":"assistant","content":@,"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":@}}',
  '{"output":{"message":{"role":"assistant","content":[{"text":@},{"toolUse":{"toolUseId":"t","name":"f","input":@}}]}},"stopReason":"end_turn","usage":@}',
  '{"data":@,"results":@,"embeddings":@,"usage":@,"meta":@}',
  '{"error":{"message":@}}',
  '{"success":true,"result":{"response":@,"data":@},"errors":@}',
  '{"responses":@,"chatResponse":{"choices":@}}',
  '@',
  '{"x":@}',
]
const EVENTS = [
  '{"error":{"message":@}}',
  '{"id":"c","choices":[{"index":0,"delta":{"content":@}}]}',
  '{"id":"c","choices":[{"index":0,"delta":{"tool_calls":@}}],"usage":@}',
  '{"id":"c","choices":@}',
  '{"type":"content_block_delta","index":0,"delta":@}',
  '{"type":"content_block_start","index":0,"content_block":@}',
  '{"type":"message_start","message":@}',
  '{"type":"response.completed","response":@}',
  '{"type":"response.output_item.done","output_index":0,"item":@}',
  '{"type":"error","error":@,"message":@}',
  '{"candidates":[{"content":{"parts":@}}],"usageMetadata":@}',
  '{"type":"content-delta","index":0,"delta":{"message":@}}',
  '{"usage":@,"x_groq":@}',
  '{"response":@,"usage":@}',
  '@',
]
const REQUESTS = [
  '{"model":"m","messages":@}',
  '{"model":"m","messages":[{"role":"user","content":@}],"tools":@}',
  '{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":@}}]}]}',
  '{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":@}}],"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":@}}}',
  '{"model":"m","input":@,"prompt":@,"metadata":@}',
  '{"model":"m","input":[{"type":"message","role":"user","content":@}],"instructions":@}',
]
const OTHERS = ['@', '{"a":@}', '{"a":{"b":[@]}}']

/**
 * Two events of 100,000 texts each, of which each is put into its place for guardrails to judge: linear, some
 * microseconds a text.
 */
const TEXT_BY_TEXT_MS = 800
const reader = (
  name: string,
  places: readonly string[],
  read: (text: string) => unknown,
  parses = 1,
  writes = 0,
  most_ms = 20,
): Reader => ({name, places, read, parses, writes, most_ms})
const bytes = (text: string) => Buffer.from(text)
const event = (text: string) => Buffer.from(`data: ${text}\n\n`)
const json = (text: string): Json => object(parsed(text))
const chat = contextOf('acme', {model: 'm', messages: []})

function dialectsWith(): readonly Dialect[] {
  const all = list().flatMap(({translations}): [string, Dialect][] =>
    translations ? [[translations.name, translations]] : [],
  )
  return [...new Map(all).values()]
}

/** A request of the endpoint that its dialect takes. */
const ASKED: Readonly<Partial<Record<EndpointName, Json>>> = {
  chatComplete: {model: 'm', messages: [{role: 'user', content: 'hi'}]},
  complete: {model: 'm', prompt: 'hi'},
  embed: {model: 'm', input: 'hi'},
  rerank: {model: 'm', query: 'hi', documents: ['a', 'b']},
  imageGenerate: {model: 'm', prompt: 'a cat'},
  messages: {model: 'm', max_tokens: 5, messages: [{role: 'user', content: 'hi'}]},
}

function readersOf(dialect: Dialect): readonly Reader[] {
  const {name} = dialect
  const context = contextOf(name, {model: 'm'})
  const faults = reader(`${name}: an error`, ERRORS, text => dialect.fault(503, bytes(text), context))
  const others = Object.entries(dialect.endpoints).flatMap(
    ([endpoint, translation]: [string, Translation]): Reader[] => {
      const asked = casesIn(name, endpoint).find(({answer}) => answer)?.asked ?? ASKED[endpoint as EndpointName]
      if (!asked) return []
      const context = contextOf(name, asked)
      const of = (client: RequestTranslation['client'] = null): RequestTranslation => {
        const request = {path: '/', body: null}
        return {translation, dialect, client, context, chat_request: asked, client_request: asked, request, held: null}
      }
      const found = [
        reader(`${name} ${endpoint}: an answer`, ANSWERS, text => translated(of(), 200, bytes(text)), 1, 4),
        reader(
          `${name} ${endpoint}: a request`,
          REQUESTS,
          text => JSON.stringify(translation.request({...asked, ...json(text)}, context)),
          1,
          4,
        ),
      ]
      if (endpoint === 'chatComplete') {
        found.push(
          reader(
            `${name} for messages: an answer`,
            ANSWERS,
            text => translated(of(messagesClient), 200, bytes(text)),
            1,
            4,
          ),
        )
      }
      const {stream} = translation
      if (!stream) return found
      const framed =
        stream.framing === 'sse' ? event : stream.framing === 'json_array' ? (text: string) => bytes(`[${text}]`) : null
      const take = (client: RequestTranslation['client']) => (text: string) => {
        let thrown: unknown
        const follower = new TranslatedStream(endpoint as EndpointName, of(client), {
          onFault: fault => {
            thrown = fault
          },
        })
        if (framed) follower.take(framed(text), () => undefined)
        if (thrown) throw thrown
        if (!framed)
          for (const name of ['chunk', 'contentBlockDelta', 'metadata'])
            stream.open(context, asked).event({name, data: parsed(text)})
      }
      found.push(reader(`${name} ${endpoint}: an event`, EVENTS, take(null), framed ? 1 : 3, 4))
      if (endpoint === 'chatComplete' && framed)
        found.push(reader(`${name} for responses: an event`, EVENTS, take(responsesClient), 1, 6))
      return found
    },
  )
  return [faults, ...others]
}

const STREAMED = ['chatComplete', 'complete', 'messages', 'createModelResponse'] as const

export const READERS: readonly Reader[] = [
  ...dialectsWith().flatMap(readersOf),
  reader('an error in OpenAI’s words', ERRORS, text => plainFault(503, bytes(text), chat)),
  reader('messages: a request', REQUESTS, text => messagesClient.toChat(json(text), chat), 1, 2),
  reader('responses: a request', REQUESTS, text => responsesClient.toChat(json(text), chat), 1, 2),
  reader('messages: tokens', REQUESTS, text => countTokens(json(text)), 1, 2),
  ...(
    ['chatComplete', 'embed', 'createModelResponse', 'messages', 'imageGenerate', 'createTranscription'] as const
  ).map(endpoint =>
    reader(
      `${endpoint}: an answer that passes`,
      ANSWERS,
      text => [readReply(endpoint, bytes(text)), underWay(bytes(text)), endedResponse(bytes(text))],
      3,
    ),
  ),
  ...([...STREAMED, 'proxy'] as const).map(endpoint =>
    reader(
      `${endpoint}: an event that passes`,
      EVENTS,
      text => {
        const observer = observeStream(endpoint)
        observer.take(event(text))
        observer.end()
      },
      3,
    ),
  ),
  reader('an event that may be metered', EVENTS, text => meterFilter().take(event(text))),
  reader('tokens of a body', [...REQUESTS, ...ANSWERS], text => countBodyTokens(bytes(text), {framed: true}), 1, 12),
  reader(
    'units of a request',
    REQUESTS,
    text => [requestUnits('imageGenerate', bytes(text)), requestedMode(bytes(text)), chargedTools(bytes(text))],
    3,
  ),
  ...STREAMED.flatMap(endpoint => [
    reader(`${endpoint}: a replay`, ANSWERS, text => synthesizeStream(endpoint, bytes(text)), 2, 4),
    reader(
      `${endpoint}: a stream that is kept`,
      EVENTS,
      text => assemble(endpoint, Buffer.concat([event(text), event(text)])),
      4,
      4,
    ),
    reader(
      `${endpoint}: the pieces of an event`,
      EVENTS,
      text => readEvents(event(text))?.map(each => each.event && deltasOf(endpoint, each.event)),
      3,
    ),
    reader(
      `${endpoint}: the text of a stream`,
      EVENTS,
      text => {
        const received = new StreamText(endpoint)
        const others = text.replaceAll('"k', '"q')
        for (const each of [...(readEvents(event(text)) ?? []), ...(readEvents(event(others)) ?? [])])
          if (each.event) received.add(each.event)
        return received.whole()
      },
      6,
      4,
      TEXT_BY_TEXT_MS,
    ),
  ]),
  reader('whether an answer may be kept', ANSWERS, text =>
    mayStore('chatComplete', 200, 'application/json', parsed(text)),
  ),
  reader('the key of a cache', REQUESTS, text => canonical(bytes(text)), 4, 4),
  reader(
    'a config',
    [
      '@',
      '{"provider":@}',
      '{"strategy":{"mode":"fallback"},"targets":@}',
      '{"provider":"openai","override_params":@}',
      '{"strategy":{"mode":"conditional","conditions":[{"query":@,"then":"a"}]},"targets":[]}',
      '{"provider":"openai","input_guardrails":@}',
    ],
    text => {
      checkDepth(text, 'The config')
      return readConfig(parseJson(text))
    },
    1,
    4,
  ),
  reader(
    'prices',
    ['@', '{"default":@}', '{"m":{"pricing_config":@}}'],
    text => readPriceFile(parseJson(text), 'openai', 'local'),
    1,
    4,
  ),
  reader(
    'a price',
    ['@', '{"calculate":{"request":@}}', '{"pay_as_you_go":@}'],
    text => readPricingConfig(parseJson(text), {provider: 'openai', model: 'm', source: 'custom'}),
    1,
    4,
  ),
  reader(
    'a prompt',
    ['[{"role":"user","content":@}]', '@'],
    text => readPrompt({string: text, is_raw_template: 0} as never),
    1,
    4,
  ),
  reader(
    'a realtime event',
    ['{"type":"error","error":@}', '{"type":"response.done","response":@}', '{"session":@}', '@'],
    text => {
      const received = eventIn(bytes(text))
      return [modelOf(received), statusOf(received)]
    },
  ),
  reader('the payload of an AWS event', EVENTS, text =>
    readEvent({headers: new Map([[':event-type', 'chunk']]), payload: bytes(text)}),
  ),
  reader('bytes that are no AWS frame', OTHERS, text => {
    try {
      new AwsEventStream(() => undefined).push(bytes(text))
    } catch {}
  }),
  reader(
    'the top level',
    ['{"a":@}', '{"model":"m","a":@}'],
    text => topLevel(bytes(text), new Set(['model']), MAX_JSON_DEPTH),
    2,
  ),
  reader('repeated keys', OTHERS, text => keyFault(text, MAX_JSON_DEPTH), 4),
  reader('keys that none may have', OTHERS, text => wayToNeverKey(parsed(text), 'a'), 2, 2),
  reader(
    'a skim',
    OTHERS,
    text => {
      const skim = new JsonSkim()
      skim.push(bytes(text))
      return skim.bytes()
    },
    4,
  ),
  reader(
    'values of a list',
    ['[@]', '@'],
    text => {
      const values = new JsonValueFramer(() => undefined)
      values.push(bytes(text))
      values.end()
    },
    4,
  ),
  reader('an object', OTHERS, parsedObject),
  reader('texts with NUL', OTHERS, text => findNul(parsed(text)), 2, 2),
  reader('masks', OTHERS, text => [hasMask(parsed(text)), maskAll(parsed(text))], 4, 4),
  reader('changes', OTHERS, text => changesBetween(parsed(text), parsed(text)), 4, 4),
]
