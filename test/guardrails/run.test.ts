import {describe, expect, test} from 'vitest'
import {deniedBody, resultsEvent, shownResults, statusOf, withResults} from '../../src/guardrails/answer.ts'
import type {Hook} from '../../src/guardrails/hook.ts'
import {runHooks} from '../../src/guardrails/run.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'
import {answered, checkOf, hooks, NOW_MS, ranHook, run, said, world} from './support.ts'

const HOOK = 'https://guard.example.com/judge'
const PASSES = {contains: {words: ['hi']}}
const FAILS = {contains: {words: ['bye']}}
const ERRORS = {webhook: {webhookURL: HOOK}}
const HI = said('hi')

describe('the shape of results', () => {
  test('a hook and its check, whole', async () => {
    const {results, is_denied, is_failed, view, background} = await run([{...PASSES, id: 'g1'}], {body: HI})
    expect(results).toEqual([
      {
        verdict: true,
        id: 'g1',
        transformed: false,
        checks: [
          {
            id: 'default.contains',
            verdict: true,
            data: {
              verdict: true,
              explanation: 'The text has "hi".',
              foundWords: ['hi'],
              missingWords: [],
              operator: 'any',
              not: false,
              textExcerpt: 'hi',
            },
            execution_time: 0,
            transformed: false,
            created_at: '2026-01-31T00:00:00.000Z',
            log: null,
            fail_on_error: false,
          },
        ],
        feedback: null,
        execution_time: 0,
        async: false,
        type: 'guardrail',
        created_at: '2026-01-31T00:00:00.000Z',
        deny: false,
      },
    ])
    expect({is_denied, is_failed, background, body: view.body}).toEqual({
      is_denied: false,
      is_failed: false,
      background: null,
      body: HI,
    })
  })

  test('an error has a name and a sentence', async () => {
    const outcome = await run([ERRORS], {body: HI})
    expect(checkOf(outcome)).toMatchObject({
      verdict: false,
      error: {name: 'NetworkError', message: 'The webhook could not be reached.'},
    })
  })

  test('times are the clock’s', async () => {
    let now = NOW_MS
    const outcome = await run([PASSES], {body: HI, now_ms: () => now++})
    expect([ranHook(outcome).execution_time, checkOf(outcome).execution_time]).toEqual([3, 1])
  })

  test('an excerpt is of a hundred characters', async () => {
    const outcome = await run([PASSES], {body: said('hi'.repeat(100))})
    expect(checkOf(outcome).data).toMatchObject({textExcerpt: `${'hi'.repeat(50)}...`})
  })

  test('a saved guardrail says its version', async () => {
    const saved = {
      id: 'uuid-1',
      slug: 'pg-words',
      version_id: 'v-7',
      checks: [{id: 'contains', parameters: {words: ['hi']}}],
      actions: {},
    }
    const {view, context} = world({body: HI})
    const outcome = await runHooks(hooks('input', ['pg-words'], [saved]), view, context)
    expect(ranHook(outcome)).toMatchObject({id: 'pg-words', guardrail_version_id: 'v-7'})
  })
})

