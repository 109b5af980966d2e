import {describe, expect, test} from 'vitest'
import {isObject} from '../../src/base/json-object.ts'
import {readUsage} from '../../src/providers/gemini/usage.ts'
import {mergeRawUsage, type RawObject} from '../../src/providers/openai/usage.ts'
import {list} from '../../src/providers/registry.ts'
import type {Dialect, Json, StreamEvent, Translation} from '../../src/providers/translation.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'
import {totals, type Usage} from '../../src/schema/usage.ts'
import {casesIn, contextOf, framed} from '../support/dialect.ts'

/**
 * Numbers that cannot be counts, under whatever a dialect calls its usage: what cannot be is not a count of 0, it is
 * none.
 */
const HOSTILE: Readonly<Record<string, unknown>> = {
  negative: -5,
  'without bounds': Number.POSITIVE_INFINITY,
  absurd: 1e29,
  text: '12',
  nested: {value: 12},
  null: null,
}
const dialects = new Map(
  list().flatMap(({translations}): [string, Dialect][] => (translations ? [[translations.name, translations]] : [])),
)
const USAGE = /usage|token|billed|statistics|metrics|count/i

/** `value` with `put` in place of every number under a word for usage. */
function poisoned(value: unknown, put: unknown, is_usage = false): unknown {
  if (typeof value === 'number') return is_usage ? put : value
  if (Array.isArray(value)) return value.map(each => poisoned(each, put, is_usage))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, poisoned(member, put, is_usage || USAGE.test(key))]),
  )
}

/** What is counted in units of pictures or searches is counted from the answer, not told by it. */
function isTold(usage: Usage | null): boolean {
  return usage !== null && totals(usage).total_tokens === 0 && Object.values(usage.units).every(amount => amount === 0)
}

let cases = 0
describe.each([...dialects.values()].map(dialect => [dialect.name, dialect] as const))('%s', (name, dialect) => {
  const told = Object.entries(dialect.endpoints).flatMap(([endpoint, translation]) =>
    casesIn(name, endpoint)
      .filter(({usage}) => usage)
      .map(said => [endpoint as EndpointName, translation as Translation, said] as const),
  )
  test.each(Object.keys(HOSTILE))('a usage that is %s is none', kind => {
    for (const [endpoint, translation, said] of told) {
      const context = contextOf(name, said.asked, said.context)
      const where = `${endpoint} ${said.name}`
      if (said.answer && said.reply !== undefined) {
        cases++
        const {usage} = translation.reply(poisoned(said.reply, HOSTILE[kind]), context, said.asked)
        expect(isTold(usage), where).toBe(false)
      }
      if (said.chunks && said.events && translation.stream) {
        cases++
        const stream = translation.stream.open(context, said.asked)
        for (const {name: event, data} of framed(translation.stream.framing, [said.events]) as readonly StreamEvent[])
          stream.event({name: event, data: poisoned(data, HOSTILE[kind]) as Json})
        stream.end()
        expect(isTold(stream.usage), `${where} streamed`).toBe(false)
      }
    }
  })
})

test('most dialects were tried', () => expect(cases).toBeGreaterThan(200))

test.each(Object.entries(HOSTILE))('Gemini’s usage that is %s is none', (kind, value) => {
  expect(
    readUsage({
      promptTokenCount: value,
      candidatesTokenCount: value,
      totalTokenCount: value,
      thoughtsTokenCount: value,
    }),
  ).toBeNull()
  const [input, total] = [
    readUsage({promptTokenCount: 7, candidatesTokenCount: value}),
    readUsage({promptTokenCount: value, totalTokenCount: 9}),
  ]
  // null is an absent half; any other makes the whole report one that is not believed
  if (kind === 'null') expect([input, total]).toMatchObject([{input_uncached_tokens: 7}, {input_uncached_tokens: 9}])
  else expect([input, total]).toEqual([null, null])
})

test('a stream that tells ever other fields keeps few of them', () => {
  let so_far: RawObject | null = null
  const began = performance.now()
  for (let event = 0; event < 2000; event++) {
    const fields = Object.fromEntries(Array.from({length: 60}, (_, at) => [`f${event}_${at}`, {[`g${event}`]: 1}]))
    so_far = mergeRawUsage(so_far, {prompt_tokens: event, prompt_tokens_details: fields, ...fields})
  }
  expect(so_far!.prompt_tokens).toBe(1999)
  expect(Object.keys(so_far!).length).toBeLessThanOrEqual(64)
  expect(Object.keys(so_far!.prompt_tokens_details as object).length).toBeLessThanOrEqual(64)
  // less than a second; where each event copies all that came before, it takes a minute
  expect(performance.now() - began).toBeLessThan(10_000)
})
