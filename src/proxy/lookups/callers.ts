import type {Access} from '../../identity/access.ts'
import {knownKey} from '../../identity/api-keys.ts'
import {keyWords, type ModelList, openModelList, workspaceWords} from '../../identity/model-lists.ts'
import {userOf} from '../../identity/subject.ts'
import type {Principal} from '../../schema/principal.ts'
import {findKeyByHash} from '../../store/api-keys.ts'
import {defaultConfigId} from '../../store/configs.ts'
import type {Db} from '../../store/database.ts'
import {findWorkspace} from '../../store/workspaces.ts'
import type {Caller, EntityLimit, KnownCaller} from '../services.ts'
import {parsed, textOf, texts} from './columns.ts'

/**
 * Stands for the configs of a workspace among the rows of an entry: one that becomes the default, or has the slug that
 * a policy names, has an id that nothing held knows.
 */
export const ANY_CONFIG = 'any config'
export interface Found<T> {
  readonly found: T
  /** Ids of the rows that it is made of. */
  readonly rows: readonly string[]
}

/** Defaults, limits and models that are those of a credential itself. */
interface CredentialFacts {
  readonly principal: Principal
  readonly workspace_id: string
  /** `config_id`, `metadata`, `allow_config_override`; each but the last wins over the workspace's. */
  readonly defaults: Readonly<Record<string, unknown>>
  readonly limits: Omit<EntityLimit, 'organisation_id' | 'workspace_id'>
  readonly models: ModelList | null
  /** The user that it names, whatever metadata says. */
  readonly user?: string | null
}

/** The caller of a key by its SHA-256; null when there is no such key. */
export async function readCaller(
  db: Db,
  key_hash: string,
): Promise<(Found<KnownCaller> & {readonly key: {readonly id: string; readonly name: string}}) | null> {
  const row = await findKeyByHash(db, key_hash)
  if (!row) return null
  const known = knownKey(row)
  const {id, organisation_id, workspace_id, name, usage_limits: usage, rate_limits: rates, last_reset_at} = row
  const key = {id, name}
  if (workspace_id === null) return {found: {...known, caller: null}, rows: [id, organisation_id], key}
  const {found: caller, rows} = await callerOf(db, known.access, {
    principal: {kind: 'api_key', id},
    workspace_id,
    defaults: parsed(row.defaults),
    limits: {entity: 'key', id, name, usage, rates, last_reset_at},
    models: openModelList(keyWords(name), row.models),
  })
  return {found: {...known, caller}, rows: [id, organisation_id, ...rows], key}
}

/** The caller that a subject is in a workspace: what its credential says, then what the workspace says. */
export async function callerOf(db: Db, access: Access, facts: CredentialFacts): Promise<Found<Caller>> {
  const {principal, workspace_id, defaults, limits} = facts
  const {organisation_id} = access
  const workspace = await findWorkspace(db, organisation_id, workspace_id)
  const workspace_defaults = parsed(workspace?.defaults ?? null)
  const of = {organisation_id, workspace_id}
  const own_config_id = textOf(defaults.config_id) ?? textOf(workspace_defaults.config_id)
  const models = [facts.models, openModelList(workspaceWords(workspace?.name ?? ''), workspace?.models)]
  const lists = models.filter(list => list !== null)
  const of_workspace = {
    name: workspace?.name ?? '',
    usage: workspace?.usage_limits ?? null,
    rates: workspace?.rate_limits ?? null,
    last_reset_at: null,
  }
  const caller: Caller = {
    ...principal,
    ...of,
    workspace_slug: workspace?.slug ?? '',
    user_id: userOf(access.subject),
    metadata: {
      ...texts(defaults.metadata),
      ...texts(workspace_defaults.metadata),
      ...(facts.user && {_user: facts.user}),
    },
    config_id: own_config_id ?? (await defaultConfigId(db, workspace_id)),
    allow_config_override: defaults.allow_config_override !== false,
    limits: [
      {...of, ...limits},
      {...of, ...of_workspace, entity: 'workspace' as const, id: workspace_id},
    ].filter(({usage, rates}) => usage !== null || rates !== null),
    models: lists.length ? lists : null,
  }
  return {found: caller, rows: [workspace_id, ...(own_config_id === null ? [ANY_CONFIG] : [])]}
}
