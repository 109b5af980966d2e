import {expect, test} from 'vitest'
import {traceOf} from '../../src/mcp/call/trace.ts'

const [OF_META, OF_HEADER] = ['a', 'b'].map(digit => `00-${digit.repeat(32)}-b7ad6b7169203331-01`) as [string, string]

/** Where a client has its trace and its state, and the state that goes with the trace. */
const CASES: readonly (readonly [string, object, Record<string, string>, string, string | undefined])[] = [
  ['both in _meta', {traceparent: OF_META, tracestate: 'm=1'}, {}, 'a', 'm=1'],
  ['both in headers', {}, {traceparent: OF_HEADER, tracestate: 'h=1'}, 'b', 'h=1'],
  [
    'both in both',
    {traceparent: OF_META, tracestate: 'm=1'},
    {traceparent: OF_HEADER, tracestate: 'h=1'},
    ...(['a', 'm=1'] as const),
  ],
  ['a state of another trace', {traceparent: OF_META}, {traceparent: OF_HEADER, tracestate: 'h=1'}, 'a', undefined],
  ['a state without its trace', {tracestate: 'm=1'}, {traceparent: OF_HEADER}, 'b', undefined],
  ['two states, one trace', {tracestate: 'm=1'}, {traceparent: OF_HEADER, tracestate: 'h=1'}, 'b', 'h=1'],
]

test.each(CASES)('with %s, a state is that of the trace it came with', (_, meta, headers, digit, state) => {
  const trace = traceOf(meta as Parameters<typeof traceOf>[0], headers, Date.now())
  expect([trace.trace_id, trace.w3c?.state]).toEqual([digit.repeat(32), state])
})
