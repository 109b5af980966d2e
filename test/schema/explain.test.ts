import fc from 'fast-check'
import {expect, test} from 'vitest'
import {z} from 'zod'
import {pageParams} from '../../src/schema/paging.ts'
import {explain, fieldPath} from '../../src/schema/validation-message.ts'

interface Tree {
  name: string
  below?: Tree[] | undefined
}
const Tree: z.ZodType<Tree> = z.strictObject({
  name: z
    .string()
    .min(2)
    .regex(/^[a-z]+$/, 'expected small letters'),
  get below() {
    return z.array(Tree).max(2).optional()
  },
})
const Shape = z.strictObject({
  flag: z.boolean().optional(),
  kind: z.literal('list').optional(),
  size: z.number().lt(10).multipleOf(2).optional(),
  id: z.uuid().optional(),
  site: z.url().optional(),
  code: z.string().regex(/^a+$/).optional(),
  either: z.union([z.string(), z.number()]).optional(),
  deep: z.record(z.string().max(3), z.strictObject({x: z.int()})).optional(),
  tree: Tree.optional(),
  page: z.strictObject(pageParams()).optional(),
})

function said(input: unknown): string {
  const result = Shape.safeParse(input)
  return result.success ? '' : explain(result.error, Shape, input, {root: 'the body', before: 'field '})
}

test.each([
  ['text', 'the body: must be an object, not a string.'],
  [{flag: 'yes'}, 'field flag: must be true or false, not a string.'],
  [{kind: 'lst'}, 'field kind: must be list: did you mean list?'],
  [{size: 10}, 'field size: must be less than 10.'],
  [{size: 3}, 'field size: must be a multiple of 2.'],
  [{id: 'x'}, 'field id: must be a UUID.'],
  [{site: 'x'}, 'field site: must be a URL.'],
  [{code: 'b'}, 'field code: must match /^a+$/.'],
  [{either: true}, 'field either: must be a string or a number.'],
  [{deep: {a: {x: 1, y: 2}}}, 'field deep.a: the key y is not known here: did you mean x?'],
  [
    {tree: {name: 'a', below: [{name: 'A1'}]}},
    'field tree.name: must have at least 2 characters; field tree.below[0].name: expected small letters.',
  ],
  [
    {tree: {name: 'aa', below: [{name: 'aa', blow: []}]}},
    'field tree.below[0]: the key blow is not known here: did you mean below?',
  ],
  [{page: {current_page: '-1'}}, 'field page.current_page: must be a number, not a string.'],
])('%j: %s', (input, message) => {
  expect(said(input)).toBe(message)
})

test('a value is never repeated', () => {
  fc.assert(
    fc.property(fc.constantFrom('flag', 'kind', 'size', 'id', 'code'), fc.uuid(), (field, value) => {
      const secret = `sk-${value}`
      expect(said({[field]: secret})).not.toContain(secret)
    }),
  )
})

test('at most five complaints are made', () => {
  const message = said({flag: 1, kind: 1, size: 'x', id: 1, site: 1, code: 1, either: []})
  expect(message.split('; ')).toHaveLength(6)
  expect(message).toMatch(/; and 2 more\.$/)
})

test('a key that would fill the page is cut', () => {
  expect(said({['k'.repeat(5000)]: 1}).length).toBeLessThan(400)
})

test('paths are written as in code', () => {
  expect(fieldPath(['targets', 0, 'override_params', 'model'])).toBe('targets[0].override_params.model')
  expect(fieldPath([0])).toBe('[0]')
})
