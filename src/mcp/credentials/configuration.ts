import {McpConfigurations} from '../../schema/mcp-configurations.ts'
import {explain} from '../../schema/validation-message.ts'
import {openConfigurations} from '../../store/mcp-integrations.ts'
import {McpFault} from '../wire/faults.ts'
import type {CalledIntegration, CalledTarget, CredentialServices} from './services.ts'

/** By the rows that they were read from: a row that is remembered is opened and judged once. */
const opened = new WeakMap<CalledIntegration, McpConfigurations>()

/**
 * The configuration of a target with its secrets, for one call. Throws `integration_unfit` for one of an older version
 * that does not fit, and where secrets are in a manager, which is not called in this version.
 */
export function openedConfiguration(
  {seal}: Pick<CredentialServices, 'seal'>,
  {integration, server}: CalledTarget,
): McpConfigurations {
  const known = opened.get(integration)
  if (known) return known
  const unfit = (reason: string) => new McpFault('integration_unfit', {server: server.slug, reason})
  if (integration.secret_mappings !== '[]')
    throw unfit('its secrets are in a secret manager, which is not called in this version; take secret_mappings out')
  const kept = openConfigurations(seal, integration)
  const read = McpConfigurations.safeParse(kept)
  if (read.success) {
    opened.set(integration, read.data)
    return read.data
  }
  const issues = explain(read.error, McpConfigurations, kept, {root: 'configurations', before: 'configurations.'})
  throw unfit(issues.replace(/\.$/, ''))
}
