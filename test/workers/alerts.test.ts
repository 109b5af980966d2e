import {describe, expect, test} from 'vitest'
import {createLog} from '../../src/base/log.ts'
import {readLetters} from '../../src/ports/mail/mail-templates.ts'
import {insertIntegration} from '../../src/store/integrations.ts'
import type {RecipientsOf} from '../../src/workers/alert-mail.ts'
import {alertsJob} from '../../src/workers/alerts.ts'
import {type Budget, budgetsJob, entityBudgets} from '../../src/workers/budgets.ts'
import {keyExpiryJob} from '../../src/workers/key-expiry.ts'
import type {Job} from '../../src/workers/schedule.ts'
import {ORGANISATION, spendingOn, WORKSPACE} from '../support/budgets.ts'
import {integrationRow} from '../support/integrations.ts'
import {KINDS} from '../support/stores.ts'

const lost = new AbortController().signal
const runAt = (job: Job, at: string) => job.run({now_ms: Date.parse(at), lost})

describe.each(KINDS)('alerts on %s', kind => {
  async function setUp({mails = true, recipientsOf}: {mails?: boolean; recipientsOf?: RecipientsOf} = {}) {
    const {store, spent} = await spendingOn(kind)
    const lines: {msg: string}[] = []
    const log = createLog('info', 'gateway', line => void lines.push(JSON.parse(line)))
    const on = {
      recipientsOf: recipientsOf ?? (async ({alert_emails}) => alert_emails),
      write: mails ? readLetters(undefined, {company_name: 'Example'}) : undefined,
      audits: true,
    }
    const others: Budget[] = []
    const alerts = () =>
      alertsJob({store, sources: [entityBudgets(store.db, spent.usage), async () => others], log, ...on})
    const budgets = (enabled = true) => budgetsJob({store, usage: spent.usage, enabled, settled: async () => {}})
    const letters = async () => {
      const rows = await store.db.selectFrom('mails').select(['recipient', 'subject']).orderBy('id').execute()
      return rows.map(({recipient, subject}) => `${recipient}: ${subject}`)
    }
    const audited = async () => {
      const rows = await store.db.selectFrom('audit_logs').selectAll().orderBy('id').execute()
      return rows.map(({action, resource_type, resource_id}) => `${action} ${resource_type} ${resource_id}`)
    }
    return {...spent, store, lines, on, log, others, alerts, budgets, letters, audited}
  }

  const EMAILS = {alert_emails: JSON.stringify(['a@example.com', 'A@example.com', 'b@example.com'])}

  test('a threshold and the end of a budget are told once each, across restarts and processes', async () => {
    const {key, spend, alerts, letters, audited, lines} = await setUp()
    await key('blue', {credit_limit: 10, alert_threshold: 8}, EMAILS)
    await spend('blue', 7.99, '2026-03-04T10:00:00.000Z')
    await runAt(alerts(), '2026-03-04T10:01:00.000Z')
    expect([await letters(), await audited()]).toEqual([[], []])
    await spend('blue', 0.01, '2026-03-04T10:02:00.000Z')
    await Promise.all([runAt(alerts(), '2026-03-04T10:03:00.000Z'), runAt(alerts(), '2026-03-04T10:03:00.000Z')])
    await runAt(alerts(), '2026-03-04T10:04:00.000Z')
    const first = 'The API key blue has used 8.00 US dollars of 10.00 US dollars'
    expect(await letters()).toEqual([`A@example.com: ${first}`, `b@example.com: ${first}`])
    expect(await audited()).toEqual(['usage-threshold-alert api-key blue'])
    await spend('blue', 2.5, '2026-03-04T10:05:00.000Z')
    for (const minute of ['06', '07']) await runAt(alerts(), `2026-03-04T10:${minute}:00.000Z`)
    expect((await letters()).slice(2)).toEqual([
      'A@example.com: The API key blue has used up its budget',
      'b@example.com: The API key blue has used up its budget',
    ])
    expect(lines.map(({msg}) => msg)).toEqual([
      'a budget has passed its alert threshold',
      'a budget is used up; further calls are refused',
    ])
  })

  test('they are told again in a new period, and when the limit is raised; a raised threshold arms its own alone', async () => {
    const {key, setLimit, spend, alerts, audited} = await setUp()
    const weekly = {credit_limit: 10, alert_threshold: 8, periodic_reset: 'weekly'}
    await key('blue', weekly)
    await spend('blue', 11, '2026-03-04T10:00:00.000Z')
    await runAt(alerts(), '2026-03-04T10:01:00.000Z')
    expect((await audited()).length).toBe(2)
    await setLimit('blue', {...weekly, alert_threshold: 9})
    await runAt(alerts(), '2026-03-04T10:02:00.000Z')
    expect((await audited()).slice(2)).toEqual(['usage-threshold-alert api-key blue'])
    await setLimit('blue', {...weekly, credit_limit: 12, alert_threshold: 9})
    await runAt(alerts(), '2026-03-04T10:03:00.000Z')
    expect((await audited()).slice(3)).toEqual(['usage-threshold-alert api-key blue'])
    await setLimit('blue', {...weekly, credit_limit: 11, alert_threshold: 9})
    await runAt(alerts(), '2026-03-04T10:04:00.000Z')
    expect((await audited()).slice(4)).toEqual(['usage-exhausted-alert api-key blue'])
    await runAt(alerts(), '2026-03-08T00:01:00.000Z') // Sunday: nothing is spent yet
    expect((await audited()).length).toBe(5)
    await spend('blue', 9, '2026-03-08T00:02:00.000Z')
    await runAt(alerts(), '2026-03-08T00:03:00.000Z')
    expect((await audited()).slice(5)).toEqual(['usage-threshold-alert api-key blue'])
  })

  test('workspaces, providers, integrations and policies have theirs; people are found by their scope', async () => {
    const asked: unknown[] = []
    const {store, spend, alerts, audited, letters, others} = await setUp({
      async recipientsOf({entity, organisation_id, workspace_id}) {
        asked.push([entity, organisation_id, workspace_id])
        return [`${entity}@example.com`]
      },
    })
    const usage_limits = JSON.stringify([
      {
        type: 'tokens',
        credit_limit: 300,
        alert_threshold: null,
        periodic_reset: null,
        periodic_reset_days: null,
        next_usage_reset_at: null,
        started_at: '2026-03-01T00:00:00.000Z',
      },
    ])
    const stamps = {created_at: '2026-03-01T00:00:00.000Z', last_updated_at: '2026-03-01T00:00:00.000Z'}
    await store.db.updateTable('workspaces').set({usage_limits}).execute()
    await insertIntegration(
      store.db,
      integrationRow({
        id: 'i-1',
        organisation_id: ORGANISATION,
        global_workspace_access: JSON.stringify({usage_limits, rate_limits: null}),
      }),
    )
    await store.db
      .insertInto('providers')
      .values({
        id: 'p-1',
        slug: 'main',
        organisation_id: ORGANISATION,
        workspace_id: WORKSPACE,
        integration_id: 'i-1',
        name: 'main',
        note: null,
        is_virtual_key: 0,
        usage_limits,
        rate_limits: null,
        tags: '{}',
        status: 'active',
        expires_at: null,
        last_reset_at: null,
        ...stamps,
      })
      .execute()
    const standing = {scope: 'policy/pol-1/cost', used: 5n, credit_limit: 5n, alert_threshold: null, since_ms: 0}
    const subject = {
      entity: 'policy' as const,
      id: 'pol-1',
      name: 'team',
      organisation_id: ORGANISATION,
      workspace_id: WORKSPACE,
      alert_emails: [],
    }
    others.push({subject, type: 'cost', standing, resets_at: null})
    await spend('any', 1, '2026-03-04T10:00:00.000Z', {
      provider_id: 'p-1',
      provider_slug: 'main',
      integration_id: 'i-1',
    })
    await runAt(alerts(), '2026-03-04T10:01:00.000Z')
    expect((await audited()).toSorted()).toEqual([
      `usage-exhausted-alert integration i-1/${WORKSPACE}`,
      'usage-exhausted-alert policy pol-1',
      'usage-exhausted-alert provider p-1',
      `usage-exhausted-alert workspace ${WORKSPACE}`,
    ])
    expect(asked).toContainEqual(['policy', ORGANISATION, WORKSPACE])
    expect((await letters()).toSorted()[2]).toBe('provider@example.com: The provider main has used up its budget')
  })

  test('without a mail server there is the log and the audit log', async () => {
    const {key, spend, alerts, letters, audited, lines} = await setUp({mails: false})
    await key('blue', {credit_limit: 1}, EMAILS)
    await spend('blue', 1, '2026-03-04T10:00:00.000Z')
    await runAt(alerts(), '2026-03-04T10:01:00.000Z')
    expect([await letters(), await audited(), lines.length]).toEqual([[], ['usage-exhausted-alert api-key blue'], 1])
  })

  test('a key is shown as exhausted while its budget is used up, and as active again after a reset, a raise or without limits', async () => {
    const {key, setLimit, spend, budgets, statusOf} = await setUp()
    const weekly = {credit_limit: 10, periodic_reset: 'weekly'}
    await key('blue', weekly)
    const at = async (time: string, enabled = true) => {
      await runAt(budgets(enabled), time)
      return statusOf('blue')
    }
    expect(await at('2026-03-04T10:00:00.000Z')).toBe('active')
    await spend('blue', 10, '2026-03-04T10:00:00.000Z')
    expect(await at('2026-03-07T23:59:59.999Z')).toBe('exhausted')
    expect(await at('2026-03-08T00:00:00.000Z')).toBe('active')
    expect(await at('2026-03-07T23:59:59.999Z')).toBe('exhausted')
    expect(await at('2026-03-07T23:59:59.999Z', false)).toBe('active')
    expect(await at('2026-03-07T23:59:59.999Z')).toBe('exhausted')
    await setLimit('blue', {...weekly, credit_limit: 11})
    expect(await at('2026-03-07T23:59:59.999Z')).toBe('active')
    await setLimit('blue', {...weekly, credit_limit: 5})
    expect(await at('2026-03-07T23:59:59.999Z')).toBe('exhausted')
    await setLimit('blue', null)
    expect(await at('2026-03-07T23:59:59.999Z')).toBe('active')
  })

  test('a key past its expiry becomes expired, once, and people are told', async () => {
    const {key, store, on, log, letters, audited, statusOf} = await setUp()
    await key('blue', null, {...EMAILS, expires_at: '2026-03-04T10:00:00.000Z'})
    await key('green', null, {expires_at: '2026-03-04T10:00:00.001Z'})
    await key('gone', null, {expires_at: '2026-03-04T10:00:00.000Z', status: 'archived'})
    const job = keyExpiryJob({store, log, ...on})
    for (let turn = 0; turn < 2; turn++) await runAt(job, '2026-03-04T10:00:00.000Z')
    expect([await statusOf('blue'), await statusOf('green'), await statusOf('gone')]).toEqual([
      'expired',
      'active',
      'archived',
    ])
    expect(await audited()).toEqual(['expired-alert api-key blue'])
    expect((await letters())[0]).toBe('A@example.com: The API key blue has expired')
  })
})
