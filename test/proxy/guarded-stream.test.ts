import fc from 'fast-check'
import {describe, expect, test, vi} from 'vitest'
import type {Refusal} from '../../src/base/errors.ts'
import type {Hook} from '../../src/guardrails/hook.ts'
import {runHooks} from '../../src/guardrails/run.ts'
import {unsavedHook} from '../../src/guardrails/trial.ts'
import {viewOf} from '../../src/guardrails/view.ts'
import type {CallGuardrails} from '../../src/proxy/call/call-guardrails.ts'
import {GuardedStream} from '../../src/proxy/guardrails/stream.ts'
import {StreamText} from '../../src/proxy/guardrails/stream-text.ts'
import {openStream} from '../../src/proxy/upstream/stream.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'
import {guardedOutput, outputContext} from '../support/guarded-output.ts'

const FORBIDDEN = 'forbidden'
const hook = (stream_mode: 'window' | 'buffer', check: object, stream_window_chars = 60): Hook =>
  unsavedHook([check as never], {deny: true, stream_mode, stream_window_chars} as never)!
const forbids = {id: 'default.contains', parameters: {words: [FORBIDDEN], operator: 'none'}}
const redacts = {id: 'default.regexReplace', parameters: {rule: '/\\d{3}-\\d{4}/g', redactText: '[PHONE]'}}

/** A judge of a stream, and a way to let each of its verdicts come late. */
function guardedBy(endpoint: EndpointName, output: readonly Hook[], late: () => Promise<unknown>): CallGuardrails {
  const context = outputContext(endpoint, new Map())
  return guardedOutput(endpoint, output, async (hooks, json) => {
    const outcome = await runHooks(hooks, viewOf(endpoint, 'output', json), context)
    await late()
    return outcome
  })
}

interface Passed {
  readonly text: string
  readonly kept: string
  readonly fault: Refusal | null
  /** What had left when each chunk had come. */
  readonly steps: readonly string[]
}

interface Run {
  readonly endpoint?: EndpointName
  readonly hooks: readonly Hook[]
  readonly chunks: readonly Buffer[]
  readonly late?: () => Promise<unknown>
  readonly settle?: boolean
  /** Turns of the queue of promises between the chunks, and before the end. */
  readonly turns?: number
}

const soon = () => new Promise<void>(resolve => setImmediate(resolve))

async function pass({
  endpoint = 'chatComplete',
  hooks,
  chunks,
  late = async () => undefined,
  settle = false,
  turns = 0,
}: Run): Promise<Passed> {
  let sent = ''
  let kept = ''
  const steps: string[] = []
  const stream = new GuardedStream({
    inner: openStream(endpoint, {provider: 'p', is_good: true, encoding: null, is_metered: false}),
    guarded: guardedBy(endpoint, hooks, late),
    status: 200,
    asks_usage: false,
    onSent: bytes => {
      kept += bytes
    },
  })
  for (const chunk of chunks) {
    stream.take(chunk, (send, hold) => {
      sent += send
      if (hold) sent += hold
    })
    // a turn has time for all of it, unless the machine is busy: then a piece of it
    for (let turn = 0; settle && turn < 50; turn++) await soon()
    for (let turn = 0; turn < turns; turn++) await null
    steps.push(sent)
  }
  await new Promise<void>(resolve =>
    stream.end(rest => {
      sent += rest
      resolve()
    }),
  )
  return {text: sent, kept, fault: stream.fault, steps}
}

const chunk = (delta: object, index = 0, more: object = {}) =>
  `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{index, delta, finish_reason: null, ...more}]})}\n\n`
const finish = (index = 0) => chunk({}, index, {finish_reason: 'stop'})
const DONE = 'data: [DONE]\n\n'
const said = (text: string) =>
  text
    .split(/\r?\n/)
    .filter(line => line.startsWith('data: {'))
    .flatMap(line => JSON.parse(line.slice(6)).choices ?? [])
    .map((choice: {delta?: {content?: string}}) => choice.delta?.content ?? '')
    .join('')
const bytes = (...parts: readonly string[]) => parts.map(part => Buffer.from(part))

