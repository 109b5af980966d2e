import {afterAll, beforeAll, expect, test} from 'vitest'
import {type Admin, startAdmin} from '../support/admin.ts'

let admin: Admin
beforeAll(async () => {
  admin = await startAdmin({env: {MAX_PRODUCTION_DEPLOYMENTS: '1', MAX_NON_PRODUCTION_DEPLOYMENTS: '0'}})
})
afterAll(() => admin.close())

test('each type of deployment has its own maximum, also for one that changes its type', async () => {
  const make = (type: string) => admin.send(admin.admin_key, 'POST', '/v1/deployments', {name: type, type})
  const first = await make('production')
  expect([first.status, (await make('production')).status, (await make('non-production')).status]).toEqual([
    200, 409, 409,
  ])
  const path = `/v1/deployments/${first.body.id}`
  const changed = await admin.send(admin.admin_key, 'PUT', path, {type: 'non-production'})
  expect([changed.status, changed.body.data.message]).toEqual([
    409,
    'There are 0 non-production deployments already, and MAX_NON_PRODUCTION_DEPLOYMENTS is 0.',
  ])
  expect((await admin.send(admin.admin_key, 'PUT', path, {type: 'production', name: 'Other'})).status).toBe(200)
  expect((await admin.send(admin.admin_key, 'DELETE', path)).status).toBe(200)
  expect((await make('production')).status).toBe(200)
})
