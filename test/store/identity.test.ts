import {describe, expect, test} from 'vitest'
import {insertAuditLog, listAuditLogs} from '../../src/store/audit-logs.ts'
import {insertIntegration} from '../../src/store/integrations.ts'
import {readMeta, writeMeta} from '../../src/store/meta.ts'
import {insertOrganisation, organisations} from '../../src/store/organisations.ts'
import {insertProvider} from '../../src/store/providers.ts'
import {bumpRevisions, revisions} from '../../src/store/revisions.ts'
import {isTaken} from '../../src/store/rows.ts'
import type {AuditLogsTable, WorkspacesTable} from '../../src/store/tables/identity.ts'
import {archiveWorkspace, findWorkspace, insertWorkspace, workspaceDependants} from '../../src/store/workspaces.ts'
import {KINDS, testStore} from '../support/stores.ts'

const AT = '2026-03-04T05:06:07.000Z'
const organisation = (id: string, created_at = AT) => ({id, slug: id, name: id, created_at, last_updated_at: AT})
const workspace = (id: string, organisation_id: string, slug: string): WorkspacesTable => ({
  id,
  slug,
  organisation_id,
  name: slug,
  description: null,
  icon: null,
  is_default: 0,
  status: 'active',
  defaults: null,
  usage_limits: null,
  rate_limits: null,
  created_at: AT,
  last_updated_at: AT,
})

