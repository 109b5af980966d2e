import type {z} from 'zod'
import type {KeyView} from '../schema/api-keys.ts'
import {rateLimitViews} from '../schema/limits.ts'
import {readModelList} from '../schema/model-lists.ts'
import type {ApiKeysTable} from '../store/tables/identity.ts'
import {readKeyDefaults} from './key-rules.ts'
import type {Budgeted, EntityLimitStatus as BudgetStanding} from './limit-status.ts'

/** The budgets of a key, as its row has them. */
export function budgetsOf({id, name, workspace_id, usage_limits, last_reset_at}: ApiKeysTable): Budgeted {
  return {entity: 'key', id, name, workspace_id: workspace_id ?? '', usage: usage_limits, last_reset_at}
}

/** A key as lists and reads show it; `now` and `needs_sign_in_by` are ISO times. */
export function keyView(
  row: ApiKeysTable,
  now: string,
  {usage_limits, is_exhausted}: BudgetStanding,
  needs_sign_in_by?: string,
): z.input<typeof KeyView> {
  const past = row.expires_at !== null && row.expires_at <= now
  return {
    id: row.id,
    key: row.key_masked,
    name: row.name,
    description: row.description,
    type: row.kind,
    organisation_id: row.organisation_id,
    workspace_id: row.workspace_id,
    user_id: row.user_id,
    status:
      past || row.status === 'archived' || row.status === 'expired' ? 'expired' : is_exhausted ? 'exhausted' : 'active',
    created_at: row.created_at,
    last_updated_at: row.last_updated_at,
    creation_mode: row.creation_mode,
    rate_limits: rateLimitViews(row.rate_limits),
    usage_limits: usage_limits[0] ?? null,
    models: readModelList(row.models),
    last_reset_at: row.last_reset_at,
    reset_usage: 0,
    scopes: JSON.parse(row.scopes) as string[],
    defaults: readKeyDefaults(row.defaults),
    alert_emails: row.alert_emails === null ? [] : (JSON.parse(row.alert_emails) as string[]),
    expires_at: row.expires_at,
    key_transition_expires_at: (row.previous_key_expires_at ?? '') > now ? row.previous_key_expires_at! : null,
    ...(needs_sign_in_by !== undefined && {needs_sign_in_by}),
    object: 'api-key',
  }
}
