import {expect, test} from 'vitest'
import {anyError, faultOf, readFault} from '../../../src/providers/unified/fault.ts'
import {contextOf} from '../../support/dialect.ts'

const context = contextOf('acme', {model: 'm'})
const LEVELS = [1, 12, 26, 40, 10_000]
const MOST_MS = 20

/** The least of three: other work on the machine only adds. */
function quickest(work: () => unknown): number {
  return Math.min(
    ...[1, 2, 3].map(() => {
      const began = performance.now()
      work()
      return performance.now() - began
    }),
  )
}

const SHAPES: Readonly<Record<string, (levels: number) => string>> = {
  msg: levels => `{"message":${'{"msg":'.repeat(levels)}"x"${'}'.repeat(levels)}}`,
  message: levels => `{"detail":${'{"message":'.repeat(levels)}"x"${'}'.repeat(levels)}}`,
  'msg that says nothing': levels => `{"message":${'{"message":"x","msg":'.repeat(levels)}""${'}'.repeat(levels)}}`,
  lists: levels => `{"message":${'['.repeat(levels)}"x"${']'.repeat(levels)}}`,
  'lists with a way': levels => `{"detail":${'[{"loc":["a"],"msg":'.repeat(levels)}"x"${'}]'.repeat(levels)}}`,
  errors: levels => `${'{"errors":['.repeat(levels)}"x"${']}'.repeat(levels)}`,
}

test.each(Object.keys(SHAPES))('a fault of %s is read at once, however deep it is', shape => {
  for (const levels of LEVELS) {
    const body = Buffer.from(SHAPES[shape]!(levels))
    const fault = readFault(503, body, context)
    expect(fault.message).toMatch(/^acme error: ./)
    if (levels * (shape === 'lists with a way' ? 2 : 1) <= 12) expect(fault.message).toMatch(/^acme error: (a: )*x$/)
    expect(
      quickest(() => readFault(503, body, context)),
      `${levels}`,
    ).toBeLessThan(MOST_MS)
    const event: unknown = JSON.parse(body.toString())
    expect(
      quickest(() => faultOf(context, anyError(event as never), 'it broke off')),
      `${levels} in an event`,
    ).toBeLessThan(MOST_MS)
  }
})

test('what is told is bounded while it is put together', () => {
  const wide = {message: Array.from({length: 20}, () => Array.from({length: 20}, () => ['x'.repeat(100_000)]))}
  expect(quickest(() => faultOf(context, wide, ''))).toBeLessThan(MOST_MS)
  expect(faultOf(context, wide, '').message.length).toBeLessThanOrEqual('acme error: '.length + 2000)
  const tree = (levels: number): unknown => (levels === 0 ? '' : Array.from({length: 20}, () => tree(levels - 1)))
  const branches = {message: tree(4)}
  expect(quickest(() => faultOf(context, branches, 'nothing'))).toBeLessThan(MOST_MS)
  expect(faultOf(context, branches, 'nothing').message).toBe('acme error: nothing')
  const loc = Array.from({length: 100_000}, () => 'y'.repeat(50))
  const way = {message: [{loc, msg: 'm'}]}
  expect(quickest(() => faultOf(context, way, ''))).toBeLessThan(MOST_MS)
})

test('a long body says what it says', () => {
  const body = JSON.stringify({detail: [{loc: ['body', 0, 'input'], msg: 'Too long', input: 'z'.repeat(200_000)}]})
  expect(readFault(422, Buffer.from(body), context).message).toBe('acme error: body.0.input: Too long')
})
