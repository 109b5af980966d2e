import {describe, expect, test} from 'vitest'
import {firstRun} from '../../src/admin/first-run.ts'
import {hashKey} from '../../src/identity/keys.ts'
import {scopesOf} from '../../src/identity/scopes.ts'
import {findKeyByHash} from '../../src/store/api-keys.ts'
import {KINDS, testStore} from '../support/stores.ts'

const now = new Date('2026-03-04T05:06:07.000Z')

describe.each(KINDS)('the first run on %s', kind => {
  test('makes an organisation, its shared workspace and two keys with every scope of their kind', async () => {
    const {store, close} = await testStore(kind)
    const made = (await firstRun(store, now))!
    expect(made.workspace_slug).toMatch(/^ws-shared-[0-9a-f]{6}$/)
    expect([made.admin_key.given, made.workspace_key.given]).toEqual([false, false])
    const admin = await findKeyByHash(store.db, hashKey(made.admin_key.key))
    const workspace = await findKeyByHash(store.db, hashKey(made.workspace_key.key))
    expect(admin).toMatchObject({
      kind: 'organisation-service',
      organisation_id: made.organisation_id,
      workspace_id: null,
      creation_mode: 'auto',
    })
    expect(workspace).toMatchObject({
      kind: 'workspace-service',
      workspace_id: made.workspace_id,
      workspace_status: 'active',
    })
    expect(new Set(JSON.parse(admin!.scopes))).toEqual(scopesOf('organisation-service'))
    expect(new Set(JSON.parse(workspace!.scopes))).toEqual(scopesOf('workspace-service'))
    expect(await store.db.selectFrom('workspaces').select(['id', 'is_default']).execute()).toEqual([
      {id: made.workspace_id, is_default: 1},
    ])
    await close()
  })

  test('takes keys that were given, and keeps neither of them', async () => {
    const {store, close} = await testStore(kind)
    const bootstrap = {admin: 'a'.repeat(32), workspace: `gk-${'w'.repeat(43)}`}
    const made = (await firstRun(store, now, bootstrap))!
    expect([made.admin_key, made.workspace_key]).toEqual([
      {key: bootstrap.admin, given: true},
      {key: bootstrap.workspace, given: true},
    ])
    const rows = await store.db.selectFrom('api_keys').selectAll().execute()
    expect(rows.map(row => row.key_masked).sort()).toEqual(['aa…aaaa', 'gk-ww…wwww'])
    expect(JSON.stringify(rows)).not.toContain('a'.repeat(8))
    await close()
  })

  test('happens once: a database that holds something is left as it is', async () => {
    const {store, again, close} = await testStore(kind)
    await firstRun(store, now)
    const rows = await store.db.selectFrom('api_keys').selectAll().execute()
    expect(await firstRun(store, now)).toBeUndefined()
    expect(await firstRun(await again(), now, {admin: 'b'.repeat(32)})).toBeUndefined()
    expect(await store.db.selectFrom('api_keys').selectAll().execute()).toEqual(rows)
    await close()
  })

  test('refuses bootstrap keys that are short or the same, and writes nothing', async () => {
    const {store, close} = await testStore(kind)
    await expect(firstRun(store, now, {admin: 'a'.repeat(31)})).rejects.toThrow('at least 32 characters')
    await expect(firstRun(store, now, {admin: 'a'.repeat(32), workspace: 'a'.repeat(32)})).rejects.toThrow(
      'must differ',
    )
    expect(await store.db.selectFrom('organisations').selectAll().execute()).toEqual([])
    await close()
  })
})