test('tokens beside a text are a few texts, however many there are, and none of them leaves unjudged', async () => {
  const count = 400
  const logprobs = (at: number, ...more: string[]) => ({
    content: [
      {
        token: `w${at} `,
        logprob: -1,
        top_logprobs: ['none', `of ${at}`, `x${at}y`, ...more].map(token => ({token, logprob: -1})),
      },
    ],
  })
  const events = Array.from({length: count}, (_, at) => chunk({content: `w${at} `}, 0, {logprobs: logprobs(at)}))
  const of = new StreamText('chatComplete')
  for (const each of events) of.add(JSON.parse(each.slice(6)))
  expect(of.texts.size).toBeLessThan(count + 2)
  const passed = await pass({hooks: [hook('window', redacts)], chunks: bytes(...events, finish(), DONE), settle: true})
  expect([passed.fault, passed.text === [...events, finish(), DONE].join('')]).toEqual([null, true])

  const smuggled = [
    ...events.slice(0, 50),
    chunk({content: 'w50 '}, 0, {logprobs: logprobs(50, '555-1234')}),
    ...events.slice(51),
    finish(),
  ]
  const redacted = await pass({hooks: [hook('window', redacts)], chunks: bytes(...smuggled, DONE), settle: true})
  expect([redacted.fault, redacted.text.includes('555-1234'), said(redacted.text)]).toEqual([
    null,
    false,
    said(events.join('')),
  ])
})

test('arguments of a tool are not read again at every piece', () => {
  const parse = vi.spyOn(JSON, 'parse')
  const of = new StreamText('chatComplete')
  const call = (index: number, text: string) => ({
    choices: [{index: 0, delta: {tool_calls: [{index, function: {arguments: text}}]}}],
  })
  of.add(call(0, '{"a":{}'))
  for (let at = 0; at < 300; at++) of.add(call(1, at ? '}' : '{"b":"'))
  of.add(call(1, '"}'))
  of.add(call(0, '}'))
  expect(parse.mock.calls.length).toBeLessThan(10)
  parse.mockRestore()
})

test('a value that left before a key told what it is goes on to be taken out, and cuts no stream', async () => {
  const value = 'k9!Zq2#vL7mPx4'
  const calls = (text: string) => ({
    tool_calls: [{index: 0, id: 't', type: 'function', function: {name: 'f', arguments: text}}],
  })
  const filler = 'and so on it goes '.repeat(10)
  const {text, fault, steps} = await pass({
    hooks: [hook('window', {id: 'default.pii', parameters: {redact: true}})],
    chunks: bytes(
      chunk({content: `First ${value} `}),
      ...Array.from({length: 3}, () => chunk({content: filler})),
      chunk(calls(`{"password":"${value}"}`)),
      ...Array.from({length: 3}, () => chunk({content: filler})),
      chunk({content: `again ${value} ${filler}`}),
      finish(),
      DONE,
    ),
    settle: true,
  })
  expect(steps[3]).toContain(value)
  expect(fault).toBeNull()
  expect(text.split(value).length).toBe(2)
  expect(text).toContain('{\\"password\\":\\"<SECRET_1>\\"}')
  expect(said(text)).toContain('again <SECRET_1> and')
})

function cut(stream: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map(place => place % stream.length))].toSorted((a, b) => a - b)
  return [0, ...at].map((from, index) => stream.subarray(from, at[index] ?? stream.length))
}

const words = fc.array(
  fc.constantFrom('good ', 'plain ', 'for', 'bid', 'den', ' and', ' 555', '-12', '34', '. ', 'é🎉 '),
  {maxLength: 60},
)

