import {request} from 'undici'
import {linkBase} from '../admin/link-base.ts'
import {RefusedKeys} from '../admin/refused-keys.ts'
import {RefusedTokens} from '../admin/refused-tokens.ts'
import type {Egress} from '../base/egress/pools.ts'
import type {Log} from '../base/log.ts'
import {type KeySetReply, KeySets, maxAge} from '../identity/jwt/key-sets.ts'
import {Tokens} from '../identity/jwt/tokens.ts'
import {SignInNeeds} from '../identity/sign-in-needs.ts'
import type {Settings} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import {openEgress} from './egress.ts'

const PATIENCE_MS = 5_000
const MAX_BYTES = 1 << 20

interface TokenParts {
  readonly settings: Settings
  readonly store: Store
  readonly log: Log
  readonly now: () => number
  readonly wall: () => number
  readonly steady: () => number
}

/** The judges of tokens, and of keys whose people have to sign in, of both planes. */
export function openTokens({settings, store, log, now, wall, steady}: TokenParts) {
  const egress = openEgress(settings)
  const noting = {store, log, now, audits: settings.audit_logs_enabled}
  const refused = new RefusedTokens(noting)
  const refused_keys = new RefusedKeys(noting)
  const sign_in_needs = new SignInNeeds({
    db: store.db,
    now,
    sign_in_url: settings.control_plane_url === undefined ? null : `${linkBase({settings})}/v2/auth/sign-in`,
    onRefused: key => refused_keys.note(key),
  })
  const tokens = new Tokens({
    db: store.db,
    key_sets: new KeySets({
      fetch: url => fetchKeySet(egress, url),
      steady,
      refetch_min_interval_ms: settings.jwks_refetch_min_interval_ms,
      log,
    }),
    is_enabled: settings.jwt_enabled,
    served: settings.organisations_to_sync,
    default_scopes: settings.jwt_local_auth_default_scopes,
    wall,
    onRefused: token => refused.note(token),
  })
  return {tokens, sign_in_needs, close: () => egress.destroy()}
}

/** An owner, an admin or the operator wrote the address: its host may be private, as that of an integration. */
async function fetchKeySet(egress: Egress, url: string): Promise<KeySetReply> {
  const {origin, hostname} = new URL(url)
  const destination = egress.destination(origin, {kind: 'integration', id: 'key sets', host: hostname})
  const {statusCode, headers, body} = await request(url, {
    dispatcher: egress.pool(destination),
    headers: {accept: 'application/jwk-set+json, application/json', 'accept-encoding': 'identity'},
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  const parts: Buffer[] = []
  let length_bytes = 0
  for await (const part of body) {
    parts.push(part)
    length_bytes += part.length
    if (length_bytes > MAX_BYTES) throw new Error('it answered with more than 1 MB')
  }
  if (statusCode !== 200) throw new Error(`it answered with status ${statusCode}`)
  return {text: Buffer.concat(parts).toString('utf8'), max_age_s: maxAge(String(headers['cache-control'] ?? ''))}
}
