import {expectTypeOf, test} from 'vitest'
import {type CallOperation, type OperationId, type RowOf, unchecked} from '../../cli/client.ts'
import type {labels} from '../../src/admin/labels.ts'
import type {ById, Repeated} from '../../src/admin/operation-types.ts'

// The compiler is the judge here: `npm run check` fails where one of these lines no longer holds. Nothing is called.
const NEW_KEY = {params: {type: 'workspace', subtype: 'service'}, body: {name: 'ci', scopes: []}} as const

const calls = (call: CallOperation) => [
  () => call('labels.create', {body: {name: 'production', color_code: '#00ff00'}}),
  // @ts-expect-error: no operation has this id
  () => call('labels.make', {body: {name: 'production'}}),
  // @ts-expect-error: a body is asked for
  () => call('labels.create'),
  // @ts-expect-error: the body has no such field
  () => call('labels.create', {body: {name: 'production', colour: 'green'}}),
  // @ts-expect-error: the path has another parameter
  () => call('labels.get', {params: {id: 'production'}}),
  // what a file holds is judged by the operation
  () => call('labels.create', {body: unchecked(JSON.parse('{}'))}),
  // @ts-expect-error: the reply has no such member
  async () => (await call('api_keys.create', NEW_KEY)).secret,
]

test('a call of an operation is checked by its schemas', () => {
  expectTypeOf(calls).returns.toBeArray()
  expectTypeOf<OperationId>().extract<'api_keys.create' | 'users.create' | 'openapi.get'>().toBeString()
  expectTypeOf<RowOf<'labels.list'>['id']>().toBeString()
})

test('an id that stands twice is an error', () => {
  type Twice = [...typeof labels, (typeof labels)[0]]
  expectTypeOf<Repeated<typeof labels>>().toBeNever()
  // @ts-expect-error: labels.list stands twice
  expectTypeOf<ById<Twice, Repeated<Twice>>>().toBeObject()
})
