import {isNamed, readResource} from '../../identity/mcp-oauth/resources.ts'
import type {OAuthServer} from '../../store/oauth-servers.ts'
import type {RefusedExchange} from './outcome.ts'

export const TARGET_REFUSED: RefusedExchange = {
  error: 'invalid_target',
  message: 'resource: is not the server that this was given for.',
}

/** True when `resource` is absent, or names this server: by slug or id, with its workspace or without. */
export function isTargetOf(
  resource: string | undefined,
  server: Pick<OAuthServer, 'id' | 'slug' | 'workspace_id' | 'workspace_slug'>,
  base_url: string,
): boolean {
  if (resource === undefined) return true
  const names = readResource(resource, base_url)
  return names !== null && isNamed(names, server)
}
