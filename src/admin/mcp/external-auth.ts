import {isDeepStrictEqual} from 'node:util'
import {Refusal} from '../../base/errors.ts'
import {openConfigurations} from '../../store/mcp-integrations.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import type {OperationCall} from '../operation.ts'
import {isAdmin} from '../tenancy.ts'

type Sealed = Pick<
  McpIntegrationsTable,
  'id' | 'organisation_id' | 'workspace_id' | 'configurations' | 'configurations_sealed'
>

/**
 * True where an integration gets another provider to sign in at. The gateway believes that provider who a person is, so
 * that its choice is for owners and admins alone. Throws `role.admins_only` (403).
 */
export function changesExternalAuth(
  {actor, app: {seal}}: Pick<OperationCall, 'actor' | 'app'>,
  after: Sealed,
  before?: Sealed,
): boolean {
  const [was, is] = [before, after].map(each => each && openConfigurations(seal, each).external_auth_config)
  if (isDeepStrictEqual(was, is)) return false
  if (!isAdmin(actor))
    throw new Refusal('role.admins_only', {deed: 'choosing where people sign in (configurations.external_auth_config)'})
  return true
}
