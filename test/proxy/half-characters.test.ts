import {generateKeyPairSync} from 'node:crypto'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {list} from '../../src/providers/registry.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {forRing} from '../support/ring.ts'

/**
 * A model with half of a pair of surrogates: whoever cannot say it in a URL refuses it, and it is nowhere a fault of
 * ours.
 */
let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await fakeProvider()
})
afterAll(async () => {
  expect(gateway.lines.filter(line => line.includes('URIError'))).toEqual([])
  await gateway.close()
  await provider.close()
})

const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
const OPTIONS = {
  bedrock: {aws_auth_type: 'apiKey', aws_region: 'us-east-1'},
  'vertex-ai': {vertex_project_id: 'p', vertex_region: 'us-central1', vertex_auth_type: 'basic'},
  'workers-ai': {workers_ai_account_id: 'a1'},
  'azure-openai': {azure_resource_name: 'r', azure_api_version: '2024-10-21', azure_deployment_id: 'd'},
  cortex: {snowflake_account: 'org-account'},
  oracle: {
    oracle_region: 'us-chicago-1',
    oracle_compartment_id: 'c',
    oracle_tenancy: 't',
    oracle_user: 'u',
    oracle_fingerprint: '20:3b',
    oracle_private_key: String(privateKey.export({type: 'pkcs8', format: 'pem'})),
  },
} as const
const ROUTES = {
  '/v1/chat/completions': {messages: [{role: 'user', content: 'hi'}]},
  '/v1/completions': {prompt: 'hi'},
  '/v1/embeddings': {input: 'hi'},
  '/v1/images/generations': {prompt: 'hi'},
  '/v1/rerank': {query: 'hi', documents: ['a']},
  '/v1/messages': {max_tokens: 5, messages: [{role: 'user', content: 'hi'}]},
  '/v1/responses': {input: 'hi'},
}
const MODELS = ['\ud800', 'a\udfffb', 'publishers/google/models/\ud800', 'tunedModels/\udc00']

async function ask(kind: string, path: keyof typeof ROUTES, model: string) {
  const config = {provider: kind, api_key: 'sk-1', custom_host: provider.url, ...OPTIONS[kind as keyof typeof OPTIONS]}
  const answer = await gateway.call(path, {
    method: 'POST',
    body: JSON.stringify({model, ...ROUTES[path]}),
    headers: {'content-type': 'application/json', 'x-gateway-config': JSON.stringify(config)},
  })
  return {status: answer.status, text: await answer.text()}
}

test('no kind on any route makes a 500 of it', async () => {
  const failed: string[] = []
  const all = list()
  // Those whose bodies pass as they are differ in their place alone.
  const kinds = forRing({own: all.filter(({translations}) => translations), ci: all, full: all})
  for (const {slug} of kinds) {
    for (const path of Object.keys(ROUTES) as (keyof typeof ROUTES)[]) {
      const {status, text} = await ask(slug, path, MODELS[slug.length % MODELS.length]!)
      if (status === 500) failed.push(`${slug} ${path}: ${text.slice(0, 200)}`)
    }
  }
  expect(failed).toEqual([])
})

test.each(['google', 'vertex-ai', 'workers-ai'])('%s refuses it in a sentence', async kind => {
  for (const path of ['/v1/chat/completions', '/v1/embeddings', '/v1/images/generations'] as const) {
    expect(await ask(kind, path, '\ud800'), path).toMatchObject({
      status: 400,
      text: expect.stringContaining('The model holds half a character'),
    })
  }
})
