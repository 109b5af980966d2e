import {expect, test} from 'vitest'
import {readDeferredCharge} from '../../src/schema/deferred.ts'
import {intent} from '../support/records.ts'

const CHARGE = {endpoint: 'createBatch', requested: null}

test('a deferred charge is read as it was kept', () => {
  const charge = {...CHARGE, intent: intent()}
  expect(readDeferredCharge(JSON.stringify(charge))).toEqual(charge)
})

test('one that an earlier version kept is charged to its API key', () => {
  const whole = intent()
  const {kind: _, principal, ...old} = whole
  expect(readDeferredCharge(JSON.stringify({...CHARGE, intent: {...old, api_key_id: principal.id}}))).toMatchObject({
    ...CHARGE,
    intent: whole,
  })
})
