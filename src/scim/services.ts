import type {IncomingHttpHeaders} from 'node:http'
import type {Settings} from '../settings/index.ts'
import type {Db, Store} from '../store/database.ts'
import type {ScimTokensTable} from '../store/tables/directories.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'

/** One write of a directory, for the audit log. */
export interface ScimDeed {
  readonly organisation_id: string
  readonly token_id: string
  readonly request_id: string
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  readonly client_ip: string
  readonly resource: 'scim_user' | 'scim_group'
  readonly resource_id: string
  readonly action: 'create' | 'update' | 'delete'
  readonly status: number
  /** Effects that the body does not show. */
  readonly notes: readonly string[]
}

/** The services of the protocol; the composition root gives them. */
export interface ScimServices {
  readonly store: Store
  readonly settings: Settings
  now(): Date
  /** The address by which clients reach us: `https://gateway.example.com`, without a slash at its end. */
  readonly base_url: string
  /** Makes a workspace as the administration does. */
  makeWorkspace(db: Db, organisation_id: string, name: string, now: string): Promise<WorkspacesTable>
  audit(db: Db, deed: ScimDeed, now: string): Promise<void>
  /** Notes a fault of our own under the id that the reply carries. */
  failed(fault: unknown, request_id: string): void
}

/** The place and the rules of one request. */
export interface ScimContext {
  readonly db: Db
  readonly organisation_id: string
  readonly token: ScimTokensTable
  /** ISO 8601 UTC. */
  readonly now: string
  readonly rules: ScimRules
  /** The address under which the request's resources are found: `https://gateway.example.com/scim/v2`. */
  readonly location: string
  readonly services: Pick<ScimServices, 'makeWorkspace'>
  /** For the audit log. */
  readonly notes: string[]
}

/** Rules of the organisation and the installation. */
export interface ScimRules {
  readonly workspace_prefix: string
  readonly role_separator: string
  readonly group_based_user_provisioning: boolean
  /** SCIM_MEMBERSHIP_USER_MODE: users say which groups they are in. */
  readonly has_user_mode: boolean
}
