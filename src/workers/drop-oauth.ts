import type {Log} from '../base/log.ts'
import {insertGatewayDeed} from '../store/audit-logs.ts'
import type {Store} from '../store/database.ts'
import {deleteOAuthClients} from '../store/oauth-clients.ts'
import {dropEndedOAuth, OAUTH_SLICE, unusedClients} from '../store/oauth-retention.ts'
import type {Job} from './schedule.ts'

const DAY_MS = 86_400_000
/** A client comes back with its registration after a month of leave, and cannot make itself a new one then. */
const UNUSED_DAYS = 365

export interface OAuthJobServices {
  readonly store: Store
  readonly log: Pick<Log, 'info'>
  /** AUDIT_LOGS_ENABLED. */
  readonly audits: boolean
}

/**
 * Deletes what clients of MCP have no use for: requests, tokens and consents that are over, and clients that no
 * administrator made: after a day without a token, or a year after the last.
 */
export function oauthJob({store, log, audits}: OAuthJobServices): Job {
  return {
    name: 'mcp-oauth-retention',
    every_ms: 3_600_000,
    async run({now_ms, lost}) {
      const day_before = new Date(now_ms - DAY_MS).toISOString()
      const times = {now: new Date(now_ms).toISOString(), before: day_before}
      let has_more = true
      while (has_more && !lost.aborted) has_more = await store.write(db => dropEndedOAuth(db, times))
      const last_before = new Date(now_ms - UNUSED_DAYS * DAY_MS).toISOString()
      while (!lost.aborted) {
        const gone = await unusedClients(store.db, {never_before: day_before, last_before})
        if (gone.length > 0) await store.write(db => deleted(db, gone, {audits, now_ms}))
        if (gone.length > 0) log.info({clients: gone.length}, 'clients of MCP without use were deleted')
        if (gone.length < OAUTH_SLICE) break
      }
    },
  }
}

type UnusedClient = Awaited<ReturnType<typeof unusedClients>>[number]

async function deleted(
  db: Store['db'],
  gone: readonly UnusedClient[],
  {audits, now_ms}: {readonly audits: boolean; readonly now_ms: number},
) {
  await deleteOAuthClients(
    db,
    gone.map(({id}) => id),
  )
  for (const {id, name, kind, organisation_id, last_used_at} of gone) {
    if (!audits || organisation_id === null) continue
    const body = {client_id: id, client: name, kind, last_used_at}
    const deed = {resource_type: 'mcp-oauth-client', resource_id: id, action: 'delete', status: 200} as const
    await insertGatewayDeed(db, {...deed, organisation_id, workspace_id: null, client_ip: null, body}, now_ms)
  }
}
