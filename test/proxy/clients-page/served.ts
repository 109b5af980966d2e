import {startGateway, type TestGateway} from '../../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../../support/provider.ts'
import {ENGINES, PROVIDERS} from './page.ts'
import {vendors} from './upstream.ts'

/** The base URL of each kind, below its host. */
const BASES: Readonly<Record<string, string>> = {
  openai: '/v1',
  anthropic: '/v1',
  google: '/v1beta',
  cohere: '/v2',
  'mistral-ai': '/v1',
  groq: '/openai/v1',
  bedrock: '',
}
const AWS = {
  aws_auth_type: 'accessKey',
  aws_region: 'us-east-1',
  aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  aws_secret_access_key: 'x'.repeat(40),
}

export interface ServedPage {
  readonly gateway: TestGateway
  readonly vendors: FakeProvider
  close(): Promise<void>
}

/** A gateway with the providers that docs/clients.md makes, each at the fake of all vendors. */
export async function servePage(env: Record<string, string> = {}): Promise<ServedPage> {
  const upstream = await fakeProvider(vendors)
  const gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env})
  const host = `http://127.0.0.1:${upstream.port}`
  for (const {slug, kind, base_path} of ENGINES) await gateway.provider(slug, kind, host + base_path)
  for (const [slug, kind] of PROVIDERS) {
    const configurations = {custom_host: host + BASES[kind], ...(kind === 'bedrock' && AWS)}
    await gateway.provider(slug, kind, host, {configurations})
  }
  return {
    gateway,
    vendors: upstream,
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}

/** The kind of the provider that a model names: `@ollama/llama3.2`. */
export function kindOf(model: string): string {
  const slug = model.slice(1, model.indexOf('/'))
  const kind = ENGINES.find(engine => engine.slug === slug)?.kind ?? PROVIDERS.find(([own]) => own === slug)?.[1]
  if (kind === undefined) throw new Error(`The page makes no provider ${slug}.`)
  return kind
}
