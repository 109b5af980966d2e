import {apiKeys} from './api-keys.ts'
import {auditLogs} from './audit-logs.ts'
import {configs} from './configs.ts'
import {explain} from './explain.ts'
import {integrationAccess} from './integrations/access.ts'
import {integrations} from './integrations/integrations.ts'
import {integrationModels} from './integrations/models.ts'
import {logs} from './logs.ts'
import {withOpenapi} from './openapi.ts'
import type {AnyOperation} from './operation.ts'
import {pricing} from './pricing.ts'
import {providers} from './providers.ts'
import {virtualKeys} from './virtual-keys.ts'
import {workspaces} from './workspaces.ts'

/** Every operation of the administration: its table of contents. */
export const OPERATIONS: readonly AnyOperation[] = withOpenapi([
  ...workspaces,
  ...apiKeys,
  ...integrations,
  ...integrationModels,
  ...integrationAccess,
  ...providers,
  ...virtualKeys,
  ...configs,
  ...explain,
  ...logs,
  ...pricing,
  ...auditLogs,
])
