import {describe, expect, test} from 'vitest'
import {embeddedJson, fences} from '../../src/guardrails/embedded-json.ts'
import type {JsonValue} from '../../src/guardrails/json.ts'
import {CHECKS} from '../../src/guardrails/registry.ts'
import {atOnce} from '../../src/guardrails/time-slices.ts'
import {HOSTILE, hostileWorld, PARAMETERS} from './hostile.ts'
import {answered, checkOf, run, said} from './support.ts'

describe.each(CHECKS.map(check => [check.id, check] as const))('%s', (id, check) => {
  test.each(Object.keys(HOSTILE))('ends on a megabyte of %s', async name => {
    const outcome = await run([{[id]: PARAMETERS[id] ?? {}}], hostileWorld(check, HOSTILE[name]!))
    const result = checkOf(outcome)
    expect(typeof result.verdict).toBe('boolean')
    expect(JSON.stringify(result).length).toBeLessThan(10_000)
    // HTTP is asked within bounds, whatever the text says.
    expect(outcome.made.asked.length).toBeLessThanOrEqual(50)
  })
})

describe('JSON in a text is looked for in one pass', () => {
  test.each(Object.keys(HOSTILE))('%s: what is parsed is no more than the text', name => {
    const text = HOSTILE[name]!
    const parse = JSON.parse
    let parsed = 0
    JSON.parse = (source: string) => {
      parsed += source.length
      return parse(source)
    }
    try {
      atOnce(embeddedJson(text))
    } finally {
      JSON.parse = parse
    }
    expect(parsed).toBeLessThanOrEqual(text.length)
    expect(atOnce(fences(text)).reduce((sum, {tag, body}) => sum + tag.length + body.length, 0)).toBeLessThanOrEqual(
      text.length,
    )
  })

  test('and is found behind what only begins like it', () => {
    const text = 'He said {"oh\nthen {not json} and {"a": "}"} or {"b": {"c": []}} {'
    expect(atOnce(embeddedJson(text))).toEqual([{a: '}'}, {b: {c: []}}])
  })
})

test('a body of many messages, and one that is deep, are walked once', async () => {
  const many = {messages: Array.from({length: 20_000}, () => ({role: 'user', content: 'a secret'}))}
  const outcome = await run([{regexReplace: {rule: '/secret/g', redactText: 's'}}], {body: many})
  expect(outcome.view.body).toEqual({messages: many.messages.map(() => ({role: 'user', content: 'a s'}))})
  let deep: JsonValue = 'end'
  for (let level = 0; level < 5000; level++) deep = {content: [deep]}
  const told = checkOf(await run([{regexReplace: {rule: '/end/g'}}], {body: {messages: [deep]}}))
  expect(told.error?.message).toBe('The body is nested too deep to be judged.')
})

describe('keys of a prototype are never read', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']

  test.each(NAMES)('%s', async name => {
    const named = (value: unknown) =>
      JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`) as Record<string, unknown>
    const verdicts = async (guardrail: object, side: 'input' | 'output' = 'input') =>
      checkOf(await run([guardrail], {side, body: side === 'input' ? said('x') : answered('{"x":1}')})).verdict
    expect(await verdicts({requiredMetadataKeys: {metadataKeys: [name]}})).toBe(false)
    expect(await verdicts({jsonKeys: {keys: [name]}}, 'output')).toBe(false)
    expect(await verdicts({jsonSchema: {schema: {required: [name]}}}, 'output')).toBe(false)
    expect(await verdicts({requestParametersCheck: {params: {values: named({allowedValues: [1]})}}})).toBe(true)
    expect(await verdicts({requestParametersCheck: {params: {blockedKeys: [name]}}})).toBe(true)
    expect(await verdicts({modelRules: {rules: {defaults: ['other'], metadata: named({x: ['model-a']})}}})).toBe(false)
    await expect(run([named({})], {body: said('x')})).rejects.toThrow('There is no check')
    await expect(run([{wordCount: named(1)}], {body: said('x')})).rejects.toThrow()
    const body = JSON.parse(
      `{${JSON.stringify(name)}:{"messages":[{"content":"secret"}]},"messages":[{"role":"user","content":"x"}]}`,
    ) as JsonValue
    const outcome = await run([{regexReplace: {rule: '/secret/g'}}, {addPrefix: {prefix: 'p '}}], {body})
    expect(JSON.stringify(outcome.view.body)).toBe(
      JSON.stringify(body).replace('"x"', '"p x"').replace('secret', '[REDACTED]'),
    )
    expect(({} as Record<string, unknown>).messages).toBeUndefined()
  })
})
