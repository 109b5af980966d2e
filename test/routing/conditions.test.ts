import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {holdsOf, MAX_MATCHED, textOf} from '../../src/routing/conditions.ts'
import type {RoutingFacts} from '../../src/routing/plan.ts'
import {parseQuery} from '../../src/schema/config-conditions.ts'
import type {ConfigFindings} from '../../src/schema/config-readers.ts'

function read(query: unknown) {
  const found: ConfigFindings = {
    issues: [],
    warnings: [],
    saved: true,
    limits: {root: 1, conditional_root: 1, nested: 1},
    regex_size: 0,
    nested: 0,
  }
  const parsed = parseQuery(query, 'q', found)
  return {
    parsed,
    issues: found.issues.map(({path, message}) => `${path}: ${message}`),
    warnings: found.warnings.map(({path}) => path),
  }
}

function holds(query: unknown, facts: Partial<RoutingFacts> = {}): boolean {
  const {parsed, issues} = read(query)
  if (!parsed) throw new Error(issues.join())
  return holdsOf(parsed)({metadata: {}, params: {}, pathname: '/v1/chat/completions', ...facts})
}

const metadata = {plan: 'pro', seats: '12', empty: ''}
const params = {n: 3, stream: true, user: null, model: 'gpt-4o', tools: [1], temperature: 0.5, text: '7 days'}

describe('a query holds', () => {
  test.each<[unknown, boolean]>([
    [{'metadata.plan': 'pro'}, true],
    [{'metadata.plan': {$eq: 'pro'}}, true],
    [{'metadata.plan': {$eq: 'Pro'}}, false],
    [{'metadata.plan': {$ne: 'free'}}, true],
    [{'metadata.plan': {$ne: 'pro'}}, false],
    [{'metadata.empty': {$eq: ''}}, true],
    [{'params.n': 3}, true],
    [{'params.n': '3'}, false],
    [{'params.stream': true}, true],
    [{'params.user': null}, true],
    [{'metadata.seats': {$gt: 9}}, true],
    [{'metadata.seats': {$gt: '9'}}, true],
    [{'metadata.seats': {$gte: 12, $lt: 13}}, true],
    [{'metadata.seats': {$gte: 12, $lt: 12}}, false],
    [{'metadata.plan': {$gt: 1}}, false],
    [{'metadata.plan': {$lte: 1}}, false],
    [{'params.text': {$gte: 7}}, true],
    [{'params.temperature': {$lt: 0.6}}, true],
    [{'params.stream': {$gt: 0}}, false],
    [{'metadata.plan': {$in: ['pro', 'team']}}, true],
    [{'metadata.plan': {$in: ['free']}}, false],
    [{'metadata.plan': {$nin: ['free']}}, true],
    [{'params.n': {$in: [1, 2, 3]}}, true],
    [{'params.n': {$in: ['3']}}, false],
    [{'params.model': {$regex: '^gpt-4'}}, true],
    [{'params.model': {$regex: '^4'}}, false],
    [{'params.n': {$regex: '^3$'}}, true],
    [{'url.pathname': {$regex: '/chat/'}}, true],
    [{'url.pathname': '/v1/chat/completions'}, true],
    [{$and: [{'metadata.plan': 'pro'}, {'params.n': 4}]}, false],
    [{$or: [{'metadata.plan': 'pro'}, {'params.n': 4}]}, true],
    [{$and: [{$or: [{'params.n': 4}, {'params.n': 3}]}, {'metadata.plan': {$ne: 'x'}}]}, true],
  ])('%j: %s', (query, expected) => {
    expect(holds(query, {metadata, params})).toBe(expected)
  })

  test('only when all its entries do, whatever stands first', () => {
    expect(holds({$or: [{'metadata.plan': 'pro'}], 'params.n': 4}, {metadata, params})).toBe(false)
    expect(holds({'metadata.plan': {$regex: 'p', $ne: 'pro'}}, {metadata, params})).toBe(false)
  })

  test.each(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$regex'])(
    'never by %s of a key that is absent or holds no plain value',
    operator => {
      const operand = operator === '$in' || operator === '$nin' ? ['1'] : '1'
      for (const key of [
        'metadata.none',
        'params.none',
        'params.tools',
        'params.toString',
        'metadata.constructor',
        'params.__proto__',
      ])
        expect(holds({[key]: {[operator]: operand}}, {metadata, params})).toBe(false)
    },
  )

  test('by the first 2048 characters of a longer text', () => {
    const text = `${'a'.repeat(MAX_MATCHED)}b`
    expect(holds({'params.x': {$regex: 'b'}}, {params: {x: text}})).toBe(false)
    expect(holds({'params.x': {$regex: '^(a+)+$'}}, {params: {x: text}})).toBe(true)
  })
})