describe('the verdict', () => {
  test.each([
    ['all pass', {a: {id: 'contains', words: ['hi']}, b: {id: 'wordCount', maxWords: 9}}, true],
    ['one fails', {a: {id: 'contains', words: ['hi']}, b: {id: 'wordCount', maxWords: 0}}, false],
    ['an error passes', ERRORS, true],
    ['an error that is to fail', {webhook: {webhookURL: HOOK, failOnError: true}}, false],
    ['an error beside a failure', {...ERRORS, ...FAILS}, false],
    ['a check that is switched off', {...PASSES, wordCount: {maxWords: 0, is_enabled: false}}, true],
  ])('%s', async (_, guardrail, verdict) => {
    const outcome = await run([guardrail], {body: HI})
    expect([ranHook(outcome).verdict, outcome.is_failed]).toEqual([verdict, !verdict])
  })

  test.each([
    ['denies', {...FAILS, deny: true}, true],
    ['not without deny', FAILS, false],
    ['not when it passes', {...PASSES, deny: true}, false],
    ['not for an error', {...ERRORS, deny: true}, false],
    ['for an error that is to fail', {webhook: {webhookURL: HOOK, failOnError: true}, deny: true}, true],
    ['not when nobody waits', {...FAILS, deny: true, async: true}, false],
  ])('%s', async (_, guardrail, is_denied) => {
    expect((await run([guardrail], {body: HI})).is_denied).toBe(is_denied)
  })

  test('what a check throws is its error, and its words are not told', async () => {
    const hook = hooks('input', [PASSES])[0]!
    const broken: Hook = {
      ...hook,
      checks: hook.checks.map(each => ({
        ...each,
        prepared: {
          ...each.prepared,
          run: () => {
            throw new TypeError('sk-secret is not a function')
          },
        },
      })),
    }
    const {view, context} = world({body: HI})
    const outcome = await runHooks([broken], view, context)
    expect(checkOf(outcome)).toMatchObject({
      verdict: false,
      error: {name: 'TypeError', message: 'The check could not run.'},
    })
    expect(ranHook(outcome).verdict).toBe(true)
    expect(JSON.stringify(outcome.results)).not.toContain('sk-secret')
  })
})

describe('order and changes', () => {
  const twice = {
    a: {id: 'regexReplace', rule: '/one/g', redactText: 'two'},
    b: {id: 'regexReplace', rule: '/two/g', redactText: 'three', failOnDetection: true},
  }

  test('side by side, each judges the body as it came, and changes follow in order', async () => {
    const outcome = await run([twice], {body: said('one')})
    expect(ranHook(outcome).checks.map(({verdict, transformed}) => [verdict, transformed])).toEqual([
      [true, true],
      [true, false],
    ])
    expect(outcome.view.body).toEqual(said('two'))
  })

  test('in sequence, each sees what those before it left', async () => {
    const outcome = await run([{...twice, sequential: true}], {body: said('one')})
    expect(ranHook(outcome).checks.map(({verdict, transformed}) => [verdict, transformed])).toEqual([
      [true, true],
      [false, true],
    ])
    expect(outcome.view.body).toEqual(said('three'))
  })

  test('two redactions of one text both stand', async () => {
    const body = said('mail a@b.example or call 555-1234')
    const outcome = await run(
      [
        {regexReplace: {rule: '/\\S+@\\S+/g', redactText: '[M]'}},
        {regexReplace: {rule: '/\\d{3}-\\d{4}/g', redactText: '[T]'}},
      ],
      {body},
    )
    expect(outcome.view.body).toEqual(said('mail [M] or call [T]'))
  })

  test('a new body that was made before a redaction does not undo it', async () => {
    const body = said('secret')
    for (const order of [
      [{regexReplace: {rule: '/secret/g'}}, {webhook: {webhookURL: HOOK}}],
      [{webhook: {webhookURL: HOOK}}, {regexReplace: {rule: '/secret/g'}}],
      [{regexReplace: {rule: '/secret/g'}, webhook: {webhookURL: HOOK}}],
    ]) {
      const http = {
        [HOOK]: {
          body: JSON.stringify({verdict: true, transformedData: {request: {json: said('the secret, said again')}}}),
        },
      }
      const outcome = await run(order, {body, http})
      expect(outcome.view.body).toEqual(said('the [REDACTED], said again'))
    }
  })

  test('a webhook in a sequence is told of the redacted request', async () => {
    const http = {[HOOK]: {body: '{"verdict":true}'}}
    const {made} = await run([{sequential: true, regexReplace: {rule: '/secret/g'}, webhook: {webhookURL: HOOK}}], {
      body: said('secret'),
      http,
    })
    expect(JSON.parse(made.asked[0]!.body!).request).toMatchObject({
      text: '[REDACTED]',
      json: said('[REDACTED]'),
      isTransformed: true,
    })
  })

  test('what was redacted is in no excerpt, of this hook, of others, or of those that nobody waits for', async () => {
    const outcome = await run(
      [{regexReplace: {rule: '/s\\w+t/g'}, contains: {words: ['x']}}, PASSES, {...PASSES, async: true}],
      {
        body: said('my secret'),
      },
    )
    const told = JSON.stringify([outcome.results, await outcome.background])
    expect(told).not.toContain('secret')
    expect(told.match(/my \[REDACTED\]/g)).toHaveLength(4)
  })
})

