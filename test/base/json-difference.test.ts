import {expect, test} from 'vitest'
import {jsonDifference} from '../../src/base/json-difference.ts'

test.each([
  ['equal values', {a: [1, {b: null}]}, {a: [1, {b: null}]}, []],
  ['a value', {a: {b: 1}}, {a: {b: 2}}, [{path: '/a/b', was: 1, is: 2}]],
  ['a member more', {}, {a: null}, [{path: '/a', is: null}]],
  ['a member less', {a: [1]}, {}, [{path: '/a', was: [1]}]],
  [
    'items of a list',
    [1, 2],
    [1, 3, 4],
    [
      {path: '/1', was: 2, is: 3},
      {path: '/2', is: 4},
    ],
  ],
  ['another kind', {a: {}}, {a: []}, [{path: '/a', was: {}, is: []}]],
  ['names with signs of pointers', {'a/b~c': 1}, {'a/b~c': 2}, [{path: '/a~1b~0c', was: 1, is: 2}]],
  [
    'names of prototypes',
    JSON.parse('{"__proto__":1}'),
    {constructor: 2},
    [
      {path: '/__proto__', was: 1},
      {path: '/constructor', is: 2},
    ],
  ],
  ['whole values', 1, '1', [{path: '', was: 1, is: '1'}]],
])('the difference of %s', (_, was, is, expected) => expect(jsonDifference(was, is)).toEqual(expected))

test('there are no more differences, and no longer values, than the bounds say', () => {
  const many = (value: number) => Object.fromEntries(Array.from({length: 100}, (_, at) => [`k${at}`, value]))
  expect(jsonDifference(many(1), many(2))).toHaveLength(50)
  const bounds = {most: 5, most_characters: 4}
  expect(jsonDifference({a: '12345', b: {c: [1, 2, 3]}}, {a: '1', b: 0}, bounds)).toEqual([
    {path: '/a', was: '1234…', is: '1'},
    {path: '/b', was: '{"c"…', is: 0},
  ])
  expect(jsonDifference({a: `123\ud83d\ude00`}, {a: ''}, bounds)[0]!.was).toBe('123\ufffd…')
})
