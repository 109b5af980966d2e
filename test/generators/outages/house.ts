import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {startTwin} from '../../support/clouds/log-store.ts'
import {type DnsAnswer, dnsServer, SERVER_FAILED} from '../../support/dns-server.ts'
import {ADMIN_KEY, startGateway, type TestGateway, WORKSPACE_KEY} from '../../support/gateway.ts'
import {type Line, type LineState, openLine} from '../../support/line.ts'
import {fakeProvider, json} from '../../support/provider.ts'
import {vaultDouble} from '../../support/secret-managers/vault.ts'
import {API_KEY, openTwin} from '../../support/vector-stores/open.ts'
import {startCollector} from '../../telemetry/collector.ts'
import {DEADLINE_MS, type Reply} from './world.ts'

/** All that a gateway calls beside its stores, each by a line. */
export const SERVICES = ['log store', 'vector store', 'embedder', 'secret manager', 'collector', 'provider'] as const
export type ServiceName = (typeof SERVICES)[number]

const S3_KEY = {kind: 's3', id: 'AKIDEXAMPLE', secret: 'secret-of-the-bucket', region: 'us-east-1'} as const
const VECTOR = [3, 0, 4, 0]
const PLANTED = 'sk-planted-first-0123456789'

/** The reply to a request, with the headers by which a call says what became of it. */
export interface HouseReply extends Reply {
  readonly headers: Headers
}

/** A gateway and its services. */
export interface House {
  readonly gateway: TestGateway
  readonly lines: Readonly<Record<ServiceName, Line>>
  /** Takes the ways to these services, and the name server, into a state. */
  become(state: LineState, slow_ms: number, names?: readonly ServiceName[]): Promise<void>
  chat(headers: Record<string, string>, text?: string): Promise<HouseReply>
  request(method: string, path: string, body?: object): Promise<HouseReply>
  /** A provider whose key the secret manager has; gives its slug. */
  mapped(): Promise<string>
  /** Bodies that the log store has, by their path. */
  readonly stored: ReadonlyMap<string, Buffer>
  /** The spans that the collector took, in their order. */
  spans(): readonly {readonly trace_id: string; readonly span_id: string}[]
  close(): Promise<void>
}

const originOf = (line: Line) => new URL(line.url).origin

export async function openHouse(stores: Record<string, string> = {}): Promise<House> {
  const bucket = await startTwin(S3_KEY)
  const vectors = await openTwin('qdrant', VECTOR.length)
  const vault = await vaultDouble()
  const collector = await startCollector()
  const provider = await fakeProvider()
  const embedder = await fakeProvider((_, response) =>
    json(response, {data: [{embedding: VECTOR}], usage: {prompt_tokens: 7}}),
  )
  let dns: DnsAnswer = []
  const names = await dnsServer(() => dns)
  const urls: Readonly<Record<ServiceName, string>> = {
    'log store': bucket.url,
    'vector store': vectors.url,
    embedder: embedder.url,
    'secret manager': vault.url,
    collector: collector.url,
    provider: provider.url,
  }
  const opened = await Promise.all(
    SERVICES.map(async name => [name, await openLine(urls[name], {usual_port: 80})] as const),
  )
  const lines = Object.fromEntries(opened) as Record<ServiceName, Line>
  const folder = mkdtempSync(join(tmpdir(), 'gateway-house-'))
  const limit_ms = String(DEADLINE_MS)
  const gateway = await startGateway(
    {
      ...stores,
      ...{TRUSTED_CUSTOM_HOSTS: '127.0.0.1', SECRET_MANAGER_HOSTS: '127.0.0.1', DB_QUERY_TIMEOUT_MS: limit_ms},
      ...{LOG_STORE: 's3_custom', LOG_STORE_BASEPATH: `${originOf(lines['log store'])}/bucket`},
      ...{LOG_STORE_ACCESS_KEY: S3_KEY.id, LOG_STORE_SECRET_KEY: S3_KEY.secret},
      ...{LOG_STORE_CONNECTION_TIMEOUT_MS: limit_ms, LOG_STORE_CONNECTION_BACKOFF_MS: '100'},
      LOG_STORE_CONNECTION_FAILURE_THRESHOLD: '1',
      ...{VECTOR_STORE: 'qdrant', VECTOR_STORE_ADDRESS: originOf(lines['vector store'])},
      ...{VECTOR_STORE_API_KEY: API_KEY, VECTOR_STORE_TIMEOUT_MS: limit_ms},
      ...{SEMANTIC_CACHE_EMBEDDER: 'openai', SEMANTIC_CACHE_EMBEDDING_API_KEY: 'key-of-the-operator'},
      SEMANTIC_CACHE_EMBEDDINGS_URL: `${originOf(lines.embedder)}/v1/embeddings`,
      ...{SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: '4', SEMANTIC_CACHE_EMBEDDING_TIMEOUT_MS: limit_ms},
      ...{OTEL_EXPORTER_OTLP_ENDPOINT: originOf(lines.collector), OTEL_EXPORTER_OTLP_TIMEOUT: limit_ms},
      ...{OTEL_BSP_SCHEDULE_DELAY: '100', DOMAIN_DNS_SERVERS: names.address},
    },
    {folder},
  )
  await gateway.provider('far', 'openai', `${originOf(lines.provider)}/v1`)
  let sent = 0
  let made = 0
  const request = async (url: string, init: RequestInit): Promise<HouseReply> => {
    const started = performance.now()
    const reply = await fetch(gateway.url + url, init)
    const text = await reply.text()
    const retry_after = reply.headers.get('retry-after')
    return {status: reply.status, headers: reply.headers, retry_after, text, took_ms: performance.now() - started}
  }
  return {
    gateway,
    lines,
    async become(state, slow_ms, some = SERVICES) {
      dns = state === 'open' ? [] : state === 'refused' ? SERVER_FAILED : null
      await Promise.all(some.map(name => lines[name].become(state, slow_ms)))
    },
    chat(headers, text = `hi, for the ${sent}th time`) {
      sent++
      const body = JSON.stringify({model: 'echo', messages: [{role: 'user', content: text}]})
      const all = {'content-type': 'application/json', 'x-gateway-api-key': WORKSPACE_KEY, ...headers}
      return request('/v1/chat/completions', {method: 'POST', body, headers: all})
    },
    request: (method, path, body) =>
      request(path, {
        method,
        headers: {'x-gateway-api-key': ADMIN_KEY, ...(body && {'content-type': 'application/json'})},
        ...(body && {body: JSON.stringify(body)}),
      }),
    async mapped() {
      const slug = `mapped-${++made}`
      vault.state.secrets[`secret/${slug}`] = {data: {key: PLANTED}}
      await gateway.admin('POST', '/secret-references', {
        ...{name: slug, slug, manager_type: 'hashicorp_vault', secret_path: `secret/${slug}`},
        auth_config: {
          ...{vault_auth_type: 'approle', vault_addr: originOf(lines['secret manager'])},
          ...{vault_role_id: 'role', vault_secret_id: 'hush'},
        },
      })
      await gateway.provider(slug, 'openai', provider.url, {
        ...{key: undefined, secret_mappings: [{target_field: 'key', secret_reference_id: slug}]},
      })
      return slug
    },
    stored: bucket.objects,
    spans: () => collector.spans,
    async close() {
      await Promise.all(SERVICES.map(name => lines[name].become('open')))
      await gateway.close()
      for (const name of SERVICES) await lines[name].close()
      names.close()
      await Promise.all([bucket.close(), vectors.close(), vault.close(), provider.close(), embedder.close()])
      rmSync(folder, {recursive: true, force: true})
    },
  }
}
