import fc from 'fast-check'
import {expect, test} from 'vitest'
import type {JsonValue} from '../../src/guardrails/json.ts'
import {isGuarded} from '../../src/guardrails/texts.ts'
import {viewOf} from '../../src/guardrails/view.ts'
import {ENDPOINTS, type EndpointName} from '../../src/schema/endpoints.ts'
import type {Side} from '../../src/schema/guardrails.ts'

interface Row {
  readonly name: string
  readonly endpoint: EndpointName
  readonly side: Side
  readonly body: JsonValue
  /** What is judged. */
  readonly texts: readonly string[]
  /** The body with `!` behind every string that is not left alone. */
  readonly marked: JsonValue
}

const picture = {type: 'image_url', image_url: {url: 'https://a.example/i.png'}}

const ROWS: readonly Row[] = [
  {
    name: 'chat: the last message is judged, every string is rewritten',
    endpoint: 'chatComplete',
    side: 'input',
    body: {
      model: 'm',
      user: 'u',
      messages: [
        {role: 'system', content: 's'},
        {role: 'assistant', content: null, tool_calls: [{id: 't', function: {name: 'f', arguments: '{"a":"b"}'}}]},
        {
          role: 'user',
          content: [{type: 'text', text: 'one'}, picture, {type: 'text', text: ''}, {type: 'text', text: 'two'}],
        },
      ],
    },
    texts: ['one', 'two'],
    marked: {
      model: 'm',
      user: 'u!',
      messages: [
        {role: 'system', content: 's!'},
        {role: 'assistant', content: null, tool_calls: [{id: 't', function: {name: 'f', arguments: '{"a":"b!"}'}}]},
        {
          role: 'user',
          content: [
            {type: 'text', text: 'one!'},
            {type: 'image_url', image_url: {url: 'https://a.example/i.png!'}},
            {type: 'text', text: ''},
            {type: 'text', text: 'two!'},
          ],
        },
      ],
    },
  },
  {
    name: 'messages: system, tool results, documents',
    endpoint: 'messages',
    side: 'input',
    body: {
      system: [{type: 'text', text: 's', cache_control: {type: 'ephemeral'}}],
      messages: [
        {role: 'user', content: 'first'},
        {
          role: 'user',
          content: [
            {type: 'tool_result', tool_use_id: 't', content: [{type: 'text', text: 'result'}]},
            {type: 'document', source: {type: 'text', media_type: 'text/plain', data: 'paper'}},
            {type: 'image', source: {type: 'base64', media_type: 'image/png', data: 'AAAA'}},
          ],
        },
      ],
    },
    texts: ['result', 'paper'],
    marked: {
      system: [{type: 'text', text: 's!', cache_control: {type: 'ephemeral'}}],
      messages: [
        {role: 'user', content: 'first!'},
        {
          role: 'user',
          content: [
            {type: 'tool_result', tool_use_id: 't', content: [{type: 'text', text: 'result!'}]},
            {type: 'document', source: {type: 'text', media_type: 'text/plain', data: 'paper!'}},
            {type: 'image', source: {type: 'base64', media_type: 'image/png', data: 'AAAA'}},
          ],
        },
      ],
    },
  },
  {
    name: 'responses: a text',
    endpoint: 'createModelResponse',
    side: 'input',
    body: {input: 'hi', instructions: 'i', metadata: {a: 'b'}},
    texts: ['hi'],
    marked: {input: 'hi!', instructions: 'i!', metadata: {a: 'b!'}},
  },
  {
    name: 'responses: items',
    endpoint: 'createModelResponse',
    side: 'input',
    body: {
      input: [
        {role: 'user', content: 'q'},
        {type: 'function_call', name: 'f', arguments: '{}'},
        {type: 'function_call_output', call_id: 'c', output: 'o'},
      ],
    },
    texts: ['o'],
    marked: {
      input: [
        {role: 'user', content: 'q!'},
        {type: 'function_call', name: 'f', arguments: '{}'},
        {type: 'function_call_output', call_id: 'c', output: 'o!'},
      ],
    },
  },
  {
    name: 'completions: a prompt',
    endpoint: 'complete',
    side: 'input',
    body: {prompt: 'p', suffix: 's'},
    texts: ['p'],
    marked: {prompt: 'p!', suffix: 's!'},
  },
  {
    name: 'completions: prompts',
    endpoint: 'complete',
    side: 'input',
    body: {prompt: ['p', 'q']},
    texts: ['p', 'q'],
    marked: {prompt: ['p!', 'q!']},
  },
  {
    name: 'completions: tokens',
    endpoint: 'complete',
    side: 'input',
    body: {prompt: [1, 2]},
    texts: [],
    marked: {prompt: [1, 2]},
  },
  {
    name: 'embeddings',
    endpoint: 'embed',
    side: 'input',
    body: {input: ['a', 'b']},
    texts: ['a', 'b'],
    marked: {input: ['a!', 'b!']},
  },
  {
    name: 'prompts: variables',
    endpoint: 'promptComplete',
    side: 'input',
    body: {variables: {name: 'Ada', age: 36}},
    texts: ['Ada'],
    marked: {variables: {name: 'Ada!', age: 36}},
  },
  {
    name: 'chat: every choice is judged, its blocks are rewritten too',
    endpoint: 'chatComplete',
    side: 'output',
    body: {
      id: 'x',
      choices: [
        {
          message: {
            content: 'a',
            content_blocks: [
              {type: 'thinking', thinking: 't', signature: 'g'},
              {type: 'text', text: 'a'},
            ],
          },
        },
        {message: {content: null, refusal: 'no'}},
      ],
    },
    texts: ['a', 'no'],
    marked: {
      id: 'x',
      choices: [
        {
          message: {
            content: 'a!',
            content_blocks: [
              {type: 'thinking', thinking: 't!', signature: 'g'},
              {type: 'text', text: 'a!'},
            ],
          },
        },
        {message: {content: null, refusal: 'no!'}},
      ],
    },
  },
  {
    name: 'completions: choices',
    endpoint: 'complete',
    side: 'output',
    body: {choices: [{text: 'a'}, {text: 'b'}]},
    texts: ['a', 'b'],
    marked: {choices: [{text: 'a!'}, {text: 'b!'}]},
  },
  {
    name: 'messages: blocks',
    endpoint: 'messages',
    side: 'output',
    body: {
      id: 'x',
      content: [
        {type: 'thinking', thinking: 't'},
        {type: 'text', text: 'a'},
        {type: 'tool_use', input: {text: 'i'}},
      ],
    },
    texts: ['a'],
    marked: {
      id: 'x',
      content: [
        {type: 'thinking', thinking: 't!'},
        {type: 'text', text: 'a!'},
        {type: 'tool_use', input: {text: 'i!'}},
      ],
    },
  },
  {
    name: 'responses: output',
    endpoint: 'createModelResponse',
    side: 'output',
    body: {
      output: [
        {type: 'reasoning', summary: [{type: 'summary_text', text: 'r'}]},
        {
          type: 'message',
          content: [
            {type: 'output_text', text: 'a', annotations: []},
            {type: 'refusal', refusal: 'no'},
          ],
        },
      ],
    },
    texts: ['a', 'no'],
    marked: {
      output: [
        {type: 'reasoning', summary: [{type: 'summary_text', text: 'r!'}]},
        {
          type: 'message',
          content: [
            {type: 'output_text', text: 'a!', annotations: []},
            {type: 'refusal', refusal: 'no!'},
          ],
        },
      ],
    },
  },
  {
    name: 'embeddings have no text',
    endpoint: 'embed',
    side: 'output',
    body: {data: [{embedding: [0.1]}]},
    texts: [],
    marked: {data: [{embedding: [0.1]}]},
  },
]