describe.each(KINDS)('identity tables on %s', kind => {
  test('a revision counts the changes of its table, and goes back with the transaction that made it', async () => {
    const {store, close} = await testStore(kind)
    await store.write(db => bumpRevisions(db, ['configs', 'api_keys', 'configs']))
    await store.write(db => bumpRevisions(db, ['configs']))
    const undone = store.write(async db => {
      await bumpRevisions(db, ['configs'])
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await store.write(db => bumpRevisions(db, []))
    expect(await revisions(store.db)).toEqual(
      new Map([
        ['configs', 2],
        ['api_keys', 1],
      ]),
    )
    await close()
  })

  test('another process sees that something changed', async () => {
    const {store, again, close} = await testStore(kind)
    const other = await again()
    const before = await other.dataVersion()
    await store.write(db => bumpRevisions(db, ['configs']))
    expect(await other.dataVersion()).not.toBe(before)
    await close()
  })

  test('meta keeps the last value', async () => {
    const {store, close} = await testStore(kind)
    expect(await readMeta(store.db, 'store_id')).toBeUndefined()
    await writeMeta(store.db, 'store_id', 'a')
    await writeMeta(store.db, 'store_id', 'b')
    expect(await readMeta(store.db, 'store_id')).toBe('b')
    await close()
  })

  test('organisations come the oldest first; a slug that is taken is told apart from other faults', async () => {
    const {store, close} = await testStore(kind)
    await insertOrganisation(store.db, organisation('b', '2026-03-04T05:06:08.000Z'))
    await insertOrganisation(store.db, organisation('a'))
    expect((await organisations(store.db)).map(row => row.id)).toEqual(['a', 'b'])
    const taken = await insertOrganisation(store.db, {...organisation('c'), slug: 'a'}).catch((error: unknown) => error)
    const orphan = await insertWorkspace(store.db, workspace('w', 'nobody', 'w')).catch((error: unknown) => error)
    expect([isTaken(taken), isTaken(orphan), isTaken(new Error('other')), isTaken('text')]).toEqual([
      true,
      false,
      false,
      false,
    ])
    await close()
  })

  test('a workspace is found by id and by slug within its organisation alone', async () => {
    const {store, close} = await testStore(kind)
    await insertOrganisation(store.db, organisation('red'))
    await insertOrganisation(store.db, organisation('blue'))
    await insertWorkspace(store.db, workspace('w-red', 'red', 'main'))
    await insertWorkspace(store.db, workspace('w-blue', 'blue', 'main'))
    expect((await findWorkspace(store.db, 'red', 'main'))?.id).toBe('w-red')
    expect((await findWorkspace(store.db, 'blue', 'main'))?.id).toBe('w-blue')
    expect(await findWorkspace(store.db, 'red', 'w-blue')).toBeUndefined()
    await close()
  })

  test('what lives in a workspace is counted, and archived with it; its neighbour is untouched', async () => {
    const {store, close} = await testStore(kind)
    const {db} = store
    await insertOrganisation(db, organisation('red'))
    const times = {created_at: AT, last_updated_at: AT}
    for (const id of ['gone', 'kept']) {
      await insertWorkspace(db, workspace(id, 'red', id))
      const place = {organisation_id: 'red', workspace_id: id, status: 'active' as const, ...times}
      for (const is_hidden of [0, 1]) {
        const integration = {
          ...place,
          id: `${id}-${is_hidden}`,
          slug: `${id}-${is_hidden}`,
          name: 'i',
          description: null,
          ai_provider_id: 'x',
          is_hidden,
        }
        const plain = {
          key_sealed: null,
          key_masked: null,
          configurations: '{}',
          configurations_sealed: null,
          tags: '{}',
          secret_mappings: '[]',
          global_workspace_access: null,
        }
        await insertIntegration(db, {
          ...integration,
          ...plain,
          allow_all_models: 1,
          global_access_enabled: 0,
          trusts_host: 0,
        })
        const provider = {
          ...place,
          id: `${id}-p${is_hidden}`,
          slug: `p${is_hidden}`,
          integration_id: integration.id,
          name: 'p',
          note: null,
        }
        const unlimited = {usage_limits: null, rate_limits: null, tags: '{}', expires_at: null, last_reset_at: null}
        await insertProvider(db, {...provider, ...unlimited, is_virtual_key: is_hidden})
      }
    }
    expect(await workspaceDependants(db, 'gone')).toEqual(['1 integration', '2 providers'])
    await archiveWorkspace(db, 'gone', '2026-03-05T00:00:00.000Z')
    expect([await workspaceDependants(db, 'gone'), await workspaceDependants(db, 'kept')]).toEqual([
      [],
      ['1 integration', '2 providers'],
    ])
    const statuses = (table: 'integrations' | 'providers') =>
      db.selectFrom(table).select(['workspace_id', 'status']).orderBy('id').execute()
    for (const table of ['integrations', 'providers'] as const) {
      expect((await statuses(table)).map(row => `${row.workspace_id} ${row.status}`)).toEqual([
        'gone archived',
        'gone archived',
        'kept active',
        'kept active',
      ])
    }
    expect((await findWorkspace(db, 'red', 'gone'))?.status).toBe('archived')
    await close()
  })

  test('the audit log is read by time and by what its columns hold, newest first', async () => {
    const {store, close} = await testStore(kind)
    const row = (id: string, at: string, more: Partial<AuditLogsTable> = {}): AuditLogsTable => ({
      id,
      at,
      organisation_id: 'red',
      workspace_id: null,
      actor_type: 'api_key',
      actor_id: 'k',
      method: 'POST',
      uri: '/v1/x',
      request_id: id,
      request_headers: '{}',
      request_body: null,
      query_params: null,
      status: 200,
      resource_type: 'config',
      resource_id: null,
      action: 'create',
      client_ip: null,
      ...more,
    })
    for (const each of [
      row('1', AT),
      row('2', AT),
      row('3', '2026-03-05T00:00:00.000Z', {method: 'PUT'}),
      row('4', AT, {organisation_id: 'blue'}),
    ]) {
      await insertAuditLog(store.db, each)
    }
    const ids = async (where: object, page = {current_page: 0, page_size: 10}) => {
      const filter = {organisation_id: 'red', start_at: AT, end_at: '2026-03-05T00:00:00.000Z', where}
      const {total, rows} = await listAuditLogs(store.db, filter, page)
      return [total, rows.map(each => each.id)]
    }
    expect(await ids({})).toEqual([3, ['3', '2', '1']])
    expect(await ids({method: 'POST', uri: undefined})).toEqual([2, ['2', '1']])
    expect(await ids({status: 500})).toEqual([0, []])
    expect(await ids({}, {current_page: 1, page_size: 2})).toEqual([3, ['1']])
    await close()
  })
})
