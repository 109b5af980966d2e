import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {guardrailTrials} from '../../src/admin/guardrail-trials.ts'
import {guardrails} from '../../src/admin/guardrails.ts'
import {VENDOR_OPERATIONS} from '../../src/providers/vendor-operations/table.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'
import type {GuardrailCovered} from '../../src/schema/guardrail-trials.ts'
import {type Admin, startAdmin} from '../support/admin.ts'

let admin: Admin

beforeAll(async () => {
  admin = await startAdmin({kind: 'sqlite', operations: [...guardrails, ...guardrailTrials]})
})
afterAll(() => admin.close())

const FORBIDS = {id: 'default.contains', parameters: {words: ['internal'], operator: 'none'}}
const REQUIRES = {id: 'default.wordCount', parameters: {minWords: 1}}
const SERVICE = {id: 'default.webhook', parameters: {webhookURL: 'https://guard.example.com'}}
const TYPES = {id: 'default.allowedRequestTypes', parameters: {blockedTypes: ['embed']}}

async function covered(guardrail: unknown): Promise<GuardrailCovered> {
  const reply = await admin.asWorkspace('POST', '/v1/guardrails/coverage', {guardrail})
  expect([reply.status, reply.body]).toMatchObject([200, {object: 'guardrail_coverage'}])
  return reply.body
}

const sideOf = ({operations}: GuardrailCovered, operation: string, method: string, side: string) =>
  operations
    .find(each => each.operation === operation && each.method === method)!
    .sides.find(each => each.side === side)!

describe('what a guardrail covers', () => {
  test('is told of every operation, and of those that are not known', async () => {
    const {operations, unreadable} = await covered({checks: [FORBIDS]})
    const served = ENDPOINTS.filter(({later}) => !later).map(({name}) => name)
    const vendors = VENDOR_OPERATIONS.map(({name}) => name)
    expect(operations.map(({operation}) => operation)).toEqual([...served, 'proxy', 'proxy', ...vendors])
    expect(unreadable).toEqual({bodies: 'allow', over_mb: 16})
  })

  test('is what runs there', async () => {
    const all = await covered({checks: [FORBIDS, REQUIRES, SERVICE, TYPES]})
    expect(sideOf(all, 'chatComplete', 'POST', 'input')).toEqual({
      ...{side: 'input', reads: 'dialect', skipped: []},
      judged: ['default.contains', 'default.wordCount', 'default.webhook', 'default.allowedRequestTypes'],
    })
    expect(sideOf(all, 'imageEdit', 'POST', 'input')).toEqual({
      ...{side: 'input', reads: 'strings', judged: ['default.contains', 'default.allowedRequestTypes']},
      skipped: [
        {id: 'default.wordCount', reason: 'not_text'},
        {id: 'default.webhook', reason: 'not_text'},
      ],
    })
    expect(sideOf(all, 'proxy', 'POST', 'output')).toMatchObject({
      ...{reads: 'strings', judged: ['default.contains']},
      skipped: [{reason: 'not_text'}, {reason: 'not_text'}, {id: 'default.allowedRequestTypes', reason: 'other_side'}],
    })
    expect(sideOf(all, 'proxy', 'GET', 'input')).toMatchObject({reads: 'none', judged: ['default.allowedRequestTypes']})
    expect(sideOf(all, 'listFiles', 'GET', 'output')).toMatchObject({
      reads: 'every_route',
      judged: [],
      skipped: [{reason: 'no_text'}, {}, {}, {}],
    })
  })

  test('fact 22: is every row of a file for batches, in the words of its route', async () => {
    const {operations} = await covered({checks: [FORBIDS, REQUIRES, SERVICE, TYPES]})
    const rows = operations.filter(each => each.rows !== undefined)
    expect(rows.map(({operation}) => operation)).toEqual(
      expect.arrayContaining(['uploadFile', 'createBatch', 'openai.batches.create']),
    )
    for (const each of rows) expect(each.rows).toEqual([FORBIDS.id, REQUIRES.id, SERVICE.id, TYPES.id])
    expect(operations.find(({operation}) => operation === 'chatComplete')).not.toHaveProperty('rows')
  })

  test('is more with every_route', async () => {
    const all = await covered({checks: [FORBIDS, SERVICE], actions: {every_route: true}})
    expect(sideOf(all, 'proxy', 'POST', 'input').judged).toEqual(['default.contains', 'default.webhook'])
    expect(sideOf(all, 'listFiles', 'GET', 'output').judged).toEqual(['default.contains', 'default.webhook'])
  })

  test('of one that is not there is not found', async () => {
    const reply = await admin.asWorkspace('POST', '/v1/guardrails/coverage', {guardrail: 'pg-nowhere'})
    expect(reply.status).toBe(404)
  })
})
