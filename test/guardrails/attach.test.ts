import {describe, expect, test} from 'vitest'
import {attach, type DefaultGuardrails, type SavedGuardrail} from '../../src/guardrails/attach.ts'
import type {AttachKeys} from '../../src/schema/config-hooks.ts'

const saved = (slug: string, more: Partial<SavedGuardrail> = {}): SavedGuardrail => ({
  id: `id-of-${slug}`,
  slug,
  version_id: `version-of-${slug}`,
  checks: [{id: 'default.contains', parameters: {words: ['x']}}],
  actions: {deny: true},
  ...more,
})
const STORE = [
  saved('pg-a'),
  saved('pg-org'),
  saved('pg-ws', {actions: {deny: true, on_fail: {feedback: {value: -2}}}}),
]

function attached(keys: AttachKeys, defaults: readonly DefaultGuardrails[] = [], path?: string) {
  const find = (handle: string) => STORE.find(({id, slug}) => id === handle || slug === handle)
  return attach(keys, {defaults, saved: find, ...(path ? {path} : {})})
}
const summary = (keys: AttachKeys, defaults?: readonly DefaultGuardrails[]) => {
  const {input, output, faults} = attached(keys, defaults)
  expect(faults).toEqual([])
  return [input, output].map(hooks =>
    hooks.map(({id, deny, checks}) => `${id}${deny ? ' denies' : ''}: ${checks.map(check => check.id).join()}`),
  )
}
const fault = (keys: AttachKeys) => attached(keys).faults.map(({path, message}) => `${path}: ${message}`)

describe('forms', () => {
  test('a raw hook', () => {
    const hook = {
      id: 'h',
      type: 'mutator',
      checks: [{id: 'default.addPrefix', parameters: {prefix: 'x'}, name: 'prefix', is_enabled: true}],
      deny: true,
      async: true,
      sequential: true,
      on_fail: {feedback: {value: -1, weight: 0.2, metadata: {a: 'b'}}},
      onSuccess: {feedback: {}},
      guardrail_version_id: 'v',
      stream_mode: 'buffer',
      stream_window_chars: 50,
    }
    expect(attached({before_request_hooks: [hook]}).input).toMatchObject([
      {
        id: 'h',
        type: 'mutator',
        deny: true,
        async: true,
        sequential: true,
        on_fail: {value: -1, weight: 0.2, metadata: {a: 'b'}},
        on_success: {value: 5, weight: 1, metadata: {}},
        guardrail_version_id: 'v',
        stream_mode: 'buffer',
        stream_window_chars: 50,
      },
    ])
  })

  test('in short, with the defaults', () => {
    const {input, faults} = attached({
      input_guardrails: [{'default.regexMatch': {rule: 'x'}, wordCount: {minWords: 1}, deny: true}],
    })
    expect(faults).toEqual([])
    expect(input).toMatchObject([
      {
        id: 'input_guardrail_1',
        type: 'guardrail',
        deny: true,
        async: false,
        sequential: false,
        on_fail: null,
        on_success: null,
        guardrail_version_id: null,
        stream_mode: 'after',
        stream_window_chars: 400,
        checks: [{id: 'default.regexMatch'}, {id: 'default.wordCount'}],
      },
    ])
  })

  test('in short, one check twice by its inner id, one switched off', () => {
    const short = {
      a: {id: 'default.contains', words: ['a']},
      b: {id: 'contains', words: ['b']},
      notNull: {is_enabled: false},
    }
    expect(summary({output_guardrails: [short]})).toEqual([
      [],
      ['output_guardrail_1: default.contains,default.contains'],
    ])
  })

  test('mutators in short', () => {
    expect(attached({input_mutators: [{addPrefix: {prefix: 'x'}}]}).input).toMatchObject([
      {id: 'input_mutator_1', type: 'mutator'},
    ])
  })

  test('saved, by slug, by id, by a reference', () => {
    expect(
      summary({input_guardrails: ['pg-a', {id: 'id-of-pg-org'}], before_request_hooks: [{id: 'pg-ws'}]})[0],
    ).toEqual(['pg-ws denies: default.contains', 'pg-a denies: default.contains', 'pg-org denies: default.contains'])
    expect(attached({input_guardrails: ['pg-a']}).input[0]).toMatchObject({
      guardrail_version_id: 'version-of-pg-a',
      on_fail: {value: -5},
    })
  })

  test('a reference that says more than its id is warned of, and means the saved guardrail', () => {
    const {input, warnings} = attached({before_request_hooks: [{id: 'pg-a', deny: false}]})
    expect(input[0]).toMatchObject({deny: true})
    expect(warnings).toEqual([
      {path: 'before_request_hooks[0]', message: 'has no effect: deny; the guardrail pg-a says it.'},
    ])
  })

  test('every check switched off: no hook', () => {
    expect(summary({input_guardrails: [{contains: {words: ['x'], is_enabled: false}}]})).toEqual([[], []])
  })

  test('a check where it does not run is warned of', () => {
    expect(attached({input_guardrails: [{notNull: {}}]}).warnings[0]?.message).toBe(
      'default.notNull does not run on the input and is skipped.',
    )
  })
})

