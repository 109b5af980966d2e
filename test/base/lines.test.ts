import fc from 'fast-check'
import {expect, test} from 'vitest'
import {LineTooLongFault, linesOf} from '../../src/base/lines.ts'

async function* cutAt(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const at = [...new Set([0, ...cuts.map(cut => cut % (bytes.length + 1)), bytes.length])].sort(
    (one, other) => one - other,
  )
  for (const [place, end] of at.slice(1).entries()) yield bytes.subarray(at[place], end)
}

async function read(source: AsyncIterable<Buffer>, most = 1000): Promise<(readonly [number, string])[]> {
  const found: (readonly [number, string])[] = []
  for await (const {number, bytes} of linesOf(source, most)) found.push([number, bytes.toString()])
  return found
}

test('lines are the same however the stream is cut, and keep their numbers', async () => {
  const line = fc.string({unit: 'grapheme', maxLength: 20}).map(text => text.replace(/[\r\n]/g, ''))
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.array(fc.nat(), {maxLength: 30}),
      async (all, end, is_ended, cuts) => {
        const text = all.join(end) + (is_ended ? end : '')
        const expected = all
          .map((each, at) => [at + 1, each] as const)
          .filter(([, each]) => each.trim() !== '' || /[^\s]/.test(each))
        const found = await read(cutAt(Buffer.from(text), cuts))
        expect(found.filter(([, each]) => each.trim() !== '')).toEqual(
          expected.filter(([, each]) => each.trim() !== ''),
        )
      },
    ),
  )
})

test('a byte order mark is no part of the first line', async () => {
  expect(await read(cutAt(Buffer.from('\ufeff{"a":1}\n\n{"b":2}'), [1, 2, 4]))).toEqual([
    [1, '{"a":1}'],
    [3, '{"b":2}'],
  ])
})

test('a line that is too long is refused by its number, ended or not', async () => {
  for (const text of ['short\nthis one is too long\nshort', 'short\nthis one is too long'])
    await expect(read(cutAt(Buffer.from(text), [3, 9, 12]), 10)).rejects.toThrow(new LineTooLongFault(2, 10))
  expect(await read(cutAt(Buffer.from('0123456789\n0123456789'), [4, 15]), 10)).toHaveLength(2)
})
