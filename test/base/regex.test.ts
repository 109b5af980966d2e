import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {compileRegex, RegexFault} from '../../src/base/regex.ts'

const fault = (source: string) => {
  try {
    compileRegex(source)
    return undefined
  } catch (error) {
    if (!(error instanceof RegexFault)) throw error
    return error.message
  }
}

interface Part {
  readonly said: string
  readonly may_be_empty: boolean
}

const TIMES = ['*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,2}?', '{1,}', '{,2}', '{0}']
const ASSERTIONS = ['^', '$', '\\b', '\\B']
const SETS = [
  ...['a', 'b', '-', '1', '.', '\\d', '\\W', '\\s', '\\x61', '\\u0062', ']', '}', '\\.', '\\n'],
  ...['[ab]', '[^a]', '[\\w-]', '[a-c1]', '[]', '[^]', '[-a]', '[\\d-z]', '[\\b]', '[^\\s_]', '[\\]-a]'],
]

/**
 * Patterns of the syntax we take, small enough that JavaScript's own engine ends; `solid`: no part that may be empty is
 * repeated.
 */
function patterns(solid: boolean) {
  const {choice} = fc.letrec<Record<'choice' | 'sequence' | 'repeated' | 'atom', Part>>(tie => ({
    choice: fc
      .array(tie('sequence'), {minLength: 1, maxLength: 3})
      .map(of => ({said: of.map(({said}) => said).join('|'), may_be_empty: of.some(({may_be_empty}) => may_be_empty)})),
    sequence: fc
      .array(tie('repeated'), {maxLength: 4})
      .map(of => ({said: of.map(({said}) => said).join(''), may_be_empty: of.every(({may_be_empty}) => may_be_empty)})),
    repeated: fc.oneof(
      tie('atom'),
      fc.tuple(tie('atom'), fc.constantFrom(...TIMES)).map(([{said, may_be_empty}, times]) => {
        const as_it_is = ASSERTIONS.includes(said) || (solid && may_be_empty)
        return as_it_is
          ? {said, may_be_empty}
          : {said: said + times, may_be_empty: may_be_empty || /^(\*|\?|\{0)/.test(times)}
      }),
    ),
    atom: fc.oneof(
      {depthSize: 'small'},
      fc.constantFrom(...ASSERTIONS).map(said => ({said, may_be_empty: true})),
      fc.constantFrom(...SETS).map(said => ({said, may_be_empty: false})),
      tie('choice').map(({said, may_be_empty}) => ({said: `(${said})`, may_be_empty})),
      tie('choice').map(({said, may_be_empty}) => ({said: `(?:${said})`, may_be_empty})),
    ),
  }))
  return choice.map(({said}) => said)
}

const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', '1', '-', '_', ' ', '\n', 'é', '\u2028', '😀'),
  maxLength: 8,
})

test('there is a match where JavaScript finds one, and it begins there', () => {
  fc.assert(
    fc.property(patterns(false), text, (source, said) => {
      const match = new RegExp(source).exec(said)
      expect(compileRegex(source).test(said)).toBe(match !== null)
      expect(compileRegex(source).find(said)?.start).toBe(match?.index)
    }),
    {numRuns: 3000},
  )
})

test('a match is as long as that of JavaScript', () => {
  fc.assert(
    fc.property(patterns(true), text, fc.nat(3), (source, said, from) => {
      const theirs = new RegExp(source, 'g')
      theirs.lastIndex = from
      const match = theirs.exec(said)
      expect(compileRegex(source).find(said, from)).toEqual(
        match && {start: match.index, end: match.index + match[0].length},
      )
    }),
    {numRuns: 3000},
  )
})

test('any text is a pattern that both take alike, or one we refuse with a sentence', () => {
  const signs = fc.constantFrom(...'ab1-^$.*+?()[]{}|\\,:<>=!dwsbBDkxupc0')
  fc.assert(
    fc.property(fc.string({unit: signs, maxLength: 10}), fc.string({unit: signs, maxLength: 6}), (source, said) => {
      if (fault(source) !== undefined) return
      expect(compileRegex(source).test(said)).toBe(new RegExp(source).test(said))
    }),
    {numRuns: 3000},
  )
})

describe('what people write', () => {
  test.each<[string, string, boolean]>([
    ['^gpt-4', 'gpt-4o', true],
    ['^gpt-4', 'my-gpt-4', false],
    ['^(eu|us)-(west|east)-\\d+$', 'eu-west-12', true],
    ['^(?<area>eu|us)-', 'us-1', true],
    ['[\\w.+-]+@[\\w-]+\\.\\w{2,}', 'write to a.b+c@example.org now', true],
    ['\\bpro\\b', 'the pro plan', true],
    ['\\bpro\\b', 'the process', false],
    ['^/v1/chat', '/v1/chat/completions', true],
    ['\\u00e9t\\u00e9', 'un été', true],
    ['^.$', '\n', false],
    ['a{2,3}?$', 'aaaa', true],
    ['', '', true],
  ])('%s in %j: %s', (source, said, found) => {
    expect(compileRegex(source).test(said)).toBe(found)
    expect(new RegExp(source).test(said)).toBe(found)
  })
})

