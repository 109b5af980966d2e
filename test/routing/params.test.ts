import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {applyParams, hasParams} from '../../src/routing/params.ts'
import {parseParamPath} from '../../src/schema/config-params.ts'

const drop = (body: object, ...drop_params: string[]) => applyParams(body as Record<string, unknown>, {drop_params})

describe('parameters', () => {
  test('a default counts where the key is absent, an override always, and what is dropped is gone', () => {
    const body = {model: 'a', temperature: 0, user: null}
    const target = {
      default_params: {temperature: 1, top_p: 0.5, user: 'x', seed: 3},
      override_params: {model: 'b', seed: 4},
      drop_params: ['top_p', 'nothing'],
    }
    expect(applyParams(body, target)).toEqual({model: 'b', temperature: 0, user: null, seed: 4})
    expect(body).toEqual({model: 'a', temperature: 0, user: null})
  })

  test('an override replaces an object, it is not laid into it', () => {
    expect(applyParams({metadata: {a: 1}}, {override_params: {metadata: {b: 2}}})).toEqual({metadata: {b: 2}})
  })

  test('a body that nothing changes is the same one', () => {
    const body = {messages: []}
    for (const target of [
      {},
      {drop_params: []},
      {drop_params: ['a', 'messages[0]', 'messages[*].x', 'messages.x', 'model[0]']},
    ])
      expect(applyParams(body, target)).toBe(body)
  })

  test('what is unchanged is shared', () => {
    const body = {messages: [{role: 'user', content: [{type: 'text'}]}], tools: [{x: 1}, {y: 2}]}
    const left = drop(body, 'tools[0].x') as typeof body
    expect(left.messages).toBe(body.messages)
    expect(left.tools[1]).toBe(body.tools[1])
    expect(body.tools[0]).toEqual({x: 1})
  })

  test('whether there are any', () => {
    expect([{}, {drop_params: []}].map(hasParams)).toEqual([false, false])
    expect([{drop_params: ['a']}, {override_params: {}}, {default_params: {a: 1}}].map(hasParams)).toEqual([
      true,
      true,
      true,
    ])
  })
})

describe('what is dropped', () => {
  const body = {
    a: {b: {c: 1}, d: 2},
    tools: [{x: 1, y: 2}, {x: 3}, 'x'],
    messages: [
      {role: 'system', content: 'plain'},
      {
        role: 'user',
        content: [
          {text: 'one', cache_control: {type: 'ephemeral'}},
          {text: 'two', cache_control: null},
        ],
      },
    ],
  }
  test.each<[string, object]>([
    ['a', {tools: body.tools, messages: body.messages}],
    ['a.b', {...body, a: {d: 2}}],
    ['a.b.c', {...body, a: {b: {}, d: 2}}],
    ['tools[0].x', {...body, tools: [{y: 2}, {x: 3}, 'x']}],
    ['tools[1]', {...body, tools: [{x: 1, y: 2}, 'x']}],
    ['tools[*].x', {...body, tools: [{y: 2}, {}, 'x']}],
    ['tools[*]', {...body, tools: []}],
    [
      'messages[*].content[*].cache_control',
      {...body, messages: [body.messages[0], {role: 'user', content: [{text: 'one'}, {text: 'two'}]}]},
    ],
    [
      'messages[1].content[0]',
      {...body, messages: [body.messages[0], {role: 'user', content: [{text: 'two', cache_control: null}]}]},
    ],
    ['tools[9].x', body],
    ['a[0]', body],
    ['tools.x', body],
    ['messages[*].content[*].nothing', body],
    ['a.toString', body],
  ])('%s', (path, left) => {
    expect(drop(body, path)).toEqual(left)
  })

  test('paths are followed one after the other', () => {
    expect(drop({list: [1, 2, 3]}, 'list[0]', 'list[0]')).toEqual({list: [3]})
  })
})

test.each([
  '',
  '.',
  'a.',
  '.a',
  'a..b',
  '[0]',
  '[*]',
  'a[',
  'a[]',
  'a[x]',
  'a[-1]',
  'a]b',
  'a[1]b',
  'a[1',
  'a[9999999]',
  'a'.repeat(513),
  'a.'.repeat(40),
])('%j is no path', path => {
  expect(parseParamPath(path)).toBeUndefined()
})

test('no name reaches a prototype', () => {
  const body = JSON.parse(
    '{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"x":{"__proto__":{"polluted":1},"y":1}}',
  )
  const target = {
    override_params: JSON.parse('{"__proto__":{"polluted":true}}'),
    default_params: JSON.parse('{"constructor":{"c":3}}'),
    drop_params: ['x.y', 'x.__proto__.polluted', 'constructor.prototype.b', 'toString.x'],
  }
  const left = applyParams(body, target)
  expect(JSON.stringify(left)).toBe(
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{}},"x":{"__proto__":{}}}',
  )
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  expect(Object.getPrototypeOf(left)).toBe(Object.prototype)
  expect(body.x.y).toBe(1)
})

test('whatever body and paths come, the body stays as it was and only what is named goes', () => {
  const key = fc.constantFrom('a', 'b', '__proto__')
  const {tree} = fc.letrec(tie => ({
    tree: fc.oneof(
      {depthSize: 'small'},
      fc.nat(3),
      fc.array(tie('tree'), {maxLength: 3}),
      fc.dictionary(key, tie('tree'), {maxKeys: 3}),
    ),
  }))
  const step = fc.oneof(
    key.map(name => `.${name}`),
    fc.constantFrom('[0]', '[1]', '[*]'),
  )
  const path = fc.tuple(key, fc.array(step, {maxLength: 3})).map(([first, rest]) => first + rest.join(''))
  fc.assert(
    fc.property(fc.dictionary(key, tree, {maxKeys: 3}), fc.array(path, {maxLength: 3}), (body, drop_params) => {
      const before = JSON.stringify(body)
      const left = applyParams(body, {drop_params})
      expect(JSON.stringify(body)).toBe(before)
      const again = applyParams(left, {drop_params: drop_params.filter(each => !/\[\d\]$/.test(each))})
      expect(JSON.stringify(again)).toBe(JSON.stringify(left))
    }),
  )
})
