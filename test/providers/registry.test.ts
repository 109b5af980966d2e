import {expect, test} from 'vitest'
import type {OutgoingHeaders} from '../../src/providers/provider.ts'
import {DEMO, find, list, nearestSlugs} from '../../src/providers/registry.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'

/** Every slug of the reference's catalogue, the newer ones it names too. */
const REFERENCE =
  `openai azure-openai azure-ai github anthropic bedrock sagemaker vertex-ai google palm cohere mistral-ai together-ai groq
  fireworks-ai deepseek x-ai openrouter perplexity-ai huggingface workers-ai ollama oracle cortex ai21 anyscale deepinfra ncompass
  stability-ai nomic segmind jina voyage reka-ai moonshot lingyi zhipu z-ai novita-ai monsterapi predibase triton deepbricks siliconflow
  cerebras inference-net sambanova lemonfox-ai upstage lambda dashscope nebius recraft-ai replicate lepton kluster-ai nscale hyperbolic
  bytez featherless-ai krutrim 302ai cometapi matterai nextbit modal iointelligence aibadgr ovhcloud qdrant milvus meshy tripo3d pinecone
  databricks bedrock-mantle claude-platform-aws byteplus minimax fal-ai deepgram passthrough`.split(/\s+/)
/** Engines that an operator runs. */
const LOCAL =
  `ollama vllm llama-cpp localai lm-studio tgi triton sglang infinity xinference text-embeddings-inference aphrodite
  docker-model-runner gpustack jan koboldcpp litellm llamafile lmdeploy mistral-rs mlx-lm nvidia-nim openllm openvino ray-serve speaches
  tabbyapi tensorrt-llm text-generation-webui`.split(/\s+/)
/** More that speak OpenAI's words; slugs as the price list has them, where it has them. */
const MORE =
  `aimlapi avian baseten chutes friendli gradient-ai inception morph nvidia parasail requesty scaleway stepfun v0 venice
  vercel-ai-gateway volcengine wandb`.split(/\s+/)

test('every provider of the reference is known, once, and at least 88 in all', () => {
  const slugs = list().map(({slug}) => slug)
  expect(slugs).toEqual([...new Set(slugs)])
  expect(slugs.toSorted()).toEqual([...new Set([...REFERENCE, ...LOCAL, ...MORE, DEMO])].sort())
  expect(slugs.length).toBeGreaterThanOrEqual(88)
})

test('every one can be called', () => {
  expect(list().filter(({available}) => !available)).toEqual([])
})

test('every address is https, without a slash at its end, a query or credentials', () => {
  const addresses = list().flatMap(({base_url}) => base_url ?? [])
  expect(addresses.length).toBeGreaterThan(75)
  for (const address of addresses) {
    const {protocol, search, hash, username, port} = new URL(address)
    expect({address, protocol, search, hash, username, port}).toEqual({
      address: address.replace(/\/$/, ''),
      protocol: 'https:',
      search: '',
      hash: '',
      username: '',
      port: '',
    })
  }
})

test('slugs, endpoints, paths and headers are well formed', () => {
  const names = new Set(ENDPOINTS.map(({name}) => name))
  for (const {slug, name, endpoints, paths = {}, headers = {}} of list()) {
    expect(slug).toMatch(/^[a-z0-9][a-z0-9-]*$/)
    expect(name).not.toBe('')
    if (endpoints !== 'all') expect(endpoints.filter(each => !names.has(each))).toEqual([])
    if (endpoints !== 'all') expect(endpoints).toEqual([...new Set(endpoints)])
    if (endpoints !== 'all')
      expect(Object.keys(paths).filter(each => !(endpoints as readonly string[]).includes(each))).toEqual([])
    for (const path of Object.values(paths)) expect(path).toMatch(/^\/[\w/-]+$/)
    for (const header of Object.keys(headers)) expect(header).toBe(header.toLowerCase())
  }
})

test('an endpoint is native or translated, not both', () => {
  for (const {slug, endpoints, translations, dialect} of list()) {
    const translated = Object.keys(translations?.endpoints ?? {})
    const both = endpoints === 'all' ? [] : endpoints.filter(each => translated.includes(each))
    expect({slug, both}).toEqual({slug, both: []})
    if (dialect === 'native') expect({slug, endpoints}).not.toEqual({slug, endpoints: 'all'})
  }
})

test('streams are metered only where bodies are OpenAI’s', () => {
  expect(list().filter(({stream_usage, dialect}) => stream_usage && dialect !== 'openai')).toEqual([])
})

test.each([
  ['openai', {authorization: 'Bearer k'}],
  ['groq', {authorization: 'Bearer k'}],
  ['anthropic', {'x-api-key': 'k'}],
  ['google', {'x-goog-api-key': 'k'}],
  ['cohere', {authorization: 'Bearer k'}],
  ['reka-ai', {'x-api-key': 'k'}],
  ['segmind', {'x-api-key': 'k'}],
  ['bytez', {authorization: 'Key k'}],
  ['qdrant', {'api-key': 'Bearer k'}],
  ['ollama', {authorization: 'Bearer k'}],
])('%s is told the key as it wants it', (slug, expected) => {
  const headers: OutgoingHeaders = {}
  const {auth} = find(slug)!
  auth.sign(headers, null)
  expect(headers).toEqual({})
  auth.sign(headers, 'k')
  expect(headers).toEqual(expected)
})

test('engines of one’s own need a host and no key', () => {
  for (const slug of LOCAL) {
    expect(find(slug)).toMatchObject({base_url: null, auth: {required: false}})
    expect(find(slug)!.baseUrlOf).toBeUndefined()
  }
})

test('other names are understood and not listed', () => {
  expect(find('open-ai')).toBe(find('openai'))
  expect(find('hugging-face')).toBe(find('huggingface'))
  expect(list().map(({slug}) => slug)).not.toContain('open-ai')
  for (const slug of ['', 'OpenAI', 'constructor', '__proto__', 'nobody']) expect(find(slug)).toBeUndefined()
})

test('a mistyped slug finds its nearest', () => {
  expect(nearestSlugs('antropic')[0]).toBe('anthropic')
  expect(nearestSlugs('opnai')[0]).toBe('openai')
  expect(nearestSlugs('qqqqqqqqqqqqqqqq')).toEqual([])
  expect(nearestSlugs('groq').length).toBeLessThanOrEqual(3)
})
