import {afterAll, beforeAll, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {pace, worked_ms} from '../support/pace.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {generated} from '../support/ring.ts'
import {WIRE_TARGETS, type WireTarget} from './wire-conversations/targets.ts'

// Odd requests of each client, and answers in another dialect than the provider's, at each dialect: a clear error or a
// right answer, never a fault of our own, and never more than two seconds of work.

const MOST_MS = 2_000 * pace()
const LONG_ID = `call_${'i.'.repeat(5_000)}`
const TURNS = 10_000

interface WholeAndStream {
  readonly whole: object
  readonly events: readonly object[]
}

/** Good answers in the words of each dialect. */
const ANSWERS: Readonly<Record<string, WholeAndStream>> = {
  anthropic: {
    whole: {
      ...{id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn'},
      content: [{type: 'text', text: 'Hello'}],
      usage: {input_tokens: 1, output_tokens: 1},
    },
    events: [
      {type: 'message_start', message: {id: 'm', model: 'm', usage: {input_tokens: 1, output_tokens: 1}}},
      {type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}},
      {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 'Hello'}},
      {type: 'content_block_stop', index: 0},
      {type: 'message_delta', delta: {stop_reason: 'end_turn'}, usage: {output_tokens: 1}},
      {type: 'message_stop'},
    ],
  },
  converse: {
    whole: {
      output: {message: {role: 'assistant', content: [{text: 'Hello'}]}},
      stopReason: 'end_turn',
      usage: {inputTokens: 1, outputTokens: 1, totalTokens: 2},
    },
    events: [
      {contentBlockDelta: {contentBlockIndex: 0, delta: {text: 'Hello'}}},
      {messageStop: {stopReason: 'end_turn'}},
    ],
  },
  gemini: {
    whole: {candidates: [{content: {role: 'model', parts: [{text: 'Hello'}]}, finishReason: 'STOP'}]},
    events: [{candidates: [{content: {role: 'model', parts: [{text: 'Hello'}]}, finishReason: 'STOP'}]}],
  },
  cohere: {
    whole: {id: 'c', finish_reason: 'COMPLETE', message: {role: 'assistant', content: [{type: 'text', text: 'Hello'}]}},
    events: [
      {type: 'message-start', id: 'c', delta: {message: {role: 'assistant'}}},
      {type: 'content-delta', index: 0, delta: {message: {content: {text: 'Hello'}}}},
      {type: 'message-end', delta: {finish_reason: 'COMPLETE'}},
    ],
  },
  openai: {
    whole: {
      ...{id: 'c', object: 'chat.completion', created: 1, model: 'm'},
      choices: [{index: 0, message: {role: 'assistant', content: 'Hello'}, finish_reason: 'stop'}],
    },
    events: [
      {
        ...{id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm'},
        choices: [{index: 0, delta: {role: 'assistant', content: 'Hello'}, finish_reason: 'stop'}],
      },
    ],
  },
  responses: {
    whole: {
      ...{id: 'r', object: 'response', status: 'completed', model: 'm'},
      output: [{type: 'message', role: 'assistant', content: [{type: 'output_text', text: 'Hello'}]}],
    },
    events: [
      {type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Hello'},
      {type: 'response.completed', response: {id: 'r', status: 'completed', output: []}},
    ],
  },
}

let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', LOG_BODY_MAX_BYTES: '1000'})
  provider = await fakeProvider()
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

function says({whole, events}: WholeAndStream, is_stream: boolean) {
  provider.answer((_, response) => {
    response.writeHead(200, {'content-type': is_stream ? 'text/event-stream' : 'application/json'})
    response.end(is_stream ? events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('') : JSON.stringify(whole))
  })
}

const OPTIONS = {
  vertex_project_id: 'p',
  vertex_region: 'us-east5',
  aws_region: 'us-east-1',
  aws_access_key_id: 'AKIDEXAMPLE',
  aws_secret_access_key: 'wJalrXUtnFEMI',
  azure_resource_name: 'r',
  azure_deployment_id: 'd',
  azure_api_version: '2024-10-21',
}
const place = ({slug}: WireTarget) => ({provider: slug, api_key: 'k', custom_host: provider.url, ...OPTIONS})

type Turn = readonly [role: 'user' | 'assistant', text: string]
interface Asked {
  readonly turns: readonly Turn[]
  readonly schema?: object
  readonly call_id?: string
}

/** The same in the words of each client. */
const CLIENTS: Readonly<Record<string, (asked: Asked) => object>> = {
  '/v1/chat/completions': ({turns, schema, call_id}) => ({
    max_tokens: 9,
    messages: [
      ...turns.map(([role, content]) => ({role, content})),
      ...(call_id
        ? [
            {
              role: 'assistant',
              content: null,
              tool_calls: [{id: call_id, type: 'function', function: {name: 'f', arguments: '{}'}}],
            },
            {role: 'tool', tool_call_id: call_id, content: 'done'},
          ]
        : []),
    ],
    ...(schema && {
      tools: [{type: 'function', function: {name: 'f', parameters: schema}}],
      response_format: {type: 'json_schema', json_schema: {name: 's', schema, strict: true}},
    }),
    ...(call_id && {tools: [{type: 'function', function: {name: 'f', parameters: {type: 'object', properties: {}}}}]}),
  }),
  '/v1/messages': ({turns, schema, call_id}) => ({
    max_tokens: 9,
    messages: [
      ...turns.map(([role, content]) => ({role, content})),
      ...(call_id
        ? [
            {role: 'assistant', content: [{type: 'tool_use', id: call_id, name: 'f', input: {}}]},
            {role: 'user', content: [{type: 'tool_result', tool_use_id: call_id, content: 'done'}]},
          ]
        : []),
    ],
    ...((schema || call_id) && {tools: [{name: 'f', input_schema: schema ?? {type: 'object'}}]}),
  }),
  '/v1/responses': ({turns, schema, call_id}) => ({
    max_output_tokens: 16,
    input: [
      ...turns.map(([role, content]) => ({role, content})),
      ...(call_id
        ? [
            {type: 'function_call', call_id, name: 'f', arguments: '{}'},
            {type: 'function_call_output', call_id, output: 'done'},
          ]
        : []),
    ],
    ...((schema || call_id) && {
      tools: [{type: 'function', name: 'f', parameters: schema ?? {type: 'object', properties: {}}}],
    }),
    ...(schema && {text: {format: {type: 'json_schema', name: 's', schema, strict: true}}}),
  }),
}

const wide = (level: number): object =>
  Object.fromEntries(['a', 'b', 'c', 'd'].map(name => [name, {$ref: `#/$defs/l${level}`}]))
const node = (properties: object) => ({type: 'object', properties})
const PLAIN: readonly Turn[] = [['user', 'Hello?']]
const REQUESTS: Readonly<Record<string, Asked & {readonly headers?: Record<string, string>}>> = {
  'headers of invalid UTF-8': {
    turns: PLAIN,
    headers: {'x-gateway-metadata': '{"a":"\xc3\x28"}', 'x-gateway-trace-id': '\xff\xfe', 'user-agent': '\xf0\x28'},
  },
  'an id of 10 KB': {turns: PLAIN, call_id: LONG_ID},
  'a conversation of 10,000 turns': {
    turns: Array.from({length: TURNS + 1}, (_, at): Turn => [at % 2 === 0 ? 'user' : 'assistant', `turn ${at}`]),
  },
  'a schema that refers to itself': {turns: PLAIN, schema: node({child: {$ref: '#'}, text: {type: 'string'}})},
  'definitions that refer to each other': {
    turns: PLAIN,
    schema: {
      ...node({a: {$ref: '#/$defs/a'}}),
      $defs: {a: node({b: {$ref: '#/$defs/b'}}), b: node({a: {$ref: '#/$defs/a'}})},
    },
  },
  'a definition that is nothing but itself': {
    turns: PLAIN,
    schema: {...node({a: {$ref: '#/$defs/a'}}), $defs: {a: {$ref: '#/$defs/a'}}},
  },
  'definitions that double at each level': {
    turns: PLAIN,
    schema: {
      ...node(wide(0)),
      $defs: Object.fromEntries(
        Array.from({length: 30}, (_, at) => [`l${at}`, at < 29 ? node(wide(at + 1)) : {type: 'string'}]),
      ),
    },
  },
}

/** Null for a clear error or an answer, within the time; else what is wrong. */
async function faultOf(target: WireTarget, path: string, body: object, headers: Record<string, string> = {}) {
  const began_ms = worked_ms()
  const response = await gateway.call(path, {
    method: 'POST',
    headers: {'content-type': 'application/json', 'x-gateway-config': JSON.stringify(place(target)), ...headers},
    body: JSON.stringify({model: target.model, ...body}),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text().catch(String)
  const took_ms = worked_ms() - began_ms
  if (took_ms > MOST_MS) return `took ${Math.round(took_ms)} ms`
  if (response.status === 500 || /An internal error|TypeError|RangeError/.test(text))
    return `${response.status}: ${text}`
  if (response.status < 300) return text.trim() === '' ? 'an empty answer' : null
  const {error} = JSON.parse(text) as {error?: {message?: unknown}}
  return typeof error?.message === 'string' && error.message.length > 10 ? null : `an error without words: ${text}`
}

test('odd requests are adapted, passed or refused', {timeout: 300_000}, async () => {
  const faults: string[] = []
  let count = 0
  for (const [name, {headers, ...asked}] of Object.entries(REQUESTS)) {
    for (const target of WIRE_TARGETS) {
      says(ANSWERS.openai!, false)
      for (const [path, write] of Object.entries(CLIENTS)) {
        count++
        const fault = await faultOf(target, path, write(asked), headers)
        if (fault) faults.push(`${name}, ${path} at ${target.slug} ${target.model}: ${fault.slice(0, 300)}`)
      }
    }
  }
  expect(faults).toEqual([])
  generated('odd requests', count)
})

test('answers in the words of another dialect', {timeout: 300_000}, async () => {
  const faults: string[] = []
  let count = 0
  for (const [dialect, answer] of Object.entries(ANSWERS)) {
    for (const target of WIRE_TARGETS) {
      for (const [path, write] of Object.entries(CLIENTS)) {
        for (const stream of [false, true]) {
          count++
          // Some answer a stream to what asked for none, and the other way round.
          for (const is_streamed of [stream, !stream]) {
            says(answer, is_streamed)
            const fault = await faultOf(target, path, {...write({turns: PLAIN}), stream})
            const way = `${stream ? 'streamed' : 'whole'}, answered ${is_streamed ? 'as a stream' : 'whole'}`
            if (fault) faults.push(`${dialect} to ${path} at ${target.slug}, ${way}: ${fault.slice(0, 300)}`)
          }
        }
      }
    }
  }
  expect(faults).toEqual([])
  generated('answers of another dialect', count)
})
