import {newId} from '../base/ids.ts'
import type {Seal} from '../base/seal.ts'
import type {Db} from '../store/database.ts'
import {insertSession} from '../store/sessions.ts'
import type {SessionKind, SessionMethod} from '../store/tables/people.ts'
import {makeSessionToken} from './keys.ts'

export interface NewSession {
  readonly organisation_id: string
  readonly user_id: string
  readonly ttl_s: number
  readonly kind: SessionKind
  readonly method: SessionMethod
  readonly connection_id?: string | null
  readonly client_ip?: string | null
  readonly user_agent?: string | null
  /** Seconds without use after which it ends; null: at its end alone. */
  readonly idle_timeout_s?: number | null
  readonly id_token?: string | null
  readonly idp_session?: string | null
  readonly idp_subject?: string | null
}

/** The parts of a session that its opener shows, once. */
export interface SessionOpening {
  readonly id: string
  readonly token: string
  readonly expires_at: string
}

const LONGEST_AGENT = 200

/** Opens a session of a user and says its token, which is kept as a hash. `seal` is needed with an `id_token` alone. */
export async function openSession(db: Db, opened: NewSession, now: string, seal?: Seal): Promise<SessionOpening> {
  const {key: token, hash} = makeSessionToken()
  const {organisation_id, user_id, ttl_s, kind, method, id_token = null} = opened
  const id = newId()
  const expires_at = new Date(Date.parse(now) + ttl_s * 1000).toISOString()
  await insertSession(db, {
    ...{id, organisation_id, user_id, token_hash: hash, created_at: now, expires_at, revoked_at: null, kind, method},
    connection_id: opened.connection_id ?? null,
    client_ip: opened.client_ip ?? null,
    user_agent: opened.user_agent?.slice(0, LONGEST_AGENT) ?? null,
    last_seen_at: now,
    idle_timeout_s: opened.idle_timeout_s ?? null,
    ...{idp_session: opened.idp_session ?? null, idp_subject: opened.idp_subject ?? null},
    id_token: id_token !== null && seal ? seal.close(id_token, idTokenPlace(id, organisation_id)) : null,
  })
  return {id, token, expires_at}
}

/** The place of a provider's token in the row of a session. */
export function idTokenPlace(session_id: string, organisation_id: string) {
  return {table: 'sessions', column: 'id_token', row: session_id, organisation_id}
}
