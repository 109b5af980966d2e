import type {ProvisioningSettings} from '../../schema/organisation-auth.ts'
import type {Db} from '../../store/database.ts'
import type {SsoConnection} from '../connections.ts'
import type {Statement} from '../statement.ts'

/** A verified statement, where it came from, and what else is known of the one who brought it. */
export interface Arrival {
  readonly connection: SsoConnection
  readonly statement: Statement
  /** The user of the live session that the browser held when the sign-in began. */
  readonly user_id: string | null
  /** The invite from whose link it began. */
  readonly invite_id: string | null
  /** ISO 8601 UTC: when the sign-in began. */
  readonly begun_at: string
  /** How many entries of the directory have the address; null where the provider has none. */
  readonly holders: number | null
}

/** Rows that came of an admission, for the audit log. */
export interface AdmissionDeed {
  readonly resource: 'identity' | 'invite' | 'user'
  readonly resource_id: string
  readonly action: 'create' | 'update' | 'manage'
  readonly body: Readonly<Record<string, unknown>>
}

/** The parts of an admission: its transaction, its rules, and its notes. */
export interface AdmissionContext extends Arrival {
  readonly db: Db
  readonly organisation_id: string
  readonly issuer: string
  readonly rules: ProvisioningSettings & {readonly maps_owners: boolean}
  readonly now: string
  readonly deeds: AdmissionDeed[]
  readonly notes: string[]
}
