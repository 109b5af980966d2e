import {hash} from 'node:crypto'
import {clientAddressOf} from '../../base/ingress/client-address.ts'
import type {ClientRequest} from '../../base/ingress/request.ts'
import type {Tokens, VerifiedToken} from '../../identity/jwt/tokens.ts'
import {knownToken} from '../../identity/tokens.ts'
import {findConfigForCall} from '../../store/configs.ts'
import type {Db} from '../../store/database.ts'
import {type Remembered, RowCache} from '../../store/remembered.ts'
import type {KnownCaller} from '../services.ts'
import {ANY_CONFIG, callerOf, type Found} from './callers.ts'

/** The callers of tokens, remembered until the token ends, its key goes, or a row changes that they are made of. */
export interface TokenCallers {
  find(token: string, client: ClientRequest): KnownCaller | Promise<KnownCaller>
  /** The caller of a token that was verified before, by its SHA-256: of what the gateway itself has sealed. */
  byHash(token_hash: string): KnownCaller | undefined
  readonly remembered: readonly Remembered[]
}

const KNOWN_TOKENS = 10_000

interface Held {
  readonly token: VerifiedToken
  readonly known: KnownCaller
}

export function createTokenCallers(
  db: Db,
  tokens: Tokens,
  /** TRUSTED_PROXIES. */
  trusted_proxies: readonly string[],
): TokenCallers {
  const callers = new RowCache<Held>({max: KNOWN_TOKENS})

  const held = (token_hash: string): KnownCaller | undefined => {
    const found = callers.get(token_hash)
    return found && tokens.holds(found.token) ? found.known : undefined
  }

  const load = async (text: string, token_hash: string, client: ClientRequest): Promise<KnownCaller> => {
    const born = callers.generation
    const token = await tokens.verified(text, clientAddressOf(client, trusted_proxies))
    const {found, rows} = await readTokenCaller(db, token)
    const known = {...knownToken(token), caller: found}
    callers.set(token_hash, {token, known}, {born, rows: [...token.rows, ...rows]})
    return known
  }

  return {
    find(token, client) {
      const token_hash = hash('sha256', token)
      return held(token_hash) ?? load(token, token_hash, client)
    },
    byHash: held,
    remembered: [
      ...tokens.remembered,
      // a new organisation may be the second one, and then tokens have to name theirs
      {of: new Set(['organisations']), forget: ids => callers.forgetWithNew(ids)},
      {of: new Set(['workspaces']), forget: ids => callers.forget(ids)},
      // as a whole: a token names an address, which may become or stop being that of any user
      {of: new Set(['users', 'organisation_users']), forget: () => callers.forget(null)},
      {of: new Set(['configs']), forget: () => callers.forget([ANY_CONFIG])},
    ],
  }
}

/** A config that the workspace does not have is ignored, as the compatible product does. */
async function readTokenCaller(db: Db, token: VerifiedToken): Promise<Found<NonNullable<KnownCaller['caller']>>> {
  const {access, workspace_id, defaults, limits, user} = token
  const {id} = access.subject as {readonly id: string}
  const config = defaults.config === null ? undefined : await findConfigForCall(db, workspace_id, defaults.config)
  const {found, rows} = await callerOf(db, access, {
    principal: {kind: 'token', id},
    workspace_id,
    defaults: {metadata: defaults.metadata, config_id: config?.id},
    limits: {entity: 'token', id: `${id}/${workspace_id}`, name: user ?? id, last_reset_at: null, ...limits},
    models: null,
    user,
  })
  return {found, rows: [...rows, ANY_CONFIG]}
}
