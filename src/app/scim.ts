import {linkBase} from '../admin/link-base.ts'
import {makeWorkspace} from '../admin/new-workspace.ts'
import {scimAuditRow} from '../admin/scim-deeds.ts'
import type {Log} from '../base/log.ts'
import type {ScimServices} from '../scim/services.ts'
import type {Settings} from '../settings/index.ts'
import {insertAuditLog} from '../store/audit-logs.ts'
import type {Store} from '../store/database.ts'

interface ScimParts {
  readonly settings: Settings
  readonly store: Store
  readonly log: Log
  readonly now: () => number
}

/** The services of the SCIM protocol. */
export function scimServices({settings, store, log, now}: ScimParts): ScimServices {
  return {
    store,
    settings,
    now: () => new Date(now()),
    base_url: linkBase({settings}),
    makeWorkspace,
    audit: (db, deed, at) => insertAuditLog(db, scimAuditRow(deed, at, settings.organisation_headers_to_mask)),
    failed: (fault, request_id) => log.error({fault, request_id}, 'a request of a directory failed inside the gateway'),
  }
}