describe('a query is refused', () => {
  test.each<[unknown, string]>([
    ['x', 'q: expected an object such as {"metadata.KEY": {"$eq": "x"}}, found a text'],
    [{}, 'q: is empty and would always hold; expected a condition'],
    [
      {'metadata.a': {}},
      'q["metadata.a"]: is empty; expected one of $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $regex',
    ],
    [
      {'metadata.a': [1]},
      'q["metadata.a"]: expected a text, a number, true, false, null or an object of operators, found a list',
    ],
    [{'metadata.a': {$eqq: 1}}, 'q["metadata.a"].$eqq: is no operator; did you mean $eq?'],
    [
      {'metadata.a': {exists: 1}},
      'q["metadata.a"].exists: is no operator; expected one of $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $regex',
    ],
    [{'metadata.a.b': 'x'}, 'q["metadata.a.b"]: reads one key of metadata and nothing below it; expected metadata.KEY'],
    [{'meta.a': 'x'}, 'q["meta.a"]: is not known; expected metadata.KEY, params.KEY, url.pathname, $and or $or'],
    [{'metdata.a': 'x'}, 'q["metdata.a"]: is not known; did you mean metadata.a?'],
    [{'url.path': 'x'}, 'q["url.path"]: is not known; did you mean url.pathname?'],
    [{$nor: [{'metadata.a': 'x'}]}, 'q.$nor: is not known; did you mean $or?'],
    [{$or: []}, 'q.$or: expected a list of 1 to 1000 queries, found 0'],
    [{$or: {}}, 'q.$or: expected a list of 1 to 1000 queries, found an object'],
    [
      {$or: [{'params.a': 1}, 5]},
      'q.$or[1]: expected an object such as {"metadata.KEY": {"$eq": "x"}}, found a number',
    ],
    [
      {'params.a': {$in: 'x'}},
      'q["params.a"].$in: expected a list of 1 to 1000 texts, numbers, true, false, null, found a text',
    ],
    [
      {'params.a': {$in: []}},
      'q["params.a"].$in: expected a list of 1 to 1000 texts, numbers, true, false, null, found an empty list',
    ],
    [{'params.a': {$gt: 'x'}}, 'q["params.a"].$gt: expected a number, found a text'],
    [{'params.a': {$gt: Number.NaN}}, 'q["params.a"].$gt: expected a number, found NaN'],
    [{'params.a': {$regex: 5}}, 'q["params.a"].$regex: expected a regular expression as a text, found a number'],
    [
      {'params.a': {$regex: 'a(?=b)'}},
      'q["params.a"].$regex: is a regular expression that is not available: the lookahead at position 2 cannot be matched in linear time',
    ],
  ])('%j', (query, sentence) => {
    expect(read(query).issues).toEqual([sentence])
  })

  test('that is deeper than ten levels', () => {
    const deep = (levels: number): unknown => (levels ? {$and: [deep(levels - 1)]} : {'params.a': 1})
    expect(read(deep(9)).issues).toEqual([])
    expect(read(deep(10)).issues[0]).toMatch(/stands deeper than 10 levels$/)
  })

  test('whose regular expressions are too much together', () => {
    const query = {$or: Array.from({length: 21}, (_, at) => ({'params.a': {$regex: `a{${950 + at}}`}}))}
    expect(read(query).issues[0]).toMatch(/^q\.\$or\[20\].*at most 20000 steps together$/)
  })
})

test.each([{'metadata.a': 5}, {'metadata.a': {$in: [1, true]}}, {'metadata.a': {$ne: null}}, {'url.pathname': 5}])(
  '%j compares a text with what is none: a warning',
  query => {
    const {warnings, issues} = read(query)
    expect(issues).toEqual([])
    expect(warnings).toHaveLength(1)
  },
)

test('in words', () => {
  const text = (query: unknown) => textOf(read(query).parsed!)
  expect(text({'metadata.plan': {$eq: 'pro'}})).toBe('metadata.plan $eq "pro"')
  expect(text({'metadata.a': 'x', $or: [{'params.n': {$gt: 1, $lt: 9}}, {'params.model': {$regex: '^g'}}]})).toBe(
    'metadata.a $eq "x" and ((params.n $gt 1 and params.n $lt 9) or params.model $regex "^g")',
  )
})

test('whatever facts come, an answer comes, and not one of what a key inherits', () => {
  const plain = fc.oneof(
    fc.string(),
    fc.double({noNaN: true, noDefaultInfinity: true}),
    fc.boolean(),
    fc.constant(null),
  )
  const key = fc.constantFrom('a', 'b', 'constructor', '__proto__', 'hasOwnProperty')
  fc.assert(
    fc.property(key, plain, fc.dictionary(key, fc.anything()), (name, value, said) => {
      const query = {[`params.${name}`]: {$eq: value}}
      expect(holds(query, {params: said})).toBe(Object.hasOwn(said, name) && said[name] === value)
    }),
  )
})
