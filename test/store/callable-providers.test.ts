import {expect, test} from 'vitest'
import {callableProviders, modelsOfProviders} from '../../src/store/callable-providers.ts'
import {openReadOnly} from '../../src/store/dialect/read-only.ts'
import {remoteSqlite} from '../../src/store/dialect/remote.ts'
import {testStore} from '../support/stores.ts'

test('fact 25: a workspace’s providers and their models are read by index alone', async () => {
  const {folder, close} = await testStore('sqlite')
  const {all: read} = openReadOnly({folder})
  const plans: string[] = []
  const db = remoteSqlite(async (statement, parameters) => {
    plans.push(...(read(`explain query plan ${statement}`, parameters) as {detail: string}[]).map(({detail}) => detail))
    return read(statement, parameters)
  })
  await callableProviders(db, 'ws-1')
  await modelsOfProviders(db, 'ws-1')
  await close()
  expect(plans.filter(plan => /^(?:SCAN|SEARCH)/.test(plan)).length).toBeGreaterThanOrEqual(5)
  expect(plans.filter(plan => /^SCAN/.test(plan))).toEqual([])
  expect(plans.filter(plan => /providers|\bp\b/.test(plan)).every(plan => /\(workspace_id=\?/.test(plan))).toBe(true)
})
