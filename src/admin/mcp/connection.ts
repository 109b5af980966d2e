import {readBaseUrl} from '../../base/egress/base-url.ts'
import {readDestination} from '../../base/egress/target.ts'
import {readTrusted} from '../../base/egress/trust.ts'
import type {McpConfigurations} from '../../schema/mcp-configurations.ts'
import {hasMask, mask, restored} from '../../schema/secrets.ts'
import {openConfigurations, sealConfigurations} from '../../store/mcp-integrations.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import type {AdminServices} from '../services.ts'
import {invalid} from '../tenancy.ts'
import {isSecretConfiguration} from './secret-configurations.ts'

type Owner = Pick<McpIntegrationsTable, 'id' | 'organisation_id' | 'workspace_id'>

/**
 * The columns of what a server gets, secrets sealed and masked. A secret that comes back as its mask stays what it was
 * `before`, as long as the server is the same: another would get it.
 */
export function configurationColumns(
  {seal}: AdminServices,
  owner: Owner,
  {
    configurations: given,
    url,
  }: {readonly configurations?: McpConfigurations | undefined; readonly url?: string | undefined},
  before?: McpIntegrationsTable,
) {
  if (given === undefined) {
    if (before?.configurations_sealed && url !== undefined && originOf(url) !== originOf(before.url))
      throw invalid('configurations', 'holds secrets that were given for another host: send it again with the new url')
    return {}
  }
  const stays = before && hasMask(given) && (url === undefined || originOf(url) === originOf(before.url))
  const whole = stays ? (restored(given, openConfigurations(seal, before)) as McpConfigurations) : given
  if (hasMask(whole)) throw invalid('configurations', 'holds the mask of a secret, not a secret')
  return sealConfigurations(seal, owner, whole, shown(whole))
}

/** A copy in which every secret is masked. */
function shown(value: unknown, path: readonly string[] = []): unknown {
  if (typeof value === 'string') return isSecretConfiguration(path) ? mask(value) : value
  if (Array.isArray(value)) return value.map(each => shown(each, path))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(inner, [...path, name])]))
}

/**
 * The columns of an address. `trusted` callers may name a private host, which the integration is then trusted for
 * alone; an unchanged address keeps the trust it was given. Refuses a host that may not be called. A query is taken,
 * unlike in other addresses.
 */
export function urlColumns(
  {settings: {trusted_custom_hosts}}: AdminServices,
  {id}: Pick<Owner, 'id'>,
  url: string,
  trusted: boolean,
  before?: McpIntegrationsTable,
): Pick<McpIntegrationsTable, 'url' | 'trusts_host'> {
  const [base = '', query] = url.split(/\?(.*)/s, 2)
  if (query !== undefined && !/^[\x21\x22\x24-\x7e]*$/.test(query))
    throw invalid('url', 'its query takes visible ASCII characters without a # alone')
  const {hostname} = readBaseUrl(base)
  const trusts = trusted || (before?.trusts_host === 1 && before.url === url)
  readDestination(
    base,
    trusts ? {kind: 'integration', id, host: hostname} : {kind: 'caller'},
    readTrusted(trusted_custom_hosts),
  )
  return {url, trusts_host: trusts ? 1 : 0}
}

function originOf(url: string): string {
  return new URL(url).origin
}
