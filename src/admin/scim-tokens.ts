import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {makeScimToken} from '../identity/keys.ts'
import {Empty, listOf} from '../schema/paging.ts'
import {CreatedScimToken, ScimTokenCreate, ScimTokenParams, ScimTokenView} from '../schema/scim-tokens.ts'
import * as store from '../store/scim-tokens.ts'
import type {ScimTokensTable} from '../store/tables/directories.ts'
import {type OperationCall, operation} from './operation.ts'
import type {Actor} from './services.ts'
import {found, invalid} from './tenancy.ts'

const tag = 'Organisation'
const path = '/admin/organisation/scim-tokens'
/** So that a new one can be given before the old one is taken. */
const MOST = 5

/** The tokens of directories; they open the SCIM protocol alone. */
export const scimTokens = [
  operation({
    id: 'scim_tokens.list',
    tag,
    method: 'GET',
    path,
    summary: 'List the tokens of directories that work',
    scopes: ['organisation_settings.read'],
    flag: 'scim',
    reply: listOf(ScimTokenView),
    async handle({actor, db, now}) {
      const rows = await store.listScimTokens(db, actor.organisation_id, now)
      return {object: 'list' as const, total: rows.length, data: rows.map(view)}
    },
  }),
  operation({
    id: 'scim_tokens.create',
    tag,
    method: 'POST',
    path,
    summary: 'Make a token for a directory; the reply is the only one that says it',
    scopes: ['organisation_settings.update'],
    flag: 'scim',
    audit: {resource: 'scim_token', action: 'create'},
    body: ScimTokenCreate,
    reply: CreatedScimToken,
    refuses: [409],
    handle: created,
  }),
  operation({
    id: 'scim_tokens.delete',
    tag,
    method: 'DELETE',
    path: `${path}/:scimTokenId`,
    summary: 'Take a token from a directory: it works no longer',
    scopes: ['organisation_settings.update'],
    flag: 'scim',
    audit: {resource: 'scim_token', action: 'delete'},
    params: ScimTokenParams,
    reply: Empty,
    async handle({actor, db, params, now, auditTarget}) {
      const is_there = await store.revokeScimToken(db, actor.organisation_id, params.scimTokenId, now)
      found(is_there || undefined, 'SCIM token')
      auditTarget(params.scimTokenId, null)
      return {}
    },
  }),
] as const

async function created(
  call: OperationCall<undefined, undefined, typeof ScimTokenCreate>,
): Promise<z.input<typeof CreatedScimToken>> {
  const {actor, db, body, now} = call
  const {organisation_id} = actor
  const expires_at = body.expires_at ?? null
  if (expires_at !== null && expires_at <= now) throw invalid('expires_at', 'must be in the future')
  const {length} = await store.listScimTokens(db, organisation_id, now)
  if (length >= MOST)
    throw new Refusal('row.unfit', {reason: `The organisation has ${MOST} such tokens already. Delete one first.`})
  const {key: token, hash: token_hash, masked} = makeScimToken()
  const row: ScimTokensTable = {
    ...{id: newId(), organisation_id, name: body.name, token_hash, masked, gives_owners: givesOwners(actor) ? 1 : 0},
    ...{created_at: now, expires_at, last_used_at: null, revoked_at: null},
  }
  await store.insertScimToken(db, row)
  call.auditTarget(row.id, null)
  return {...view(row), token}
}

/** A directory gives no role that the maker of its token could not give. */
function givesOwners({subject, person}: Actor): boolean {
  return subject.kind === 'operator' || (subject.kind === 'user' && person?.organisation_role === 'owner')
}

function view(row: ScimTokensTable): z.input<typeof ScimTokenView> {
  const {id, name, masked, created_at, expires_at, last_used_at} = row
  return {id, name, masked, created_at, expires_at, last_used_at, object: 'scim-token'}
}
