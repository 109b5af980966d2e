import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {insertOAuthClient} from '../../src/store/oauth-clients.ts'
import {insertOAuthGrant, insertOAuthTokens} from '../../src/store/oauth-grants.ts'
import {insertOAuthTransaction} from '../../src/store/oauth-transactions.ts'
import type {McpOauthClientsTable} from '../../src/store/tables/oauth.ts'
import {oauthJob} from '../../src/workers/drop-oauth.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const NOW_MS = Date.parse('2026-11-02T08:00:00.000Z')
const DAY_MS = 86_400_000
const ago = (days: number) => new Date(NOW_MS - days * DAY_MS).toISOString()

describe.each(KINDS)('what clients of MCP have no use for, on %s', kind => {
  let opened: TestStore
  const lines: object[] = []
  beforeAll(async () => {
    opened = await testStore(kind)
    const {db} = opened.store
    const of = {created_at: ago(500), last_updated_at: ago(500)}
    await db
      .insertInto('organisations')
      .values({id: 'o', slug: 'o', name: 'O', ...of})
      .execute()
    const client = (id: string, more: Partial<McpOauthClientsTable>): McpOauthClientsTable => ({
      ...{id, kind: 'registered', organisation_id: null, workspace_id: null, name: id, secret_hash: null},
      ...{auth_method: 'none', redirect_uris: '[]', grant_types: '[]', scopes: null, details: '{}', skips_consent: 0},
      ...{created_by: null, ...of, last_used_at: null, expires_at: null},
      ...more,
    })
    for (const row of [
      client('new', {created_at: ago(0.9)}),
      client('never used', {created_at: ago(1.1)}),
      client('used 40 days ago', {last_used_at: ago(40), organisation_id: 'o'}),
      client('used a year ago', {last_used_at: ago(366), organisation_id: 'o'}),
      client('a document never used', {kind: 'document', created_at: ago(2)}),
      client('administered, never used', {kind: 'administered', organisation_id: 'o'}),
    ])
      await insertOAuthClient(db, row)
    for (const [id, days] of [
      ['old', 2],
      ['today', 0.5],
      ['live', -1],
    ] as const) {
      const ends = {created_at: ago(40), expires_at: ago(days)}
      await insertOAuthGrant(db, {
        ...{id, client_id: 'c', user_id: null, organisation_id: 'o', workspace_id: 'w', server_id: 's', resource: ''},
        ...{scopes: '', redirect_uri: null, code_hash: null, code_challenge: null, code_expires_at: null},
        ...{code_used_at: null, last_used_at: null, revoked_at: null, revoked_for: null, ...ends},
      })
      await insertOAuthTokens(db, [
        {
          ...{id, grant_id: id, kind: 'refresh', token_hash: id, scopes: ''},
          ...ends,
          rotated_at: null,
          reuses: 0,
          revoked_at: null,
        },
      ])
      await insertOAuthTransaction(db, {
        ...{id, handle_hash: id, client_id: 'c', redirect_uri: '', state: null, code_challenge: '', scopes: ''},
        ...{workspace_named: null, server_named: null, asks_again: 0, organisation_id: null, user_id: null},
        ...{client_ip: null, used_at: null, ...ends},
      })
    }
  })
  afterAll(() => opened?.close())

  test('is deleted by the job: clients after a day without a token or a year after the last, with a row', async () => {
    const log = {info: (facts: object) => void lines.push(facts)}
    const job = oauthJob({store: opened.store, log: log as never, audits: true})
    const lost = new AbortController().signal
    await job.run({now_ms: NOW_MS, lost})
    await job.run({now_ms: NOW_MS, lost})
    const {db} = opened.store
    const ids = async (
      table: 'mcp_oauth_clients' | 'mcp_oauth_grants' | 'mcp_oauth_tokens' | 'mcp_oauth_transactions',
    ) => (await db.selectFrom(table).select('id').orderBy('id').execute()).map(({id}) => id)
    expect(await ids('mcp_oauth_clients')).toEqual(['administered, never used', 'new', 'used 40 days ago'])
    expect(await ids('mcp_oauth_grants')).toEqual(['live', 'today'])
    expect(await ids('mcp_oauth_tokens')).toEqual(['live', 'today'])
    expect(await ids('mcp_oauth_transactions')).toEqual(['live', 'today'])
    const rows = await db.selectFrom('audit_logs').selectAll().execute()
    expect(rows).toMatchObject([{resource_type: 'mcp-oauth-client', resource_id: 'used a year ago', action: 'delete'}])
    expect(lines).toEqual([{clients: 3}])
  })
})
