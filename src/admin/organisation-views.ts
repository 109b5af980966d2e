import type {z} from 'zod'
import {type OrganisationDetails, type OrganisationView, organisationSettings} from '../schema/organisations.ts'
import type {Settings} from '../settings/index.ts'
import type {OrganisationsTable} from '../store/tables/identity.ts'

export function organisationView({
  id,
  slug,
  name,
  created_at,
  last_updated_at,
}: OrganisationsTable): z.input<typeof OrganisationView> {
  return {id, slug, name, created_at, last_updated_at, object: 'organisation'}
}

/** The same with its settings. */
export function organisationDetails(
  row: OrganisationsTable,
  {log_retention_display: log_days, metrics_retention_display: metrics_days}: Settings,
): z.input<typeof OrganisationDetails> {
  return {
    ...organisationView(row),
    retention_display: {log_days, metrics_days},
    settings: organisationSettings(row.settings),
  }
}