describe('what is refused', () => {
  test.each([
    ['(a)\\1', 'the back-reference \\1 at position 4 cannot be matched in linear time'],
    ['(?<n>a)\\k<n>', 'the back-reference \\k at position 8 cannot be matched in linear time'],
    ['a(?=b)', 'the lookahead at position 2 cannot be matched in linear time'],
    ['a(?!b)', 'the lookahead at position 2 cannot be matched in linear time'],
    ['(?<=b)a', 'the lookbehind at position 1 cannot be matched in linear time'],
    ['(?<!b)a', 'the lookbehind at position 1 cannot be matched in linear time'],
    ['(?i:a)', 'the group at position 1 begins with a (? that is not available; (?: and (?<name> are'],
    ['(a', 'the ( at position 1 is not closed'],
    ['a)', 'the ) at position 2 closes nothing'],
    ['[a', 'the [ at position 1 is not closed'],
    ['*a', 'there is nothing to repeat at position 1'],
    ['a**', 'there is nothing to repeat at position 3'],
    ['^*', 'there is nothing to repeat at position 2'],
    ['a{3,2}', 'the numbers of the quantifier at position 2 are out of order'],
    ['[z-a]', 'the range before position 5 is out of order'],
    ['a\\', 'it ends in a backslash'],
    ['\\p{L}', '\\p at position 1 is not available; name the characters'],
    ['\\u{61}', '\\u at position 1 takes 4 hexadecimal digits'],
    ['\\07', 'the octal escape at position 1 is not available'],
    ['a{1001}', 'a repetition is counted to 1000 at most'],
    ['((a{100}){100}){100}', 'it repeats too much: it grows above 5000 steps'],
    ['((((){1000}){1000}){1000}){1000}', 'it repeats too much: it grows above 5000 steps'],
    ['(((((((((((((x*)+)+)+)+)+)+)+)+)+)+)+)+)+', 'it repeats too much: it grows above 5000 steps'],
  ])('%s', (source, sentence) => {
    expect(fault(source)).toBe(sentence)
  })

  test('what is too deep or too long', () => {
    expect(fault('('.repeat(101))).toBe('groups stand within each other at most 100 deep')
    expect(fault('a'.repeat(4097))).toBe('a pattern has at most 4096 characters')
  })
})

/**
 * The threads looked at are bounded by size times length: what stalls a backtracking engine for centuries ends here.
 */
test.each(['(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*)*=', '^(\\w+\\s?)*$', '(x+x+)+y', 'a*a*a*a*a*a*b'])(
  '%s does not stall',
  source => {
    expect(compileRegex(source).test(`${'a'.repeat(20_000)}!`)).toBe(false)
  },
)

/** What pieces come to, and how many there were. */
function pieced<T>(work: Generator<undefined, T>): {readonly value: T; readonly pieces: number} {
  for (let pieces = 1; ; pieces++) {
    const step = work.next()
    if (step.done) return {value: step.value, pieces}
  }
}

describe('in pieces', () => {
  test('a match is the same, on any pattern and text', () => {
    fc.assert(
      fc.property(patterns(false), text, fc.nat(3), (source, said, from) => {
        const regex = compileRegex(source)
        expect(pieced(regex.finding(said, from)).value).toEqual(regex.find(said, from))
        expect(pieced(regex.testing(said)).value).toBe(regex.test(said))
      }),
    )
  })

  test('a long text is read in many, and what they cost is told', () => {
    const said = `${'ab'.repeat(200_000)}c`
    const regex = compileRegex('(a|b|ab)*c')
    let units = 0
    const found = pieced(regex.finding(said, 0, more => (units += more)))
    expect(found.value).toEqual({start: 0, end: said.length})
    expect(found.pieces).toBeGreaterThan(10)
    // Once forwards, once backwards, and a little for each state.
    expect(units).toBeGreaterThanOrEqual(said.length * 2)
    expect(units).toBeLessThan(said.length * 2 + 5000)
  })

  test('searches that take turns do not disturb each other', () => {
    const regex = compileRegex('[ab]*a[ab]{9}c')
    const texts = ['ab', 'aab', 'bba', 'b'].map(
      (part, index) => `${part.repeat(40_000)}abbbbbbbbb${index % 2 ? 'c' : 'd'}`,
    )
    const searches = texts.map(said => regex.finding(said))
    const found = texts.map(() => undefined as unknown)
    while (found.includes(undefined))
      searches.forEach((search, index) => {
        const step = search.next()
        if (step.done && found[index] === undefined) found[index] = step.value
      })
    expect(found).toEqual(texts.map(said => compileRegex(regex.source).find(said)))
  })
})

describe('states that are too many to keep', () => {
  const letters = fc
    .array(fc.constantFrom('a', 'b', 'ab', 'ba', 'aa', 'bb'), {minLength: 5000, maxLength: 20_000})
    .map(parts => parts.join(''))

  test.each(['b?a[ab]{13}c', 'a[ab]{14}c|b[ab]{11}d', '\\ba[ab]{12}$', '[ab]{300}c', 'a(?:[ab]{2}){6}[^ab]'])(
    '%s',
    source => {
      fc.assert(
        fc.property(letters, fc.constantFrom('', 'c', 'abbbabbbbabbac', 'd', ' ab'), (said, end) => {
          const match = new RegExp(source).exec(said + end)
          expect(compileRegex(source).find(said + end)).toEqual(
            match && {start: match.index, end: match.index + match[0].length},
          )
        }),
        {numRuns: 15},
      )
    },
  )
})

test('classes of code units are told apart wherever they lie', () => {
  const sets = ['[^a]', '[\\u0400-\\u04ff]', '[\\uff00-\\uffff]', '\\W', '[\\u00fe-\\u0101]', '\\s', '\\bя', '.']
  for (const source of sets) {
    const regex = compileRegex(`^(?:${source})$`)
    const theirs = new RegExp(`^(?:${source})$`)
    for (let unit = 0; unit < 0x10000; unit += unit < 0x600 ? 1 : 61) {
      const said = String.fromCharCode(unit)
      if (regex.test(said) !== theirs.test(said)) throw new Error(`${source} and U+${unit.toString(16)}`)
    }
    expect(regex.test('\uffff')).toBe(theirs.test('\uffff'))
  }
})
