import {expect, test} from 'vitest'
import {clientTrace, readTraceparent, readTracestate, traceparentOf} from '../../src/base/trace-context.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

test.each<[string, string, boolean | undefined]>([
  ['sampled', `00-${TRACE}-${SPAN}-01`, true],
  ['not sampled', `00-${TRACE}-${SPAN}-00`, false],
  ['other flags', `00-${TRACE}-${SPAN}-02`, false],
  ['both flags', `00-${TRACE}-${SPAN}-03`, true],
  ['of a later version', `cc-${TRACE}-${SPAN}-01-what-comes-later`, true],
  ['with blanks around', ` 00-${TRACE}-${SPAN}-01\t`, true],
  ['of version ff', `ff-${TRACE}-${SPAN}-01`, undefined],
  ['without a trace', `00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
  ['without a parent', `00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  ['in capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
  ['that is short', `00-${TRACE}-${SPAN.slice(1)}-01`, undefined],
  ['that has no flags', `00-${TRACE}-${SPAN}`, undefined],
  ['with something behind', `00-${TRACE}-${SPAN}-01x`, undefined],
])('a traceparent %s', (_, text, is_sampled) => {
  const found = readTraceparent(text)
  expect(found?.is_sampled).toBe(is_sampled)
  if (is_sampled !== undefined) expect(found).toMatchObject({trace_id: TRACE, parent_span_id: SPAN})
})

test('what is written is read again', () => {
  for (const is_sampled of [true, false])
    expect(readTraceparent(traceparentOf(TRACE, SPAN, is_sampled))).toEqual({
      trace_id: TRACE,
      parent_span_id: SPAN,
      is_sampled,
    })
})

const members = (count: number, value = '1') => Array.from({length: count}, (_, at) => `k${at}=${value}`)

test.each<[string, unknown, string]>([
  ['one member', 'rojo=00f067aa0ba902b7', 'rojo=00f067aa0ba902b7'],
  ['blanks and empty members', ' a=1 ,\t, b=2', 'a=1,b=2'],
  ['a tenant', 'fw529a3039@dt=FfAAAAA4', 'fw529a3039@dt=FfAAAAA4'],
  ['a digit first', '0a=1', '0a=1'],
  ['blanks in a value', 'a=b c', 'a=b c'],
  ['32 members', members(32).join(','), members(32).join(',')],
  ['33 members', members(33).join(','), ''],
  ['a key twice', 'a=1,b=2,a=3', ''],
  ['a key in capitals', 'A=1', ''],
  ['no key', '=1', ''],
  ['no value', 'a=', ''],
  ['no sign', 'a', ''],
  ['two signs', 'a=b=c', ''],
  ['a control character', 'a=b\u0007', ''],
  ['a line of another header', 'a=b\r\nx-evil: 1', ''],
  ['another alphabet', 'a=é', ''],
  ['a key that is too long', `${'a'.repeat(257)}=1`, ''],
  ['a value that is too long', `a=${'b'.repeat(257)}`, ''],
  ['nothing', '', ''],
  ['a list of headers', ['a=1'], ''],
  ['9,000 characters', `a=${'1'.repeat(9_000)}`, ''],
])('a tracestate with %s', (_, text, kept) => {
  expect(readTracestate(text)).toBe(kept)
})

test('of a tracestate over 512 characters long members go first, then the last ones', () => {
  const long = `long=${'x'.repeat(200)}`
  const short = members(20, 'y'.repeat(15))
  expect(short.join(',').length).toBeLessThan(512)
  expect(readTracestate([short[0], long, ...short.slice(1)].join(','))).toBe(short.join(','))
  const many = members(30, 'y'.repeat(20))
  const kept = readTracestate(many.join(','))
  expect(kept.length).toBeLessThanOrEqual(512)
  expect(many.join(',').startsWith(`${kept},`)).toBe(true)
})

test('the state of a trace is a part of it where there is one', () => {
  const context = {trace_id: TRACE, parent_span_id: SPAN, is_sampled: true}
  expect(clientTrace(context, 'a=1')).toEqual({is_sampled: true, state: 'a=1'})
  expect(clientTrace(context, 'A=1')).toEqual({is_sampled: true})
  expect(clientTrace(context, undefined)).toEqual({is_sampled: true})
})
