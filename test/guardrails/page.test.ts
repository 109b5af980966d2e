import {describe, expect, test} from 'vitest'
import {attach} from '../../src/guardrails/attach.ts'
import {guardrailsPage} from '../../src/guardrails/docs-page.ts'
import {EXAMPLES} from '../../src/guardrails/examples.ts'
import type {JsonValue} from '../../src/guardrails/json.ts'
import {type PhaseOutcome, runHooks} from '../../src/guardrails/run.ts'
import {answered, type CheckSetup, ranHook, said, world} from './support.ts'

test('docs/guardrails.md is what the checks say', async () => {
  await expect(guardrailsPage()).toMatchFileSnapshot('../../docs/guardrails.md')
})

interface Shown {
  readonly of: CheckSetup
  readonly verdict: boolean
  readonly is_denied?: boolean
  readonly becomes?: JsonValue
}

/** For each example a call that it is for, and what comes of it. */
const CALLS: Readonly<Record<string, readonly Shown[]>> = {
  Report: [
    {of: {body: said('a few words')}, verdict: true},
    {of: {body: said('word '.repeat(401))}, verdict: false},
  ],
  Deny: [
    {of: {body: said('hi'), model: 'gpt-4o-mini'}, verdict: true},
    {of: {body: said('hi'), model: 'another'}, verdict: false, is_denied: true},
    {
      of: {body: {messages: [], tools: [{type: 'function', function: {name: 'drop'}}]}, model: 'gpt-4o-mini'},
      verdict: false,
      is_denied: true,
    },
  ],
  'Fail closed': [
    {of: {body: said('hi'), http: {'https://guard.example.com/judge': {body: '{"verdict":true}'}}}, verdict: true},
    {
      of: {body: said('hi'), impatient: true, http: {'https://guard.example.com/judge': 'hang'}},
      verdict: false,
      is_denied: true,
    },
  ],
  Redact: [
    {of: {body: said('I am ada@mail.example, 078-05-1120.')}, verdict: true, becomes: said('I am [EMAIL], [NUMBER].')},
    {of: {body: said('Nothing.')}, verdict: true},
  ],
  'In the background': [
    {of: {side: 'output', body: answered('I promise')}, verdict: false},
    {of: {side: 'output', body: answered('Maybe')}, verdict: true},
  ],
  Rewrite: [
    {
      of: {body: said('hi')},
      verdict: true,
      becomes: said('hi', {role: 'system', content: 'Answer in one paragraph. '}),
    },
    {
      of: {body: said('hi', {role: 'system', content: 'Be kind.'})},
      verdict: true,
      becomes: said('hi', {role: 'system', content: 'Answer in one paragraph. Be kind.'}),
    },
  ],
  'Answers: after the stream': [
    {of: {side: 'output', body: answered('{"name": "n", "price": 1}')}, verdict: true},
    {of: {side: 'output', body: answered('{"name": "n"}')}, verdict: false, is_denied: true},
  ],
  'Answers: while they stream': [
    {of: {side: 'output', body: answered('for all')}, verdict: true},
    {of: {side: 'output', body: answered('for internal use only')}, verdict: false, is_denied: true},
  ],
  'Answers: before they leave': [
    {of: {side: 'output', body: answered('no key')}, verdict: true},
    {of: {side: 'output', body: answered(`sk-${'a1'.repeat(12)}`)}, verdict: false, is_denied: true},
  ],
}

describe.each(EXAMPLES)('$title', ({title, config}) => {
  const {input, output, faults, warnings} = attach(config, {defaults: [], saved: () => undefined})

  test('is taken as it stands', () => {
    expect({faults, warnings}).toEqual({faults: [], warnings: []})
    expect([...input, ...output]).toHaveLength(1)
  })

  test('does what it says', async () => {
    expect(CALLS[title]?.length).toBeGreaterThanOrEqual(2)
    for (const {of, verdict, is_denied = false, becomes} of CALLS[title]!) {
      const {view, context} = world(of)
      const outcome: PhaseOutcome = await runHooks(of.side === 'output' ? output : input, view, context)
      const [later] = (await outcome.background) ?? []
      const result = later && 'verdict' in later ? later : ranHook(outcome)
      expect({verdict: result.verdict, is_denied: outcome.is_denied}).toEqual({verdict, is_denied})
      expect(outcome.view.body).toEqual(becomes ?? of.body)
    }
  })
})

test('every way to run is shown', () => {
  const hooks = EXAMPLES.flatMap(({config}) => {
    const {input, output} = attach(config, {defaults: [], saved: () => undefined})
    return [...input, ...output]
  })
  expect(new Set(hooks.map(({stream_mode}) => stream_mode))).toEqual(new Set(['after', 'window', 'buffer']))
  for (const way of ['deny', 'async', 'sequential'] as const)
    expect(
      hooks.some(hook => hook[way]),
      way,
    ).toBe(true)
  expect(hooks.some(({on_fail}) => on_fail !== null)).toBe(true)
  expect(hooks.some(({type}) => type === 'mutator')).toBe(true)
  expect(hooks.some(({checks}) => checks.some(({prepared}) => prepared.fail_on_error))).toBe(true)
})
