import {readFileSync} from 'node:fs'
import {createServer} from 'node:http'
import {createServer as createTlsServer} from 'node:https'
import type {AddressInfo, Socket} from 'node:net'
import {join} from 'node:path'
import {after} from '../../src/base/delay.ts'
import {CallRegistry} from '../../src/proxy/call/registry.ts'
import type {InboundRequest} from '../../src/proxy/inbound/request.ts'
import {createRealtime} from '../../src/proxy/realtime/index.ts'
import type {Caller, ProxyServices} from '../../src/proxy/services.ts'
import {PlanCache} from '../../src/proxy/targets/plan-cache.ts'
import type {PlanNode, PlanTarget} from '../../src/routing/plan.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from './gateway.ts'
import {type RealtimeProvider, realtimeProvider} from './realtime-provider.ts'

/** A gateway with sessions, and a provider of them as `@voice`. */
export interface RealtimeGateway {
  readonly gateway: TestGateway
  readonly provider: RealtimeProvider
  /** `ws://127.0.0.1:PORT/v1/realtime` */
  readonly ws: string
  readonly http: string
  readonly live: CallRegistry
  close(): Promise<void>
}

export const MODEL = 'gpt-4o-realtime-preview-2024-12-17'
export const OWN_KEY = {'x-gateway-api-key': WORKSPACE_KEY}

/** `services` gives what the gateway's data plane was made of; `change` what the sessions see of it. */
export async function startRealtime(
  services: () => ProxyServices,
  {
    env = {},
    change = on => on,
    is_tls = false,
  }: {env?: Record<string, string>; change?: (on: ProxyServices) => ProxyServices; is_tls?: boolean} = {},
): Promise<RealtimeGateway> {
  const gateway = await startGateway(env)
  const provider = await realtimeProvider()
  await gateway.provider('voice', 'openai', provider.url)
  const on = change(services())
  const routings = new PlanCache(on)
  const live = new CallRegistry({steady: () => performance.now(), after}, () => undefined)
  const find = async (incoming: InboundRequest, caller: Caller, slug: string | null) => {
    const routing = await routings.find(incoming, caller, slug)
    return routings.target(routing, firstLeaf(routing.plan.root), incoming, caller)
  }
  const realtime = createRealtime({services: on, targets: {find}, live})
  const sockets = new Set<Socket>()
  const server = is_tls ? createTlsServer({key: pem('models.key.pem'), cert: pem('models.pem')}) : createServer()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (request, socket, head) => realtime.handleUpgrade(request, socket, head))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as AddressInfo
  return {
    gateway,
    provider,
    ws: `${is_tls ? 'wss' : 'ws'}://127.0.0.1:${port}/v1/realtime`,
    http: `${is_tls ? 'https' : 'http'}://127.0.0.1:${port}/v1/realtime`,
    live,
    async close() {
      await live.drain(0)
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
      await provider.close()
      await gateway.close()
    },
  }
}

/** Of the authority in `ca.pem`, for `models.example`. */
export function pem(name: string): string {
  return readFileSync(join(import.meta.dirname, '../base/egress/fixtures', name), 'utf8')
}

function firstLeaf(node: PlanNode): PlanTarget {
  return node.kind === 'leaf' ? node : firstLeaf(node.children[0]!)
}
