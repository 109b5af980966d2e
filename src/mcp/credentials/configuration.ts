import type {MaybePromise} from '../../base/maybe-promise.ts'
import {McpConfigurations} from '../../schema/mcp-configurations.ts'
import {KeptSecretMappings} from '../../schema/secret-mappings.ts'
import {explain} from '../../schema/validation-message.ts'
import type {FieldValues, MappedFields} from '../../secrets/port.ts'
import {openConfigurations} from '../../store/mcp-integrations.ts'
import {McpFault} from '../wire/faults.ts'
import {filledConfiguration, secretFault} from './mapped-configuration.ts'
import type {CalledIntegration, CalledTarget, CredentialServices} from './services.ts'

type Services = Pick<CredentialServices, 'seal' | 'secrets'>

/** By the rows that they were read from: a row that is remembered is opened and judged once. */
const opened = new WeakMap<CalledIntegration, McpConfigurations>()
/** The same of rows with mapped fields, for the values that they were filled with last. */
const filled = new WeakMap<MappedFields, Filled>()
/** By row and workspace: a reference may be open to some workspaces of those that use an integration. */
const mapped = new WeakMap<CalledIntegration, Map<string | null, MappedFields>>()

interface Filled {
  readonly values: FieldValues
  readonly configurations: McpConfigurations
}

/**
 * The configuration of a target with its secrets, for one call; at once unless a manager of secrets has to be called.
 * Throws `integration_unfit` for one of an older version that does not fit, and where a secret is not available.
 */
export function openedConfiguration(services: Services, target: CalledTarget): MaybePromise<McpConfigurations> {
  const {integration, server} = target
  const known = opened.get(integration)
  if (known) return known
  if (integration.secret_mappings !== '[]') return openedMapped(services, target)
  const read = judged(openConfigurations(services.seal, integration), server.slug)
  opened.set(integration, read)
  return read
}

/** The values that the fields of a target were filled with last; null where none are mapped. */
export function mappedValues(
  target: CalledTarget,
): {readonly fields: MappedFields; readonly values: FieldValues} | null {
  if (target.integration.secret_mappings === '[]') return null
  const fields = fieldsOf(target)
  const last = filled.get(fields)
  return last ? {fields, values: last.values} : null
}

/** The configuration with these values, for one repetition of a request. */
export function configurationWith(
  {seal}: Pick<Services, 'seal'>,
  {integration, server}: CalledTarget,
  values: FieldValues,
): McpConfigurations {
  return filledConfiguration(openConfigurations(seal, integration), values, server.slug)
}

function openedMapped(services: Services, target: CalledTarget): MaybePromise<McpConfigurations> {
  const {server} = target
  try {
    const values = services.secrets.valuesOf(fieldsOf(target))
    if (!(values instanceof Promise)) return withValues(services, target, values)
    return values.then(
      late => withValues(services, target, late),
      fault => {
        throw secretFault(fault, server.slug)
      },
    )
  } catch (fault) {
    throw secretFault(fault, server.slug)
  }
}

function withValues(services: Services, target: CalledTarget, values: FieldValues): McpConfigurations {
  const fields = fieldsOf(target)
  const before = filled.get(fields)
  if (before?.values === values) return before.configurations
  const configurations = configurationWith(services, target, values)
  filled.set(fields, {values, configurations})
  return configurations
}

/** The same object for a row and a workspace: by it values are remembered. */
function fieldsOf({integration, server}: CalledTarget): MappedFields {
  const {organisation_id, secret_mappings} = integration
  const workspace_id = server.workspace_id ?? integration.workspace_id
  const of_row = mapped.get(integration) ?? new Map<string | null, MappedFields>()
  mapped.set(integration, of_row)
  const known = of_row.get(workspace_id)
  if (known) return known
  const fields = KeptSecretMappings.parse(JSON.parse(secret_mappings))
  const made = {organisation_id, workspace_id, fields}
  of_row.set(workspace_id, made)
  return made
}

function judged(kept: Readonly<Record<string, unknown>>, server: string): McpConfigurations {
  const read = McpConfigurations.safeParse(kept)
  if (read.success) return read.data
  const issues = explain(read.error, McpConfigurations, kept, {root: 'configurations', before: 'configurations.'})
  throw new McpFault('integration_unfit', {server, reason: issues.replace(/\.$/, '')})
}
