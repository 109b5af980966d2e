import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import type {HookResults} from '../../src/schema/guardrails.ts'
import {dataOf, type GuardedRoute, ROUTES} from '../support/guarded.ts'
import type {Answer} from '../support/provider.ts'
import {type Asked, type RoutingSetup, startRouting, type Told} from '../support/routing.ts'

let routed: RoutingSetup

beforeAll(async () => {
  routed = await startRouting()
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

const FORBIDDEN = 'forbidden'
const says = (deny: boolean, more: object = {}) => [
  {'default.contains': {words: [FORBIDDEN], operator: 'none'}, deny, ...more},
]
const WORDS = ['The answer ', 'is ', 'a plain ', 'one, ', 'and nothing ', 'else.']
const BAD_WORDS = ['The answer ', 'is for', 'bidden ', 'here, ', 'and that ', 'is all.']

function asked(route: GuardedRoute, text: string, stream: boolean, headers: Record<string, string> = {}): Asked {
  return {path: route.path, body: route.ask(text, stream ? {stream} : {}), headers}
}

/** The answer up to `word`, and from there on when the gate is open. */
const afterGate =
  (answer: Answer, word: string, gate: Promise<void>): Answer =>
  (received, response, request) => {
    const {write, end} = response
    let open = true
    const later: (() => void)[] = []
    const passing = (send: () => void) => (open ? send() : later.push(send))
    response.write = ((chunk: string) => {
      if (open && chunk.includes(word)) {
        open = false
        gate.then(() => {
          open = true
          for (const send of later) send()
        })
      }
      passing(() => write.call(response, chunk, 'utf8'))
      return true
    }) as typeof write
    response.end = (() => passing(() => end.call(response, '', 'utf8'))) as unknown as typeof end
    return answer(received, response, request)
  }

const logged = (result: Told, at = 0) => (result.rows[at] as unknown as {hook_results?: HookResults}).hook_results
const received = (route: GuardedRoute) => routed[route.provider].received
const LENIENT = {'x-gateway-strict-open-ai-compliance': 'false'}

describe.each(ROUTES)('$name', route => {
  const target = {provider: `@${route.provider}`}

  describe.each([false, true])('stream: %s', stream => {
    beforeEach(() => routed[route.provider].answer(route.answer(WORDS)))

    test('a request that passes is answered as ever, and its results are told and logged', async () => {
      const result = await routed.ask({...target, input_guardrails: says(true)}, asked(route, 'hello', stream))
      expect([result.status, route.read(result.text), received(route).length]).toEqual([200, WORDS.join(''), 1])
      if (stream) expect(result.text).not.toContain('hook_results')
      else
        expect(
          (JSON.parse(result.text) as {hook_results: HookResults}).hook_results.before_request_hooks,
        ).toMatchObject([{verdict: true}])
      expect(logged(result)).toMatchObject({
        before_request_hooks: [{verdict: true, deny: true}],
        after_request_hooks: [],
      })
    })

    test('a request that is denied is 446, reaches nobody, costs nothing and is logged', async () => {
      const result = await routed.ask(
        {...target, input_guardrails: says(true)},
        asked(route, `a ${FORBIDDEN} thing`, stream),
      )
      expect([result.status, received(route).length]).toEqual([446, 0])
      const body = JSON.parse(result.text) as {error: {type: string}; hook_results: HookResults}
      expect(body.error.type).toBe('hooks_failed')
      expect(body.hook_results.before_request_hooks).toMatchObject([
        {verdict: false, deny: true, checks: [{id: 'default.contains'}]},
      ])
      expect(result.rows).toMatchObject([{status: 446, cost_nanousd: 0}])
      expect(logged(result)).toMatchObject({before_request_hooks: [{verdict: false}]})
      expect(result.entries).toEqual([])
    })

    test('a request that fails without a denial is answered with 246', async () => {
      const result = await routed.ask(
        {...target, input_guardrails: says(false)},
        asked(route, `a ${FORBIDDEN} thing`, stream),
      )
      expect([result.status, route.read(result.text), received(route).length]).toEqual([246, WORDS.join(''), 1])
      expect(result.rows).toMatchObject([{status: 246}])
      expect(result.entries).toMatchObject([{outcome: 'ok', status: 200}])
    })

    test('a request is redacted before it leaves, and in the log', async () => {
      const config = {
        ...target,
        input_guardrails: [{'default.regexReplace': {rule: '/sec-\\d+/g', redactText: '[GONE]'}}],
      }
      const result = await routed.ask(config, asked(route, 'my code is sec-4711, keep sec-4711', stream))
      expect([result.status, route.read(result.text)]).toEqual([200, WORDS.join('')])
      const sent = received(route)[0]!.body.toString()
      expect(sent).toContain('[GONE], keep [GONE]')
      expect(sent).not.toContain('sec-4711')
    })

    test('what runs in the background changes nothing, and is logged', async () => {
      const config = {
        ...target,
        input_guardrails: says(true, {async: true}),
        output_guardrails: says(true, {async: true}),
      }
      routed[route.provider].answer(route.answer(BAD_WORDS))
      const result = await routed.ask(config, asked(route, `a ${FORBIDDEN} thing`, stream))
      expect([result.status, route.read(result.text)]).toEqual([200, BAD_WORDS.join('')])
      const {rows} = await routed.recorded((result.rows[0] as unknown as {trace_id: string}).trace_id)
      expect((rows[0] as unknown as {hook_results: HookResults}).hook_results).toMatchObject({
        before_request_hooks: [{verdict: false, async: true}],
        after_request_hooks: [{verdict: false, async: true}],
      })
    })
  })

  test('an answer that is denied is 446 in its place, counted all the same', async () => {
    routed[route.provider].answer(route.answer(BAD_WORDS))
    const result = await routed.ask({...target, output_guardrails: says(true)}, asked(route, 'hello', false))
    expect([result.status, received(route).length]).toEqual([446, 1])
    expect(result.text).not.toContain('bidden here')
    expect(result.rows).toMatchObject([{status: 446}])
    expect(result.entries).toMatchObject([{outcome: 'ok', status: 200, usage_source: 'provider'}])
    expect(result.entries[0]!.cost_nanousd).toBeGreaterThan(0)
    expect(logged(result)).toMatchObject({after_request_hooks: [{verdict: false, deny: true}]})
  })

  test('an answer that fails without a denial is 246 with its results', async () => {
    routed[route.provider].answer(route.answer(BAD_WORDS))
    const result = await routed.ask({...target, output_guardrails: says(false)}, asked(route, 'hello', false))
    expect([result.status, route.read(result.text)]).toEqual([246, BAD_WORDS.join('')])
    expect((JSON.parse(result.text) as {hook_results: HookResults}).hook_results.after_request_hooks).toMatchObject([
      {verdict: false},
    ])
  })

  test('an answer is redacted before it leaves, and in the log', async () => {
    routed[route.provider].answer(route.answer(['Call ', '555-', '1234 ', 'now.']))
    const config = {
      ...target,
      output_guardrails: [{'default.regexReplace': {rule: '/\\d{3}-\\d{4}/g', redactText: '[PHONE]'}}],
    }
    const result = await routed.ask(config, asked(route, 'hello', false))
    expect([result.status, route.read(result.text)]).toEqual([200, 'Call [PHONE] now.'])
    expect(result.entries).toMatchObject([{usage_source: 'provider'}])
  })

  describe('a stream that is judged', () => {
    const modes = ['after', 'window', 'buffer'] as const
    const guarded = (mode: (typeof modes)[number], deny: boolean, more: object = {}) => ({
      ...target,
      output_guardrails: says(deny, {stream_mode: mode, ...more}),
    })

    test.each(modes)('%s: what passes comes as it was sent, to the byte', async mode => {
      routed[route.provider].answer(route.answer(WORDS))
      const plain = await routed.ask(target, asked(route, 'hello', true))
      const result = await routed.ask(guarded(mode, true), asked(route, 'hello', true))
      const timeless = (text: string) => text.replace(/"(id|created)":("[^"]*"|\d+)/g, '"$1":0')
      expect([result.status, timeless(result.text)]).toEqual([200, timeless(plain.text)])
      const {rows} = await routed.recorded((result.rows[0] as unknown as {trace_id: string}).trace_id)
      const results = (rows[0] as unknown as {hook_results: HookResults}).hook_results
      expect(results.after_request_hooks).toMatchObject([{verdict: true, stream_mode: mode}])
    })

    test('after: a denial cannot take anything back; it is logged, and told where that is asked for', async () => {
      routed[route.provider].answer(route.answer(BAD_WORDS))
      const result = await routed.ask(guarded('after', true), asked(route, 'hello', true, LENIENT))
      expect([result.status, route.read(result.text)]).toEqual([200, BAD_WORDS.join('')])
      expect(dataOf(result.text).at(-1)).toMatchObject({hook_results: {after_request_hooks: [{verdict: false}]}})
    })

    test('window: a denial cuts the stream before what is denied has left', async () => {
      const long = [
        'It begins well. '.repeat(10),
        'It goes on and on. '.repeat(10),
        'This is for',
        'bidden ',
        'and here it ends.',
      ]
      const gate = Promise.withResolvers<void>()
      routed[route.provider].answer(afterGate(route.answer(long), 'bidden', gate.promise))
      const result = await routed.ask(guarded('window', true, {stream_window_chars: 100}), {
        ...asked(route, 'hello', true),
        onText: text => text.includes('It begins well.') && gate.resolve(),
      })
      expect(result.status).toBe(200)
      expect(result.text).toContain('It begins well.')
      expect(result.text).not.toContain('bidden')
      expect(result.text).toContain('hooks_failed')
      expect(result.text).not.toMatch(/\[DONE\]|message_stop|response\.completed/)
      expect(result.entries).toHaveLength(1)
      expect(logged(result)).toMatchObject({after_request_hooks: [{verdict: false, deny: true, stream_mode: 'window'}]})
    })

    test('window: a denial of the first words is 446, as if it had not been streamed', async () => {
      routed[route.provider].answer(route.answer(BAD_WORDS))
      const result = await routed.ask(guarded('window', true), asked(route, 'hello', true))
      expect([result.status, result.text.includes('bidden here')]).toEqual([446, false])
    })

    test('window: a check that has to see the whole denies at the end, before the answer is whole', async () => {
      routed[route.provider].answer(route.answer(WORDS))
      const config = {
        ...target,
        output_guardrails: [
          {
            'default.contains': {words: ['never said'], operator: 'any'},
            deny: true,
            stream_mode: 'window',
            stream_window_chars: 4,
          },
        ],
      }
      const result = await routed.ask(config, asked(route, 'hello', true))
      expect(result.text).toContain('The answer')
      expect(result.text).toContain('hooks_failed')
      expect(result.text).not.toMatch(/\[DONE\]|message_stop|response\.completed/)
    })

    test('window: a redaction is consistent however the text was cut', async () => {
      const text = `${'Nothing here yet. '.repeat(5)}Call 555-1234 or 555-9999 now. ${'And so on. '.repeat(8)}Again: 555-1234.`
      const pieces = text.match(/.{1,7}/gs)!
      routed[route.provider].answer(route.answer(pieces))
      const config = {
        ...target,
        output_guardrails: [
          {
            'default.regexReplace': {rule: '/\\d{3}-\\d{4}/g', redactText: '[PHONE]'},
            stream_mode: 'window',
            stream_window_chars: 60,
          },
        ],
      }
      const result = await routed.ask(config, asked(route, 'hello', true))
      expect([result.status, route.read(result.text)]).toEqual([200, text.replace(/\d{3}-\d{4}/g, '[PHONE]')])
      expect(result.text).not.toMatch(/555-|1234|9999/)
    })

    test('buffer: nothing leaves before a denial', async () => {
      routed[route.provider].answer(route.answer(BAD_WORDS))
      const result = await routed.ask(guarded('buffer', true), asked(route, 'hello', true))
      expect([result.status, result.text.includes('bidden here')]).toEqual([446, false])
      expect(result.rows).toMatchObject([{status: 446}])
      expect(result.entries).toMatchObject([{outcome: 'ok', status: 200}])
    })

    test('buffer: a failure without a denial is 246', async () => {
      routed[route.provider].answer(route.answer(BAD_WORDS))
      const result = await routed.ask(guarded('buffer', false), asked(route, 'hello', true))
      expect([result.status, route.read(result.text)]).toEqual([246, BAD_WORDS.join('')])
    })

    test('buffer: a redacted answer is streamed as it was left', async () => {
      routed[route.provider].answer(route.answer(['Call ', '555-', '1234 ', 'now.']))
      const config = {
        ...target,
        output_guardrails: [
          {'default.regexReplace': {rule: '/\\d{3}-\\d{4}/g', redactText: '[PHONE]'}, stream_mode: 'buffer'},
        ],
      }
      const result = await routed.ask(config, asked(route, 'hello', true))
      expect([result.status, route.read(result.text)]).toEqual([200, 'Call [PHONE] now.'])
      expect(result.text).not.toMatch(/555-|1234/)
    })

    test('the results of the request are told first, where that is asked for', async () => {
      routed[route.provider].answer(route.answer(WORDS))
      const result = await routed.ask({...target, input_guardrails: says(true)}, asked(route, 'hello', true, LENIENT))
      expect(dataOf(result.text)[0]).toMatchObject({hook_results: {before_request_hooks: [{verdict: true}]}})
    })
  })
})

describe.each(ROUTES)('what is put back, $name', route => {
  const config = {
    provider: `@${route.provider}`,
    input_guardrails: [{'default.pii': {categories: ['email'], redact: true, reversible: true}}],
  }
  const answer = ['Write to ', '<EM', 'AIL_', '1> or', ' <EMAIL_2', '>, not <EMAIL_3>', '.']
  const said = 'Write to ann@example.com or bob@example.org, not <EMAIL_3>.'

  test.each([false, true])(
    'stream: %s: the client reads the values, provider and log the placeholders',
    async stream => {
      routed[route.provider].answer(route.answer(answer))
      const result = await routed.ask(config, asked(route, 'From ann@example.com to bob@example.org', stream))
      expect([result.status, route.read(result.text)]).toEqual([200, said])
      expect(received(route)[0]!.body.toString()).toContain('From <EMAIL_1> to <EMAIL_2>')
      const {id} = result.rows[0] as unknown as {id: string}
      const row = await routed.gateway.admin('GET', `/logs/${id}`)
      expect(JSON.stringify(row)).not.toMatch(/example\.(com|org)/)
    },
  )

  test.each(['window', 'buffer'] as const)('%s: beside a redaction of the answer', async stream_mode => {
    routed[route.provider].answer(route.answer([...answer, ' Call 555-', '1234.']))
    const output_guardrails = [
      {'default.regexReplace': {rule: '/\\d{3}-\\d{4}/g', redactText: '[PHONE]'}, stream_mode, stream_window_chars: 20},
    ]
    const result = await routed.ask(
      {...config, output_guardrails},
      asked(route, 'From ann@example.com to bob@example.org', true),
    )
    expect([result.status, route.read(result.text)]).toEqual([200, `${said} Call [PHONE].`])
  })
})
