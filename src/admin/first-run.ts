import {newId, newSlug} from '../base/ids.ts'
import {givenKey, type MadeKey, makeKey} from '../identity/keys.ts'
import {scopesOf} from '../identity/scopes.ts'
import {insertKey} from '../store/api-keys.ts'
import type {Db, Store} from '../store/database.ts'
import {insertOrganisation, organisations} from '../store/organisations.ts'
import type {ApiKeyKind} from '../store/tables/identity.ts'
import {insertWorkspace} from '../store/workspaces.ts'
import {newKey} from './new-key.ts'

/** Keys that an operator chose; each at least 32 characters. */
export interface BootstrapKeys {
  readonly admin?: string | undefined
  readonly workspace?: string | undefined
}

/** The rows that a first run made. The keys are shown here and never again; one that was given needs no showing. */
export interface FirstRun {
  readonly organisation_id: string
  readonly workspace_id: string
  readonly workspace_slug: string
  readonly admin_key: {readonly key: string; readonly given: boolean}
  readonly workspace_key: {readonly key: string; readonly given: boolean}
}

/**
 * Fills an empty database: an organisation, its shared workspace, an admin key with every scope of its kind and a
 * workspace key likewise. Undefined, and nothing is written, where an organisation is there already. Throws a
 * RangeError for bootstrap keys that are too short or the same.
 */
export async function firstRun(store: Store, now: Date, bootstrap: BootstrapKeys = {}): Promise<FirstRun | undefined> {
  if (bootstrap.admin !== undefined && bootstrap.admin === bootstrap.workspace) {
    throw new RangeError('The bootstrap keys of admin and workspace must differ.')
  }
  const admin = bootstrap.admin === undefined ? makeKey() : givenKey(bootstrap.admin)
  const workspace = bootstrap.workspace === undefined ? makeKey() : givenKey(bootstrap.workspace)
  const at = now.toISOString()
  return store.write(async db => {
    if ((await organisations(db)).length) return undefined
    const made = await makeOrganisation(db, {
      name: 'Organisation',
      slug: newSlug('', 'organisation', 12),
      admin,
      workspace,
      at,
    })
    return {
      ...made,
      admin_key: {key: admin.key, given: bootstrap.admin !== undefined},
      workspace_key: {key: workspace.key, given: bootstrap.workspace !== undefined},
    }
  })
}

export interface OrganisationParts {
  readonly name: string
  readonly slug: string
  /** Its first admin key; the one of its shared workspace. */
  readonly admin: MadeKey
  readonly workspace: MadeKey
  readonly at: string
}

/**
 * An organisation with what each has from its first day: the shared workspace, an admin key and a workspace key with
 * all scopes.
 */
export async function makeOrganisation(db: Db, {name, slug, admin, workspace, at}: OrganisationParts) {
  const organisation_id = newId()
  const workspace_id = newId()
  const workspace_slug = newSlug('ws-', 'shared', 10)
  const times = {created_at: at, last_updated_at: at}
  await insertOrganisation(db, {id: organisation_id, slug, name, ...times})
  await insertWorkspace(db, {
    id: workspace_id,
    slug: workspace_slug,
    organisation_id,
    name: 'Shared Workspace',
    description: null,
    icon: null,
    is_default: 1,
    status: 'active',
    defaults: null,
    usage_limits: null,
    rate_limits: null,
    ...times,
  })
  await seedKey(db, {
    kind: 'organisation-service',
    organisation_id,
    workspace_id: null,
    name: 'First admin key',
    made: admin,
    at,
  })
  await seedKey(db, {
    kind: 'workspace-service',
    organisation_id,
    workspace_id,
    name: 'First workspace key',
    made: workspace,
    at,
  })
  return {organisation_id, workspace_id, workspace_slug}
}

interface Seed {
  readonly kind: ApiKeyKind
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly name: string
  readonly made: MadeKey
  readonly at: string
}

async function seedKey(db: Db, {kind, organisation_id, workspace_id, name, made, at}: Seed) {
  await insertKey(
    db,
    newKey({organisation_id, workspace_id, kind, name, creation_mode: 'auto'}, made, [...scopesOf(kind)], at),
  )
}