test.each(ROWS)('$name', ({endpoint, side, body, texts, marked}) => {
  const view = viewOf(endpoint, side, body)
  const before = JSON.stringify(body)
  expect(view.texts).toEqual(texts)
  expect(view.text).toBe(texts.join('\n'))
  expect(view.rewrite(text => `${text}!`).body).toEqual(marked)
  expect(view.rewrite(text => text)).toBe(view)
  expect(JSON.stringify(body)).toBe(before)
})

test('the routes whose words are known are those of the decisions; of another every string is a text', () => {
  const guarded = ENDPOINTS.map(({name}) => name).filter(name => isGuarded(name, 'input'))
  expect(guarded.toSorted()).toEqual([
    'chatComplete',
    'complete',
    'createModelResponse',
    'embed',
    'messages',
    'promptComplete',
    'realtime',
  ])
  expect(isGuarded('embed', 'output')).toBe(false)
  expect(viewOf('imageGenerate', 'input', {prompt: 'p', messages: [{role: 'user', content: 'm'}]})).toMatchObject({
    kind: 'strings',
    texts: ['p', 'user', 'm'],
  })
})

/** Any JSON, made more of the words that bodies are made of. */
const key = fc.constantFrom(
  'messages',
  'content',
  'text',
  'input',
  'output',
  'choices',
  'message',
  'source',
  '__proto__',
  'constructor',
  'prompt',
  'x',
)
const json = fc.letrec<{value: JsonValue; list: JsonValue; object: JsonValue}>(tie => ({
  value: fc.oneof(
    {maxDepth: 6},
    fc.string({maxLength: 5}),
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), {maxLength: 4}),
  object: fc.array(fc.tuple(key, tie('value')), {maxLength: 5}).map(entries => Object.fromEntries(entries)),
})).object

test('a rewriting changes strings and nothing else, in any body', () => {
  const routes = fc.constantFrom<EndpointName>(
    'chatComplete',
    'messages',
    'createModelResponse',
    'complete',
    'embed',
    'promptComplete',
  )
  fc.assert(
    fc.property(json, routes, fc.constantFrom<Side>('input', 'output'), (body, endpoint, side) => {
      const view = viewOf(endpoint, side, body)
      const seen = view.strings.map(({text}) => text)
      for (const text of view.texts) expect(seen).toContain(text)
      const made = view.rewrite(text => (Number.isNaN(Number(text)) ? `<${text}>` : text))
      const undone = viewOf(endpoint, side, made.body).rewrite(text =>
        /^<.*>$/s.test(text) ? text.slice(1, -1) : text,
      )
      expect(undone.body).toEqual(body)
      expect(JSON.stringify(undone.body)).toBe(JSON.stringify(body))
    }),
    {numRuns: 500},
  )
})

test('keys that are redacted to one word are numbered in one pass', () => {
  const count = 20_000
  const metadata = Object.fromEntries(Array.from({length: count}, (_, at) => [`of ${at}`, '']))
  let tries = 0
  const counted = new Proxy(metadata, {
    getOwnPropertyDescriptor(target, key) {
      tries++
      return Reflect.getOwnPropertyDescriptor(target, key)
    },
  })
  const made = viewOf('chatComplete', 'input', {metadata: counted}).rewrite(text => text.replace(/^of \d+$/, 'K'))
    .body as {
    metadata: object
  }
  expect(Object.keys(made.metadata).length).toBe(count)
  expect(Object.keys(made.metadata).slice(0, 3)).toEqual(['K', 'K_2', 'K_3'])
  expect(tries).toBeLessThan(count * 20)
})