describe('defaults', () => {
  const defaults = [
    {input_guardrails: ['pg-org'], output_guardrails: ['pg-org']},
    {input_guardrails: ['pg-ws'], output_guardrails: []},
  ]

  test('run besides, organisation first, on each side its own', () => {
    expect(summary({input_guardrails: ['pg-a']}, defaults)).toEqual([
      ['pg-a denies: default.contains', 'pg-org denies: default.contains', 'pg-ws denies: default.contains'],
      ['pg-org denies: default.contains'],
    ])
  })

  test.each<[string, AttachKeys]>([
    ['nothing', {}],
    ['empty lists', {input_guardrails: [], before_request_hooks: []}],
    ['its own keys for defaults', {default_input_guardrails: [], default_output_guardrails: []} as AttachKeys],
    ['the same guardrail, attached by its id', {input_guardrails: ['id-of-pg-org']}],
    ['a reference that would not deny', {before_request_hooks: [{id: 'pg-org', deny: false}]}],
    [
      'a hook of the same name that does nothing',
      {before_request_hooks: [{id: 'pg-org', checks: [{id: 'wordCount'}], deny: false}]},
    ],
    ['a shorthand of the same name', {input_guardrails: [{id: 'pg-ws', contains: {words: ['y']}, deny: false}]}],
  ])('no config takes them away: %s', (_, keys) => {
    const {input} = attached(keys, defaults)
    const standing = input.filter(hook => hook.guardrail_version_id !== null)
    expect(standing.map(({id, deny}) => [id, deny])).toEqual([
      ['pg-org', true],
      ['pg-ws', true],
    ])
  })

  test('those of a config run in every form, behind all others, each once', () => {
    const keys: AttachKeys = {
      input_guardrails: ['pg-a'],
      default_input_guardrails: [
        {contains: {words: ['x']}, deny: true},
        'pg-a',
        {id: 'h', checks: [{id: 'default.wordCount'}]},
        {id: 'pg-org'},
      ],
      default_output_guardrails: [{'default.regexMatch': {rule: 'x'}}],
    }
    expect(summary(keys, defaults)).toEqual([
      [
        'pg-org denies: default.contains',
        'pg-ws denies: default.contains',
        'pg-a denies: default.contains',
        'default_input_guardrail_1 denies: default.contains',
        'h: default.wordCount',
      ],
      ['pg-org denies: default.contains', 'default_output_guardrail_1: default.regexMatch'],
    ])
    expect(fault({default_input_guardrails: [{contain: {}}]})).toEqual([
      'default_input_guardrails[0].checks[0].id: There is no check "contain": did you mean default.contains?',
    ])
  })

  test('a default that is not there refuses the call, it is not passed over', () => {
    const {faults} = attached({}, [{input_guardrails: ['pg-gone'], output_guardrails: []}])
    expect(faults).toEqual([{path: 'default_input_guardrails', message: 'Guardrail not found: pg-gone.'}])
  })
})

describe('what is wrong', () => {
  test.each<[AttachKeys, string]>([
    [{input_guardrails: ['pg-none']}, 'input_guardrails[0]: Guardrail not found: pg-none.'],
    [{input_guardrails: [7]}, 'input_guardrails[0]: must be the id of a guardrail or an object.'],
    [{before_request_hooks: ['pg-a']}, 'before_request_hooks[0]: must be an object.'],
    [{before_request_hooks: [{id: 'h', checks: []}]}, 'before_request_hooks[0]: checks: must have at least 1 item.'],
    [
      {before_request_hooks: [{checks: [{id: 'default.wordCnt'}]}]},
      'before_request_hooks[0].checks[0].id: There is no check "default.wordCnt": did you mean default.wordCount?',
    ],
    [
      {input_guardrails: [{wordCnt: {}}]},
      'input_guardrails[0].checks[0].id: There is no check "wordCnt": did you mean default.wordCount?',
    ],
    [
      {input_guardrails: [{wordCount: true}]},
      'input_guardrails[0].wordCount: must be an object, the parameters of default.wordCount.',
    ],
    [
      {input_guardrails: [{denny: true, wordCount: {}}]},
      'input_guardrails[0].denny: the key denny is not known here: did you mean deny?',
    ],
    [
      {input_guardrails: [{wordCount: {}, deny: 'yes'}]},
      'input_guardrails[0]: deny: must be true or false, not a string.',
    ],
    [
      {before_request_hooks: [{checks: [{id: 'wordCount'}], denny: true}]},
      'before_request_hooks[0]: the hook: the key denny is not known here: did you mean deny?',
    ],
    [
      {input_guardrails: [{wordCount: {minWords: 'a'}}]},
      'input_guardrails[0].checks[0]: default.wordCount: minWords: must be a number, not a string.',
    ],
    [{input_guardrails: [{constructor: {}}]}, 'input_guardrails[0].checks[0].id: There is no check "constructor".'],
    [
      {input_guardrails: [{wordCount: {}, stream_mode: 'bufer'}]},
      'input_guardrails[0]: stream_mode: must be one of after, window, buffer: did you mean buffer?',
    ],
  ])('%j', (keys, sentence) => expect(fault(keys)).toEqual([sentence]))

  test('a path goes before', () => {
    expect(attached({input_guardrails: ['pg-none']}, [], 'targets[1]').faults[0]?.path).toBe(
      'targets[1].input_guardrails[0]',
    )
  })

  test('more than fifty', () => {
    expect(fault({input_guardrails: Array.from({length: 51}, () => ({wordCount: {}}))})[0]).toContain('more than 50')
  })

  test('one parameter in two spellings', () => {
    expect(fault({input_guardrails: [{contains: {words: ['a'], WORDS: ['b']}}]})[0]).toContain('WORDS is not known')
  })
})
