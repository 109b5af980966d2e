import {expect, test} from 'vitest'
import type {OutgoingHeaders} from '../../src/providers/provider.ts'
import {DEMO, find, list, nearestSlugs} from '../../src/providers/registry.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'

/** Every slug of the reference's catalogue, and the engines that have one of their own here. */
const KNOWN = `openai azure-openai azure-ai github anthropic bedrock sagemaker vertex-ai google palm cohere mistral-ai together-ai groq
  fireworks-ai deepseek x-ai openrouter perplexity-ai huggingface workers-ai ollama oracle cortex ai21 anyscale deepinfra ncompass
  stability-ai nomic segmind jina voyage reka-ai moonshot lingyi zhipu z-ai novita-ai monsterapi predibase triton deepbricks siliconflow
  cerebras inference-net sambanova lemonfox-ai upstage lambda dashscope nebius recraft-ai replicate lepton kluster-ai nscale hyperbolic
  bytez featherless-ai krutrim 302ai cometapi matterai nextbit modal iointelligence aibadgr ovhcloud qdrant milvus meshy tripo3d pinecone
  databricks bedrock-mantle claude-platform-aws byteplus minimax fal-ai deepgram passthrough vllm llama-cpp localai lm-studio tgi`.split(
  /\s+/,
)

test('every provider of the reference is known, once', () => {
  const slugs = list().map(({slug}) => slug)
  expect(slugs).toEqual([...new Set(slugs)])
  expect(slugs).toEqual(expect.arrayContaining(KNOWN))
  expect(slugs.toSorted()).toEqual([...KNOWN, DEMO].toSorted())
})

test('every address is https, without a slash at its end, a query or credentials', () => {
  const addresses = list().flatMap(({base_url}) => base_url ?? [])
  expect(addresses.length).toBeGreaterThan(60)
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
    if (endpoints !== 'all') expect(Object.keys(paths).filter(each => !(endpoints as readonly string[]).includes(each))).toEqual([])
    for (const path of Object.values(paths)) expect(path).toMatch(/^\/[\w/-]+$/)
    for (const header of Object.keys(headers)) expect(header).toBe(header.toLowerCase())
  }
})

test('a provider whose host must be made is not available, and has no address', () => {
  const later = list().filter(({available}) => !available)
  expect(later.length).toBeGreaterThan(5)
  expect(later.every(({base_url, dialect}) => base_url === null && dialect === 'native')).toBe(true)
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
  for (const slug of ['ollama', 'vllm', 'llama-cpp', 'localai', 'lm-studio', 'tgi']) {
    expect(find(slug)).toMatchObject({base_url: null, auth: {required: false}})
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