describe('hooks that nobody waits for', () => {
  test('decide and change nothing; their results come later', async () => {
    const outcome = await run([{...FAILS, async: true, deny: true, id: 'later'}, PASSES], {body: HI})
    expect(outcome.results.map(({id}) => id)).toEqual(['input_guardrail_2'])
    expect(outcome.is_failed).toBe(false)
    expect(await outcome.background).toMatchObject([{id: 'later', verdict: false, async: true, deny: true}])
  })

  test('a redaction among them is not carried out', async () => {
    const outcome = await run([{regexReplace: {rule: '/hi/g'}, async: true}], {body: HI})
    expect(outcome.view.body).toEqual(HI)
    expect(await outcome.background).toMatchObject([{transformed: false, checks: [{transformed: false}]}])
  })

  test('the others do not wait for them', async () => {
    const outcome = await run([{...ERRORS, async: true}, PASSES], {body: HI, http: {[HOOK]: 'hang'}})
    expect(outcome.results).toHaveLength(1)
  })
})

describe('skipped', () => {
  test('an answer that is no 200', async () => {
    const outcome = await run([{...FAILS, deny: true}], {side: 'output', body: answered('x'), status: 429})
    expect(outcome.results).toEqual([{id: 'output_guardrail_1', type: 'guardrail', skipped: true}])
    expect(outcome.is_denied).toBe(false)
  })

  test('embeddings have no output to check', async () => {
    const outcome = await run([{...FAILS, deny: true}], {side: 'output', endpoint: 'embed', body: {data: []}})
    expect(outcome.results).toEqual([{id: 'output_guardrail_1', type: 'guardrail', skipped: true, reason: 'not_text'}])
  })

  test('mutators on embeddings, and those that nobody waits for', async () => {
    const mutator = {addPrefix: {prefix: 'x'}, type: 'mutator'}
    expect((await run([mutator], {endpoint: 'embed', body: {input: 'a'}})).results).toEqual([
      {id: 'input_guardrail_1', type: 'mutator', skipped: true},
    ])
    expect(await (await run([{...mutator, async: true}], {body: HI})).background).toEqual([
      {id: 'input_guardrail_1', type: 'mutator', skipped: true},
    ])
  })

  test('a check of the other side', async () => {
    const outcome = await run([{notNull: {}, ...PASSES, deny: true}], {body: HI})
    expect(ranHook(outcome).checks.map(({id, skipped}) => [id, skipped])).toEqual([
      ['default.notNull', true],
      ['default.contains', undefined],
    ])
    expect(outcome.is_denied).toBe(false)
  })

  test.each(ENDPOINTS.map(({name}) => name))(
    'on %s allowedRequestTypes runs, and the others where there is a text',
    async endpoint => {
      const guardrail = {
        allowedRequestTypes: {blockedTypes: [endpoint]},
        regexMatch: {rule: 'x', not: true},
        deny: true,
      }
      const outcome = await run([guardrail], {endpoint})
      const guarded = [
        'chatComplete',
        'complete',
        'embed',
        'messages',
        'createModelResponse',
        'promptComplete',
      ].includes(endpoint)
      expect(outcome.is_denied).toBe(true)
      expect(ranHook(outcome).checks.map(({skipped}) => skipped)).toEqual([undefined, guarded ? undefined : true])
      const alone = await run([{...FAILS, deny: true}], {endpoint, body: {}})
      expect(alone.is_denied).toBe(guarded)
    },
  )
})

