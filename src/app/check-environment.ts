import type {AdminServices} from '../admin/services.ts'
import {systemLookup} from '../base/egress/lookup.ts'
import {Egress} from '../base/egress/pools.ts'
import {readProxies} from '../base/egress/proxy.ts'
import {readTrusted} from '../base/egress/trust.ts'
import type {Settings} from '../settings/index.ts'

/** The world that guardrails are tried in, by the administration and by an operator's command; opened by the first that is tried. */
export function openChecking(settings: Settings): {
  readonly check_world: NonNullable<AdminServices['check_world']>
  close(): Promise<void>
} {
  let egress: Egress | undefined
  let opening: ReturnType<typeof open> | undefined
  const open = async () => {
    const {checkMemory, checkWorld} = await import('../guardrails/world.ts')
    egress = new Egress({
      trusted: readTrusted(settings.trusted_custom_hosts),
      proxies: readProxies({HTTP_PROXY: settings.http_proxy, HTTPS_PROXY: settings.https_proxy, NO_PROXY: settings.no_proxy}),
      connect_timeout_ms: settings.upstream_connect_timeout_ms,
    })
    const around = {egress, lookup: systemLookup, memory: checkMemory(), now_ms: () => performance.timeOrigin + performance.now()}
    return (workspace_id: string) => checkWorld(workspace_id, around)
  }
  return {
    async check_world(workspace_id) {
      opening ??= open()
      return (await opening)(workspace_id)
    },
    close: async () => egress?.destroy(),
  }
}
