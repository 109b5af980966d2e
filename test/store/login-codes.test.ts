import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {findLoginCode, insertLoginCode} from '../../src/store/login-codes.ts'
import {revokeOtherMethods, revokeSessionsBy, revokeSessionsOf} from '../../src/store/sessions.ts'
import type {LoginCodesTable} from '../../src/store/tables/sign-in.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const AT = '2026-11-01T08:00:00.000Z'
const LATER = '2026-11-01T08:10:00.000Z'

describe.each(KINDS)('codes of command lines, on %s', kind => {
  let opened: TestStore
  beforeAll(async () => {
    opened = await testStore(kind)
  })
  afterAll(() => opened?.close())

  /** Codes that wait to be fetched, by what each differs in from one that stays. */
  async function statusesAfter(name: string, work: (organisation_id: string) => Promise<number>) {
    const {db} = opened.store
    const of = (code: string, more: Partial<LoginCodesTable> = {}): LoginCodesTable => ({
      ...{id: `${name}-${code}`, kind: 'device', code_hash: `${name}-${code}`, user_code_hash: null, challenge: null},
      ...{client: 'cli', host: 'h', client_ip: '192.0.2.7', status: 'confirmed', organisation_id: name, user_id: 'u'},
      ...{method: 'oidc', connection_id: 'c', session_ends_at: LATER, interval_s: 5, polled_at: null},
      ...{created_at: AT, expires_at: LATER},
      ...more,
    })
    const codes = {
      usual: of('usual'),
      foreign: of('foreign', {organisation_id: `${name} other`}),
      user: of('user', {user_id: 'other'}),
      connection: of('connection', {connection_id: 'other'}),
      method: of('method', {method: 'invite', connection_id: null}),
      unnamed: of('unnamed', {method: null, connection_id: null}),
      fetched: of('fetched', {status: 'used'}),
    }
    for (const row of Object.values(codes)) await insertLoginCode(db, row)
    await work(name)
    const found = await Promise.all(Object.values(codes).map(row => findLoginCode(db, row.code_hash)))
    return Object.keys(codes).filter((_, at) => found[at]!.status === 'denied')
  }

  test('end with the sessions of their person', async () => {
    const denied = await statusesAfter('1', id => revokeSessionsOf(opened.store.db, id, 'u', AT))
    expect(denied).toEqual(['usual', 'connection', 'method', 'unnamed'])
  })

  test('end with the sessions of their connection', async () => {
    const denied = await statusesAfter('2', id => revokeSessionsBy(opened.store.db, id, 'c', AT))
    expect(denied).toEqual(['usual', 'user'])
  })

  test('end where their way of signing in does', async () => {
    const denied = await statusesAfter('3', id => revokeOtherMethods(opened.store.db, id, ['oidc', 'operator'], AT))
    expect(denied).toEqual(['method', 'unnamed'])
  })
})