describe('feedback', () => {
  const on = {on_success: {feedback: {value: 3, weight: 0.5, metadata: {by: 'me'}}}, on_fail: {feedback: {value: -7}}}

  test('of a success, with the checks by name', async () => {
    const outcome = await run([{...PASSES, wordCount: {}, ...ERRORS, ...on}], {body: HI})
    expect(ranHook(outcome).feedback).toEqual({
      value: 3,
      weight: 0.5,
      metadata: {
        by: 'me',
        successfulChecks: 'default.contains, default.wordCount',
        failedChecks: '',
        erroredChecks: 'default.webhook',
      },
    })
  })

  test('of a failure, in either spelling', async () => {
    const outcome = await run([{...FAILS, onFail: on.on_fail}], {body: HI})
    expect(ranHook(outcome).feedback).toEqual({
      value: -7,
      weight: 1,
      metadata: {successfulChecks: '', failedChecks: 'default.contains', erroredChecks: ''},
    })
  })

  test('of a saved guardrail that says nothing of it', async () => {
    const saved = {
      id: 'u',
      slug: 'pg-a',
      version_id: 'v',
      checks: [{id: 'contains', parameters: {words: ['bye']}}],
      actions: {},
    }
    const {view, context} = world({body: HI})
    expect(ranHook(await runHooks(hooks('input', ['u'], [saved]), view, context)).feedback).toMatchObject({
      value: -5,
      weight: 1,
    })
  })
})

describe('what a client gets', () => {
  const H = {id: 'h', type: 'guardrail', skipped: true} as const

  test.each([
    [200, false, 200],
    [200, true, 246],
    [429, true, 429],
    [500, false, 500],
  ])('%i, failed %s: %i', (upstream, is_failed, status) => expect(statusOf(upstream, is_failed)).toBe(status))

  test('the body of a denial', async () => {
    const {results} = await run([{...FAILS, deny: true}], {body: HI})
    const shown = shownResults(results, [])!
    const body = deniedBody('chatComplete', shown)
    expect(body).toEqual({
      error: {message: expect.stringContaining('hook_results'), type: 'hooks_failed', param: null, code: null},
      hook_results: {before_request_hooks: results, after_request_hooks: []},
    })
    expect(deniedBody('messages', shown)).toMatchObject({
      type: 'error',
      error: {type: 'hooks_failed'},
      hook_results: shown,
    })
  })

  test('results only where a hook ran', async () => {
    const {results} = await run([PASSES], {body: HI})
    expect(shownResults([], [])).toBeNull()
    expect(shownResults([H], [])).toBeNull()
    expect(withResults({id: 'x'}, shownResults(results, [H]))).toEqual({
      id: 'x',
      hook_results: {before_request_hooks: results, after_request_hooks: [H]},
    })
    expect(withResults([1], shownResults(results, []))).toEqual([1])
  })

  test('events of a stream', () => {
    const part = {before_request_hooks: [H]}
    const data = 'data: {"hook_results":{"before_request_hooks":[{"id":"h","type":"guardrail","skipped":true}]}}\n\n'
    expect(resultsEvent('chatComplete', part)).toBe(data)
    expect(resultsEvent('messages', part)).toBe(`event: hook_results\n${data}`)
  })
})

describe('what was taken out is put back for the client', () => {
  const REVERSIBLE = {pii: {redact: true, reversible: true}}
  const body = said('write to a@example.com')

  test('when a check was asked for it, and nothing of it is in the results', async () => {
    const {restore, view, results} = await run([REVERSIBLE], {body})
    expect(view.body).toEqual(said('write to <EMAIL_1>'))
    expect(restore!.restoreBody(answered('sent to <EMAIL_1>'))).toEqual(answered('sent to a@example.com'))
    expect(JSON.stringify(results)).not.toContain('a@example.com')
  })

  test('from checks of several hooks', async () => {
    const phone = {pii: {redact: true, reversible: true, categories: ['phone']}}
    const {restore, view} = await run([{pii: {...REVERSIBLE.pii, categories: ['email']}}, phone], {
      body: said('a@example.com +44 20 7946 0958'),
    })
    expect(view.text).toBe('<EMAIL_1> <PHONE_1>')
    expect(restore!.restore(view.text)).toBe('a@example.com +44 20 7946 0958')
  })

  test.each([
    ['nothing was found', [REVERSIBLE], said('nothing')],
    ['it was not asked for', [{pii: {redact: true}}], body],
    ['nobody waits for the check', [{...REVERSIBLE, async: true}], body],
  ])('and nothing is where %s', async (_, guardrails, of) => {
    const {restore, background} = await run(guardrails, {body: of})
    await background
    expect(restore).toBeNull()
  })
})
