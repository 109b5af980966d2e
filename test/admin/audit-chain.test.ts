import {sql} from 'kysely'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

const WRITES = 5

describe.each(KINDS)('the chain of the audit log on %s', kind => {
  let admin: Admin
  beforeEach(async () => {
    admin = await startAdmin({kind})
    for (let n = 1; n <= WRITES; n++) await admin.asAdmin('POST', '/v1/admin/workspaces', {name: `Workspace ${n}`})
  })
  afterEach(() => admin.close())

  const verify = async () => (await admin.asAdmin('GET', '/v1/audit-logs/verify')).body
  const db = () => admin.store.db
  const at = (sequence: number) =>
    db()
      .selectFrom('audit_logs')
      .selectAll()
      .where('sequence', '=', sequence)
      .where('organisation_id', '=', admin.organisation_id)
  /** What someone can do who owns the database. */
  const unguard = async () => {
    const names = kind === 'sqlite' ? ['audit_logs_no_update', 'audit_logs_no_delete'] : ['audit_logs_stay']
    for (const name of names)
      await sql`drop trigger ${sql.raw(name)} ${sql.raw(kind === 'sqlite' ? '' : 'on audit_logs')}`.execute(db())
  }
  const broken = (sequence: number, text: RegExp) => ({
    holds: false,
    breaks: [expect.objectContaining({sequence, text: expect.stringMatching(text)})],
  })

  test('holds over rows in their order, one chain for each organisation', async () => {
    const foreign = await admin.foreign()
    await admin.send(foreign.admin.key, 'POST', '/v1/admin/workspaces', {name: 'Theirs'})
    await admin.asAdmin('POST', '/v1/admin/workspaces', {name: 'After'})
    expect(await verify()).toEqual({holds: true, rows: WRITES + 1, unlinked: 0, breaks: [], object: 'audit-chain'})
    expect((await admin.send(foreign.admin.key, 'GET', '/v1/audit-logs/verify')).body).toMatchObject({
      holds: true,
      rows: 1,
    })
    const range = 'start_time=2026-03-01T00:00:00Z&end_time=2026-03-31T00:00:00Z'
    const {records} = (await admin.asAdmin('GET', `/v1/audit-logs?${range}`)).body
    expect(records.map((row: {sequence: number}) => row.sequence).toSorted()).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('rows are neither changed nor taken away', async () => {
    await expect(db().updateTable('audit_logs').set({action: 'read'}).execute()).rejects.toThrow(
      'the audit log is only added to',
    )
    await expect(db().deleteFrom('audit_logs').execute()).rejects.toThrow('the audit log is only added to')
    expect(await verify()).toMatchObject({holds: true, rows: WRITES})
  })

  test.each([
    ['request_body', '{"name":"Workspacf 3"}'],
    ['actor_id', null],
    ['client_ip', '127.0.0.2'],
    ['at', '2026-03-04T05:06:07.001Z'],
    ['status', 201],
    ['chain', '0'.repeat(64)],
  ] as const)('a changed %s shows', async (column, value) => {
    await unguard()
    await db()
      .updateTable('audit_logs')
      .set({[column]: value})
      .where('sequence', '=', 3)
      .execute()
    expect(await verify()).toMatchObject(broken(3, /^Row 3 of .* is not what was recorded/))
  })

  test('every flipped byte of a row shows', async () => {
    await unguard()
    const row = await at(2).executeTakeFirstOrThrow()
    const body = row.request_body!
    for (let index = 0; index < body.length; index++) {
      const flipped = body.slice(0, index) + String.fromCharCode(body.charCodeAt(index) ^ 1) + body.slice(index + 1)
      await db().updateTable('audit_logs').set({request_body: flipped}).where('id', '=', row.id).execute()
      expect((await verify()).holds, flipped).toBe(false)
    }
    await db().updateTable('audit_logs').set({request_body: body}).where('id', '=', row.id).execute()
    expect((await verify()).holds).toBe(true)
  })

  test('a row that was taken away shows, in the middle and at the end', async () => {
    await unguard()
    const last = await at(WRITES).executeTakeFirstOrThrow()
    await db().deleteFrom('audit_logs').where('id', '=', last.id).execute()
    expect(await verify()).toMatchObject(broken(WRITES, /^The last rows are missing, from 5 to 5\.$/))
    await db().deleteFrom('audit_logs').where('sequence', '=', 2).execute()
    expect(await verify()).toMatchObject(broken(2, /^Row 2 is missing\.$/))
  })

  test('rows that changed places show', async () => {
    await unguard()
    const [two, three] = [await at(2).executeTakeFirstOrThrow(), await at(3).executeTakeFirstOrThrow()]
    const place = (id: string, sequence: number) =>
      db().updateTable('audit_logs').set({sequence}).where('id', '=', id).execute()
    await place(two.id, 99)
    await place(three.id, 2)
    await place(two.id, 3)
    expect(await verify()).toMatchObject(broken(2, /not in its place/))
  })

  test('an end that was set back, or a row put in behind it, shows', async () => {
    await unguard()
    await db().deleteFrom('audit_chains').execute()
    expect(await verify()).toMatchObject(broken(1, /^The chain ends with row 0, and there are rows up to 5\.$/))
  })

  test('rows from before the chain are told apart', async () => {
    await unguard()
    const {sequence: _, chain: __, ...old} = await at(1).executeTakeFirstOrThrow()
    await db()
      .insertInto('audit_logs')
      .values({...old, id: 'older', sequence: null, chain: null})
      .execute()
    expect(await verify()).toMatchObject({holds: true, rows: WRITES, unlinked: 1})
  })

  test('writes at the same time stand in one chain', async () => {
    const names = Array.from({length: 12}, (_, n) => `At once ${n}`)
    const replies = await Promise.all(names.map(name => admin.asAdmin('POST', '/v1/admin/workspaces', {name})))
    expect(replies.map(({status}) => status)).toEqual(names.map(() => 200))
    expect(await verify()).toMatchObject({holds: true, rows: WRITES + names.length})
  })

  test('a write that is refused leaves no row and no gap', async () => {
    expect((await admin.asAdmin('POST', '/v1/admin/workspaces', {name: 'a', users: ['none']})).status).toBe(404)
    await admin.asAdmin('POST', '/v1/admin/workspaces', {name: 'After'})
    expect(await verify()).toMatchObject({holds: true, rows: WRITES + 1})
  })
})

test('with AUDIT_LOGS_ENABLED=OFF nothing is recorded', async () => {
  const admin = await startAdmin({env: {AUDIT_LOGS_ENABLED: 'OFF'}})
  const user = await seedUser(admin, 'owner')
  expect((await admin.send(user.token, 'PUT', '/v1/admin/organisation', {name: 'Quiet'})).status).toBe(200)
  expect(await admin.auditLog()).toEqual([])
  expect((await admin.asAdmin('GET', '/v1/audit-logs/verify')).body).toMatchObject({holds: true, rows: 0})
  await admin.close()
})

test('no operation of the audit log writes', () => {
  expect(OPERATIONS.filter(({path, method}) => path.startsWith('/audit-logs') && method !== 'GET')).toEqual([])
})
