import {expect, test} from 'vitest'
import {z} from 'zod'
import {operation} from '../../src/admin/operation.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'

const parts = {
  id: 'widgets.probe',
  tag: 'Widgets',
  path: '/widgets',
  summary: 'Probe',
  reply: z.strictObject({}),
  handle: async () => ({}),
} as const
const audit = {resource: 'widget', action: 'create'} as const

/** The type check judges these: an operation that compiles without its error fails it. */
test('an operation is one of its kinds', () => {
  // @ts-expect-error a write without an audit record
  operation({...parts, scopes: [], method: 'POST'})
  // @ts-expect-error a read with an audit record
  operation({...parts, scopes: [], method: 'GET', audit})
  // @ts-expect-error a read with a body
  operation({...parts, scopes: [], method: 'GET', body: z.strictObject({})})
  // @ts-expect-error a question that is audited
  operation({...parts, scopes: [], method: 'POST', only_reads: true, audit})
  // @ts-expect-error a write that is read by pages
  operation({...parts, scopes: [], method: 'POST', audit, always_paged: true})
  // @ts-expect-error a role where everyone is let in
  operation({...parts, scopes: null, method: 'GET', role_needs: 'logs.view'})
  const asked = operation({...parts, scopes: [], method: 'POST', only_reads: true})
  expect(asked.audit).toBeUndefined()
})

test('every operation writes with an audit record, or is none that writes', () => {
  const writes = OPERATIONS.filter(({method, only_reads}) => method !== 'GET' && !only_reads)
  expect(writes.length).toBeGreaterThan(80)
  expect(writes.filter(({audit}) => !audit).map(({id}) => id)).toEqual([])
})
