import type {AdminServices} from '../admin/services.ts'
import {systemLookup} from '../base/egress/lookup.ts'
import type {Egress} from '../base/egress/pools.ts'
import type {Settings} from '../settings/index.ts'
import {openEgress} from './egress.ts'

/**
 * The world that guardrails are tried in, by the administration and by an operator's command; opened by the first that
 * is tried.
 */
export function openChecking(settings: Settings): {
  readonly check_services: NonNullable<AdminServices['check_services']>
  close(): Promise<void>
} {
  let egress: Egress | undefined
  let opening: ReturnType<typeof open> | undefined
  const open = async () => {
    const {checkMemory, checkEnvironment} = await import('../guardrails/check-services.ts')
    egress = openEgress(settings)
    const around = {
      egress,
      lookup: systemLookup,
      memory: checkMemory(),
      now_ms: () => performance.timeOrigin + performance.now(),
    }
    return (workspace_id: string) => checkEnvironment(workspace_id, around)
  }
  return {
    async check_services(workspace_id) {
      opening ??= open()
      return (await opening)(workspace_id)
    },
    close: async () => egress?.destroy(),
  }
}
