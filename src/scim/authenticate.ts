import {hash} from 'node:crypto'
import {findScimTokenByHash, noteScimTokenUse} from '../store/scim-tokens.ts'
import type {ScimTokensTable} from '../store/tables/directories.ts'
import {ScimFault} from './fault.ts'
import type {ScimServices} from './services.ts'

const NOTED_EVERY_MS = 60_000

/** The token of a directory; keys, sessions and tokens of people open nothing here. */
export async function authenticate(
  authorization: string | undefined,
  {store, now}: Pick<ScimServices, 'store' | 'now'>,
): Promise<ScimTokensTable> {
  const shown = /^bearer +(gd-[\w-]{43}) *$/i.exec(authorization ?? '')?.[1]
  const token = shown === undefined ? undefined : await findScimTokenByHash(store.db, hash('sha256', shown))
  const at = now().toISOString()
  if (!token || token.revoked_at !== null) throw new ScimFault(401, 'The token is not known to this gateway.')
  if (token.expires_at !== null && token.expires_at <= at)
    throw new ScimFault(401, `The token expired at ${token.expires_at}. Create a new one.`)
  const is_old = token.last_used_at === null || Date.parse(at) - Date.parse(token.last_used_at) >= NOTED_EVERY_MS
  if (is_old) await store.write(db => noteScimTokenUse(db, token.id, at))
  return token
}
