import {expect, test} from 'vitest'
import {BUILTIN_DIMENSIONS, BUILTIN_EMBEDDER, embedBuiltin} from '../../../../src/cache/semantic/builtin-embedder.ts'

function cosine(a: string, b: string): number {
  const [one, other] = [embedBuiltin(a), embedBuiltin(b)]
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0)
}

test('a vector has 512 places and length 1, whatever the text is', () => {
  expect(BUILTIN_EMBEDDER).toBe('builtin/1')
  for (const text of [
    '',
    ' ',
    '👍',
    'a',
    '是',
    'How do I reset my password?',
    'x'.repeat(100_000),
    '\u0000',
    '\ud800',
  ]) {
    const vector = embedBuiltin(text)
    expect(vector).toHaveLength(BUILTIN_DIMENSIONS)
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
  }
})

test('a slip and a contraction stay near; another request does not', () => {
  expect(
    cosine('How do I reset the password of my account?', 'how do i reset the pasword of my account'),
  ).toBeGreaterThan(0.8)
  expect(cosine("What's the capital of Mongolia?", 'What is the capital of Mongolia?')).toBeGreaterThan(0.8)
  expect(cosine('How do I reset my password?', 'What is the capital of Mongolia?')).toBeLessThan(0.3)
  expect(cosine('ＨＥＬＬＯ world', 'hello WORLD')).toBeCloseTo(1, 5)
  expect(cosine('如何在手机上修改密码', '如何在手机上修改密码呢')).toBeGreaterThan(0.8)
  expect(cosine('如何在手机上修改密码', '法国的首都是哪里')).toBeLessThan(0.3)
})

test('the same text has the same vector in every process', () => {
  const vector = embedBuiltin('How do I reset my password?')
  const places = [...vector.entries()].filter(([, value]) => Math.abs(value) > 0.25).map(([place]) => place)
  expect(places).toEqual(PLACES)
})

/** Of another place, entries that are stored would not be found: then `BUILTIN_EMBEDDER` needs a new number. */
const PLACES: readonly number[] = [75, 149, 204, 361, 366, 465, 507]
