import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {syncCredential} from '../../../src/app/mcp-sync-credential.ts'
import {insertUser, joinOrganisation} from '../../../src/store/users.ts'
import {type AuthServer, openAuthServer} from '../../support/mcp/auth-server.ts'
import {
  type CredentialHouse,
  linkIn,
  openCredentialHouse,
  PERSON,
  requestOf,
  signedIn,
} from '../../support/mcp/credential-house.ts'
import {KINDS} from '../../support/stores.ts'

const AT = '2026-11-01T08:00:00.000Z'

describe.each(KINDS)('section 12, identity of syncs of oauth_auto, on %s', kind => {
  let house: CredentialHouse
  let upstream: AuthServer
  beforeEach(async () => {
    house = await openCredentialHouse(kind)
    upstream = await openAuthServer()
    for (const id of ['mia', 'ada', 'eve']) {
      const times = {created_at: AT, last_updated_at: AT}
      await insertUser(house.store.db, {id, email: `${id}@example.com`, first_name: null, last_name: null, ...times})
      const member = {
        organisation_id: 'o',
        user_id: id,
        role: 'member',
        status: 'active',
        role_source: 'local',
      } as const
      await joinOrganisation(house.store.db, {...member, ...times})
    }
  }, 30_000)
  afterEach(async () => {
    await house.close()
    await upstream.close()
  })

  async function opened(own: object = {}) {
    const target = await house.target(upstream.url, own)
    const process = house.process()
    const credentialsFor = syncCredential(process.credentials, house.store)
    return {
      target,
      ...process,
      async connect(user_id: string) {
        const request = requestOf(target, {caller: {...PERSON, user_id}})
        await signedIn(process, linkIn(await process.credentials.headersFor(request)), user_id)
        const found = await process.credentials.headersFor(request)
        return 'headers' in found ? found.headers.authorization : null
      },
      async called(user_id: string) {
        process.credentials.succeeded(requestOf(target, {caller: {...PERSON, user_id}}))
        await expect
          .poll(async () => (await house.connection(target, user_id))?.last_used_at ?? null)
          .toBe(new Date(house.clock.wall_ms).toISOString())
      },
      async token(user_id: string | null = null) {
        const found = await credentialsFor(target.integration, user_id)
        return 'auth_required' in found ? 'auth_required' : (await found.headers()).authorization
      },
    }
  }

  test('the owner before all, else the last whose call succeeded, else auth_required', async () => {
    const on = await opened({owner_id: 'ada'})
    expect(await on.token()).toBe('auth_required')
    const mias = await on.connect('mia')
    expect(await on.token()).toBe('auth_required')
    await on.called('mia')
    expect(await on.token()).toBe(mias)
    house.clock.wall_ms += 60_000
    const eves = await on.connect('eve')
    await on.called('eve')
    expect(await on.token()).toBe(eves)
    const adas = await on.connect('ada')
    expect(await on.token()).toBe(adas)
    expect(await on.token('mia')).toBe(mias)
    expect(await on.token('nobody')).toBe('auth_required')
  })

  test('a person who left the organisation, and one whose tokens are gone, read nothing', async () => {
    const on = await opened({owner_id: 'ada'})
    await on.connect('ada')
    const mias = await on.connect('mia')
    await on.called('mia')
    await house.store.db
      .updateTable('organisation_users')
      .set({status: 'archived'})
      .where('user_id', '=', 'ada')
      .execute()
    expect(await on.token()).toBe(mias)
    await house.store.db.deleteFrom('mcp_connections').where('user_id', '=', 'mia').execute()
    expect(await on.token()).toBe('auth_required')
    const links = await house.store.db.selectFrom('mcp_sign_ins').select('step').where('step', '=', 'issued').execute()
    expect(links).toEqual([])
  })

  test('uses are written once an hour', async () => {
    const on = await opened()
    await on.connect('mia')
    await on.called('mia')
    const before = (await house.connection(on.target))!.last_used_at
    house.clock.wall_ms += 3_599_000
    on.credentials.succeeded(requestOf(on.target))
    await new Promise(resolve => setImmediate(resolve))
    expect((await house.connection(on.target))!.last_used_at).toBe(before)
    house.clock.wall_ms += 1_000
    await on.called('mia')
  })
})