describe.each(['window', 'buffer'] as const)('%s', mode => {
  test('however the stream is cut: what passes is the same to the byte, and of what is denied nothing forbidden has left', async () => {
    await fc.assert(
      fc.asyncProperty(
        words,
        fc.array(fc.nat(), {maxLength: 40}),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        async (pieces, places, eol, settle) => {
          const text = pieces.join('')
          const whole = [
            chunk({role: 'assistant'}),
            ': a comment\n\n',
            ...pieces.map(content => chunk({content})),
            finish(),
            DONE,
          ].join('')
          const stream = Buffer.from(whole.replaceAll('\n', eol))
          const response = await pass({hooks: [hook(mode, forbids)], chunks: cut(stream, places), settle})
          if (text.includes(FORBIDDEN)) {
            expect(response.fault?.code).toBe('guardrail.denied')
            expect(text.slice(0, text.indexOf(FORBIDDEN)).startsWith(said(response.text.replaceAll('\r', '\n')))).toBe(
              true,
            )
            expect(response.text).not.toContain('[DONE]')
          } else {
            expect(response.text).toBe(stream.toString())
            expect(response.kept).toBe(response.text)
          }
        },
      ),
      {numRuns: 150},
    )
  })

  test('a piece of an event behind the end does not leave', async () => {
    const late = chunk({content: FORBIDDEN})
    const response = await pass({
      hooks: [hook(mode, forbids)],
      chunks: bytes(chunk({content: 'good'}), finish(), DONE, late.slice(0, -4), late.slice(-4)),
      settle: true,
    })
    expect([response.fault, said(response.text), response.text.includes(FORBIDDEN)]).toEqual([null, 'good', false])
  })

  test('however the stream is cut: a redaction is the one of the whole text, and what was redacted never leaves', async () => {
    await fc.assert(
      fc.asyncProperty(words, fc.array(fc.nat(), {maxLength: 40}), fc.boolean(), async (pieces, places, settle) => {
        const text = pieces.join('')
        const stream = Buffer.from([...pieces.map(content => chunk({content})), finish(), DONE].join(''))
        const response = await pass({hooks: [hook(mode, redacts)], chunks: cut(stream, places), settle})
        expect(response.fault).toBeNull()
        expect(said(response.text)).toBe(text.replace(/\d{3}-\d{4}/g, '[PHONE]'))
        expect(response.kept).toBe(response.text)
      }),
      {numRuns: 150},
    )
  })

  test('the event behind a byte order mark is judged and redacted as any other', async () => {
    const events = (content: string) => [`\uFEFF${chunk({content})}`, chunk({content: 'and more'}), finish(), DONE]
    const response = await pass({hooks: [hook(mode, redacts)], chunks: bytes(...events('call 555-1234 '))})
    expect([response.fault, said(response.text.replace('\uFEFF', ''))]).toEqual([null, 'call [PHONE] and more'])
    const bad = await pass({hooks: [hook(mode, forbids)], chunks: bytes(...events(FORBIDDEN))})
    expect([bad.fault?.code, bad.text.includes(FORBIDDEN)]).toEqual(['guardrail.denied', false])
    const good = await pass({
      hooks: [hook(mode, forbids)],
      chunks: cut(Buffer.from(events('hello ').join('')), [1, 2, 3, 5]),
    })
    expect(good.text).toBe(events('hello ').join(''))
  })

  test('whenever the stream ends while a part of it is told anew, its end leaves behind its text', async () => {
    const events = bytes(...Array.from({length: 12}, () => chunk({content: 'call 555-1234 or stay. '})), finish(), DONE)
    for (let turns = 0; turns < 40; turns++) {
      const response = await pass({hooks: [hook(mode, redacts)], chunks: events, turns})
      expect([turns, said(response.text), response.text.endsWith(finish() + DONE)]).toEqual([
        turns,
        'call [PHONE] or stay. '.repeat(12),
        true,
      ])
    }
  })

  test('chunks that come while a verdict is waited for leave in their order, behind it', async () => {
    const gates: (() => void)[] = []
    const late = () => new Promise<void>(resolve => void gates.push(resolve))
    const pieces = Array.from({length: 40}, (_, at) => `word ${at} `)
    const opened = (async () => {
      for (let idle = 0; idle < 20; ) {
        await soon()
        const gate = gates.shift()
        idle = gate ? 0 : idle + 1
        gate?.()
      }
    })()
    const response = await pass({
      hooks: [hook(mode, forbids)],
      chunks: bytes(...pieces.map(content => chunk({content})), finish(), DONE),
      late,
    })
    await opened
    expect(said(response.text)).toBe(pieces.join(''))
  })

  test('a stream without [DONE], with usage in the last chunk, is judged when it ends', async () => {
    const usage = `data: ${JSON.stringify({id: 'c', choices: [], usage: {prompt_tokens: 1, completion_tokens: 1, total_tokens: 2}})}\n\n`
    const good = [chunk({content: 'all is well'}), finish(), usage]
    expect((await pass({hooks: [hook(mode, forbids)], chunks: bytes(...good)})).text).toBe(good.join(''))
    const bad = await pass({hooks: [hook(mode, forbids)], chunks: bytes(chunk({content: `so ${FORBIDDEN}`}), usage)})
    expect([bad.fault?.code, bad.text]).toEqual(['guardrail.denied', ''])
  })

  test('a check that cannot run at all lets nothing pass', async () => {
    const late = async () => {
      throw new Error('broke')
    }
    const response = await pass({
      hooks: [hook(mode, forbids)],
      chunks: bytes(chunk({content: 'hello'}), finish(), DONE),
      late,
    })
    expect([response.fault?.code, response.text]).toEqual(['upstream.bad_reply', ''])
  })

  test.each<[string, readonly string[]]>([
    ['behind the end', [chunk({content: 'good'}), finish(), DONE, chunk({content: FORBIDDEN})]],
    [
      'in events that are not parted',
      [`${chunk({content: 'so '}).trimEnd()}\n${chunk({content: FORBIDDEN})}`, finish(), DONE],
    ],
    ['in parts of a content', [chunk({content: [{type: 'text', text: `so ${FORBIDDEN}`}]}), finish(), DONE]],
    [
      'in a message beside the delta',
      [chunk({content: ''}, 0, {message: {content: `so ${FORBIDDEN}`}}), finish(), DONE],
    ],
    ['in an event that is no JSON', [`data: so ${FORBIDDEN}\n\n`, finish(), DONE]],
    [
      'in one choice while another goes on',
      [
        chunk({content: `It is ${FORBIDDEN}`}),
        ...Array.from({length: 30}, () => chunk({content: 'on and on. '}, 1)),
        finish(0),
        finish(1),
        DONE,
      ],
    ],
  ])('what is forbidden does not leave %s', async (_, events) => {
    const filler = Array.from({length: 20}, () => chunk({content: 'It goes well. '}))
    const response = await pass({hooks: [hook(mode, forbids)], chunks: bytes(...filler, ...events), settle: true})
    expect(response.text).not.toContain(FORBIDDEN)
  })

  test('what is redacted does not leave in the blocks beside the text', async () => {
    const both = (text: string) => chunk({content: text, content_blocks: [{index: 1, delta: {text}}]})
    const thinks = (thinking: string) => chunk({content_blocks: [{index: 0, delta: {thinking}}]})
    const events = [
      thinks('They said 555-'),
      thinks('1234 to me.'),
      both('Call 555-'),
      both('1234 now.'),
      finish(),
      DONE,
    ]
    const response = await pass({hooks: [hook(mode, redacts)], chunks: bytes(...events), settle: true})
    expect(response.text).not.toMatch(/1234/)
    expect(response.text).toContain('[PHONE]')
  })
})

