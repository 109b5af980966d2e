import {describe, expect, test} from 'vitest'
import {createLog} from '../../src/base/log.ts'
import {readLetters} from '../../src/ports/mail/mail-templates.ts'
import {policyEntityId} from '../../src/schema/policy-entities.ts'
import {resetEntity, updatePolicy} from '../../src/store/policies.ts'
import {alertRecipients} from '../../src/workers/alert-mail.ts'
import {alertsJob} from '../../src/workers/alerts.ts'
import {policyBudgets} from '../../src/workers/policy-budgets.ts'
import {ORGANISATION, spendingOn, WORKSPACE} from '../support/budgets.ts'
import {seedUser} from '../support/people.ts'
import {policyRow} from '../support/policies.ts'
import {KINDS} from '../support/stores.ts'

const POLICY = '7c1d9a52-2b90-4c55-9a39-3ad4d17c8b01'
const lost = new AbortController().signal

describe.each(KINDS)('budgets of policies on %s', kind => {
  async function setUp() {
    const {store, spent} = await spendingOn(kind)
    const write = readLetters(undefined, {company_name: 'Example'})
    const log = createLog('info', 'gateway', () => {})
    const limit = (terms: object) => updatePolicy(store.db, POLICY, {terms: policyRow(POLICY, terms).terms})
    const made = (terms: object) => store.db.insertInto('policies').values(policyRow(POLICY, terms)).execute()
    /** Dollars that an entity used on a day. */
    const used = (user: string, usd: number, day: string) => {
      const value_key = `metadata._user:${user}`
      const row = {
        policy_id: POLICY,
        entity_id: policyEntityId(POLICY, value_key),
        since_at: `${day}T00:00:00.000Z`,
        value_key,
      }
      return store.db
        .insertInto('traffic.policy_usage')
        .values({...row, used: usd * 1e9})
        .execute()
    }
    const alerts = async (at: string) => {
      const job = alertsJob({
        store,
        sources: [policyBudgets(store.db)],
        log,
        recipientsOf: alertRecipients,
        write,
        audits: true,
      })
      const before = (await told()).length
      await job.run({now_ms: Date.parse(at), lost})
      return (await told()).slice(before)
    }
    const told = async () => {
      const rows = await store.db
        .selectFrom('audit_logs')
        .selectAll()
        .where('actor_type', '=', 'system')
        .orderBy('id')
        .execute()
      return rows
        .map(({action, resource_type, resource_id}) => `${action} ${resource_type} ${resource_id?.split(':')[1]}`)
        .sort()
    }
    const letters = async () => {
      const rows = await store.db.selectFrom('mails').select(['recipient', 'subject']).execute()
      return rows.map(({recipient, subject}) => `${recipient}: ${subject}`).sort()
    }
    const marks = async () =>
      (await store.db.selectFrom('alerts').select('entity_id').execute()).map(row => row.entity_id.split(':')[1])
    return {...spent, store, limit, made, used, alerts, letters, marks}
  }

  test('each entity is told of once, those that used less than the threshold leave no mark', async () => {
    const {made, used, alerts, marks} = await setUp()
    await made({credit_limit: 10, alert_threshold: 8})
    for (const [user, usd] of [
      ['ada', 7.99],
      ['bob', 8],
      ['eve', 12],
    ] as const)
      await used(user, usd, '2026-03-04')
    expect(await alerts('2026-03-04T10:00:00.000Z')).toEqual([
      'usage-exhausted-alert policy eve',
      'usage-threshold-alert policy bob',
      'usage-threshold-alert policy eve',
    ])
    expect(await alerts('2026-03-04T10:01:00.000Z')).toEqual([])
    expect((await marks()).sort()).toEqual(['bob', 'eve'])
  })

  test('again after a reset by hand, in a new week from Monday on, and when a limit was raised, though it be lowered again', async () => {
    const {store, made, limit, used, alerts} = await setUp()
    await made({credit_limit: 10, periodic_reset: 'weekly'})
    await used('bob', 10, '2026-03-04')
    expect(await alerts('2026-03-04T10:00:00.000Z')).toEqual(['usage-exhausted-alert policy bob'])
    await resetEntity(store.db, POLICY, 'metadata._user:bob', '2026-03-05T00:00:00.000Z')
    expect(await alerts('2026-03-05T10:00:00.000Z')).toEqual([])
    await used('bob', 10, '2026-03-05')
    expect(await alerts('2026-03-05T10:01:00.000Z')).toEqual(['usage-exhausted-alert policy bob'])
    await limit({credit_limit: 20, periodic_reset: 'weekly'})
    expect(await alerts('2026-03-05T10:02:00.000Z')).toEqual([])
    await limit({credit_limit: 10, periodic_reset: 'weekly'})
    expect(await alerts('2026-03-05T10:03:00.000Z')).toEqual(['usage-exhausted-alert policy bob'])
    expect(await alerts('2026-03-08T23:59:00.000Z')).toEqual([])
    await used('bob', 11, '2026-03-09')
    expect(await alerts('2026-03-09T00:01:00.000Z')).toEqual(['usage-exhausted-alert policy bob'])
  })

  test('nobody is told of an archived policy, nor of one in an archived workspace', async () => {
    const {store, made, used, alerts} = await setUp()
    await made({credit_limit: 1})
    await used('bob', 2, '2026-03-04')
    await updatePolicy(store.db, POLICY, {status: 'archived'})
    expect(await alerts('2026-03-04T10:00:00.000Z')).toEqual([])
    await updatePolicy(store.db, POLICY, {status: 'active'})
    await store.db.updateTable('workspaces').set({status: 'archived'}).execute()
    expect(await alerts('2026-03-04T10:01:00.000Z')).toEqual([])
  })

  test('letters go to admins and managers of the workspace, and owners and admins of the organisation', async () => {
    const {store, key, made, used, alerts, letters} = await setUp()
    const services = {now: () => new Date('2026-03-01T00:00:00.000Z')} as never
    const person = (
      email: string,
      ...said: [role: 'owner' | 'admin' | 'member', workspace?: 'admin' | 'manager' | 'member']
    ) =>
      seedUser({store, services, organisation_id: ORGANISATION}, said[0], said[1] ? {[WORKSPACE]: said[1]} : {}, {
        email,
      })
    await person('owner@example.com', 'owner')
    await person('lead@example.com', 'member', 'admin')
    await person('manager@example.com', 'member', 'manager')
    const {id} = await person('member@example.com', 'member', 'member')
    await person('elsewhere@example.com', 'member')
    await made({credit_limit: 1})
    await used('bob', 2, '2026-03-04')
    await alerts('2026-03-04T10:00:00.000Z')
    expect((await letters()).map(letter => letter.split(': ')[0])).toEqual([
      'lead@example.com',
      'manager@example.com',
      'owner@example.com',
    ])
    expect((await letters())[0]).toContain('The policy team (metadata._user:bob) has used up its budget')
    await key('blue', null, {user_id: id, kind: 'workspace-user'})
    const of = {
      entity: 'key' as const,
      id: 'blue',
      name: 'blue',
      organisation_id: ORGANISATION,
      workspace_id: WORKSPACE,
    }
    const told = await alertRecipients({...of, alert_emails: ['team@example.com']}, store.db)
    expect([...told].sort()).toEqual([
      'lead@example.com',
      'manager@example.com',
      'member@example.com',
      'owner@example.com',
      'team@example.com',
    ])
    await store.db.updateTable('organisation_users').set({status: 'archived'}).where('user_id', '=', id).execute()
    expect(await alertRecipients({...of, alert_emails: []}, store.db)).not.toContain('member@example.com')
  })
})
