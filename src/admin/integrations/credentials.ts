import {readBaseUrl} from '../../base/egress/base-url.ts'
import {readDestination} from '../../base/egress/target.ts'
import {readTrusted} from '../../base/egress/trust.ts'
import {HOST_SETTINGS, SECRET_SETTINGS} from '../../providers/configurations.ts'
import {find, nearestSlugs} from '../../providers/registry.ts'
import {hasMask, mask, maskAll, restored} from '../../schema/secrets.ts'
import {openCredentials, sealSecret} from '../../store/integrations.ts'
import type {IntegrationsTable} from '../../store/tables/catalog.ts'
import type {Actor, AdminServices} from '../services.ts'
import {invalid, isAdmin} from '../tenancy.ts'
import {mappedSettings, settingsBeside} from './mapped-settings.ts'
import {type CredentialsInput, type CredentialsOwner, checkPlace} from './place-changes.ts'

type Columns = Pick<
  IntegrationsTable,
  'key_sealed' | 'key_masked' | 'configurations' | 'configurations_sealed' | 'trusts_host'
>

/**
 * The catalogue's name for the kind a client names; refuses one the catalogue does not have, with the nearest it has.
 */
export function kindOf(named: string, field: string): string {
  const known = find(named)
  if (known) return known.slug
  const [close] = nearestSlugs(named)
  throw invalid(field, `no kind of provider is called so${close ? `; did you mean ${close}?` : ''}`)
}

/**
 * The columns that `given` changes, its secrets sealed and masked. A secret that comes back as its mask stays what it
 * was `before`. Owners, admins and the operator may name a private host, which the integration is then trusted for
 * alone. Refuses settings the kind does not have, a host that may not be called, a mask that stands for nothing, and
 * another place for secrets that are not given again.
 */
export function credentialColumns(
  app: AdminServices,
  owner: CredentialsOwner,
  given: CredentialsInput,
  actor: Actor,
  before?: IntegrationsTable,
): Partial<Columns> {
  const mapped = mappedSettings(given, before)
  const columns = {
    ...keyColumns(app, owner, given.key, before),
    ...settingsColumns(app, owner, {...given, mapped}, isAdmin(actor), before),
  }
  if (given.secret_mappings && given.configurations === undefined) checkMapped(app, owner, mapped, before)
  checkPlace(owner, given, columns, actor, before)
  return columns
}

/** Other mappings beside settings that stay: together they have to be what the kind takes. */
function checkMapped(
  {seal}: AdminServices,
  {ai_provider_id}: CredentialsOwner,
  mapped: readonly string[],
  before?: IntegrationsTable,
) {
  settingsBeside(ai_provider_id, before ? openCredentials(seal, before).configurations : {}, mapped)
}

function keyColumns(
  {seal}: AdminServices,
  owner: CredentialsOwner,
  given: string | null | undefined,
  before?: IntegrationsTable,
): Partial<Columns> {
  if (given === undefined) return {}
  const key = before && hasMask(given) ? (restored(given, openCredentials(seal, before).key) as string) : given
  if (hasMask(key)) throw invalid('key', 'is the mask of a key, not a key')
  return {key_sealed: sealSecret(seal, owner, 'key_sealed', key), key_masked: key === null ? null : mask(key)}
}

function settingsColumns(
  app: AdminServices,
  owner: CredentialsOwner,
  {configurations: given, mapped}: Pick<CredentialsInput, 'configurations'> & {readonly mapped: readonly string[]},
  trusted: boolean,
  before?: IntegrationsTable,
): Partial<Columns> {
  if (given === undefined) return {}
  const whole =
    before && hasMask(given)
      ? (restored(given, openCredentials(app.seal, before).configurations) as typeof given)
      : given
  const settings = settingsBeside(owner.ai_provider_id, whole, mapped)
  const secrets = Object.fromEntries(Object.entries(settings).filter(([name]) => SECRET_SETTINGS.includes(name)))
  const masked = Object.keys(secrets).find(name => hasMask(secrets[name]))
  if (masked) throw invalid(`configurations.${masked}`, 'holds the mask of a secret, not a secret')
  const shown = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, name in secrets ? maskAll(value) : value]),
  )
  return {
    configurations: JSON.stringify(shown),
    configurations_sealed: sealSecret(
      app.seal,
      owner,
      'configurations_sealed',
      Object.keys(secrets).length ? JSON.stringify(secrets) : null,
    ),
    trusts_host: trustsHost(app, owner.id, settings, trusted, before),
  }
}

/** Judges the host that `settings` name. An unchanged one keeps the trust it was given. */
function trustsHost(
  app: AdminServices,
  id: string,
  settings: Readonly<Record<string, unknown>>,
  trusted: boolean,
  before?: IntegrationsTable,
): 0 | 1 {
  const earlier: Readonly<Record<string, unknown>> = before ? JSON.parse(before.configurations) : {}
  let trusts = false
  for (const name of HOST_SETTINGS) {
    const text = settings[name]
    if (typeof text !== 'string') continue
    const trust = trusted || (before?.trusts_host === 1 && earlier[name] === text)
    checkHost(app, id, text, trust)
    trusts ||= trust
  }
  return trusts ? 1 : 0
}

/** Refuses a host that may not be called; with `trust` it may be private. */
export function checkHost(
  {settings: {trusted_custom_hosts}}: AdminServices,
  id: string,
  text: string,
  trust: boolean,
): void {
  const {hostname} = readBaseUrl(text)
  readDestination(
    text,
    trust ? {kind: 'integration', id, host: hostname} : {kind: 'caller'},
    readTrusted(trusted_custom_hosts),
  )
}