describe('messages', () => {
  const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({type, ...more})}\n\n`
  const start = event('message_start', {
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'm',
      stop_reason: null,
      usage: {input_tokens: 1, output_tokens: 1},
    },
  })
  const block = (index: number, texts: readonly string[], first = '') => [
    event('content_block_start', {index, content_block: {type: 'text', text: first}}),
    ...texts.map(text => event('content_block_delta', {index, delta: {type: 'text_delta', text}})),
    event('content_block_stop', {index}),
  ]
  const end = [
    event('message_delta', {delta: {stop_reason: 'end_turn'}, usage: {output_tokens: 2}}),
    event('message_stop', {}),
  ]
  const filler = Array.from({length: 20}, () => 'It goes well. ')

  test.each([
    ['at the end of a block', [...block(0, [...filler, FORBIDDEN]), ...block(1, filler)]],
    ['in the start of a block', [...block(0, filler), ...block(1, filler, `so ${FORBIDDEN}`)]],
  ])('what is forbidden does not leave %s', async (_, blocks) => {
    const response = await pass({
      endpoint: 'messages',
      hooks: [hook('window', forbids)],
      chunks: bytes(start, ...blocks, ...end),
      settle: true,
    })
    expect(response.fault?.code).toBe('guardrail.denied')
    expect(response.text).not.toContain(FORBIDDEN)
    expect(response.text).toContain('It goes well.')
  })
})

describe('responses', () => {
  const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({type, ...more})}\n\n`
  const place = {item_id: 'r', output_index: 0, summary_index: 0}
  const thought = 'They said 555-1234 to me.'
  const item = {type: 'reasoning', id: 'r', summary: [{type: 'summary_text', text: thought}]}

  test('what is redacted does not leave in an event that tells a thought again', async () => {
    const events = [
      event('response.reasoning_summary_text.delta', {...place, delta: 'They said 555-'}),
      event('response.reasoning_summary_text.delta', {...place, delta: '1234 to me.'}),
      event('response.reasoning_summary_text.done', {...place, text: thought}),
      event('response.reasoning_summary_part.done', {...place, part: item.summary[0]}),
      event('response.output_item.done', {output_index: 0, item}),
      event('response.completed', {response: {id: 'x', object: 'response', status: 'completed', output: [item]}}),
    ]
    const response = await pass({
      endpoint: 'createModelResponse',
      hooks: [hook('window', redacts)],
      chunks: bytes(...events),
      settle: true,
    })
    expect(response.text).not.toContain('1234')
    expect(response.text.match(/\[PHONE\]/g)).toHaveLength(5)
  })

  test('what is forbidden does not leave in an event that tells what was not streamed', async () => {
    const filler = Array.from({length: 20}, () =>
      event('response.output_text.delta', {output_index: 0, content_index: 0, delta: 'It goes well. '}),
    )
    const response = await pass({
      endpoint: 'createModelResponse',
      hooks: [hook('window', forbids)],
      chunks: bytes(
        ...filler,
        event('response.output_text.done', {output_index: 0, content_index: 0, text: `so ${FORBIDDEN}`}),
        event('response.completed', {
          response: {
            id: 'x',
            status: 'completed',
            output: [{type: 'message', content: [{type: 'output_text', text: `so ${FORBIDDEN}`}]}],
          },
        }),
      ),
      settle: true,
    })
    expect(response.text).not.toContain(FORBIDDEN)
  })
})
