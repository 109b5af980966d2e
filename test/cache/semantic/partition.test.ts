import fc from 'fast-check'
import {expect, test} from 'vitest'
import {cacheKey, type KeyParts} from '../../../src/cache/key.ts'
import {partitionDigest} from '../../../src/cache/semantic/partition.ts'
import {semanticText} from '../../../src/cache/semantic/text.ts'
import '../../support/seed.ts'

const TEXTS = ['How do I reset my password?', 'how can I reset the password', 'Reset password, please']
const BODY = {
  model: 'm1',
  messages: [
    {role: 'system', content: 'Be brief.'},
    {role: 'user', content: 'first'},
    {role: 'assistant', content: 'answer'},
  ],
  temperature: 0.2,
  max_tokens: 100,
  tools: [{type: 'function', function: {name: 'f'}}],
  tool_choice: 'auto',
  response_format: {type: 'json_object'},
}
const PARTS: Omit<KeyParts, 'body'> = {
  organisation_id: 'o1',
  workspace_id: 'w1',
  provider: 'kind-a',
  base_url: 'https://a.example/v1',
  endpoint: 'chatComplete',
  path: '/chat/completions',
  model: 'm1',
  own_credential: null,
  guards: '',
  metadata: {_user: 'u1'},
  headers: {},
}
type Given = {readonly parts: typeof PARTS; readonly body: Readonly<Record<string, unknown>>; readonly embedder: string}

function partitionOf({parts, body, embedder}: Given, text: string): string {
  const whole = {...body, messages: [...(body.messages as object[]), {role: 'user', content: text}]}
  const found = semanticText('chatComplete', whole)!
  expect(found.text).toBe(text)
  const masked = cacheKey({...parts, body: Buffer.from(JSON.stringify({...whole, messages: found.masked}))})!
  return partitionDigest(masked, {embedder, gate_version: 1})
}

const other = fc.string({minLength: 1, maxLength: 12}).map(text => `other ${text}`)
const BASE: Given = {parts: PARTS, body: BODY, embedder: 'e1'}
/** One thing that differs. */
const difference: fc.Arbitrary<Given> = fc.oneof(
  fc
    .tuple(fc.constantFrom('organisation_id', 'workspace_id', 'provider', 'base_url', 'path', 'model', 'guards'), other)
    .map(([name, value]) => ({...BASE, parts: {...PARTS, [name]: value}})),
  other.map(own_credential => ({...BASE, parts: {...PARTS, own_credential}})),
  other.map(user => ({...BASE, parts: {...PARTS, metadata: {_user: user}}})),
  other.map(namespace => ({...BASE, parts: {...PARTS, namespace}})),
  other.map(value => ({...BASE, parts: {...PARTS, headers: {'openai-beta': value}}})),
  other.map(embedder => ({...BASE, embedder})),
  other.map(model => ({...BASE, body: {...BODY, model}})),
  other.map(content => ({...BASE, body: {...BODY, messages: [{role: 'system', content}, ...BODY.messages.slice(1)]}})),
  other.map(content => ({
    ...BASE,
    body: {...BODY, messages: [...BODY.messages.slice(0, 2), {role: 'assistant', content}]},
  })),
  fc.double({min: 0.21, max: 2, noNaN: true}).map(temperature => ({...BASE, body: {...BODY, temperature}})),
  fc.integer({min: 101}).map(max_tokens => ({...BASE, body: {...BODY, max_tokens}})),
  other.map(name => ({...BASE, body: {...BODY, tools: [{type: 'function', function: {name}}]}})),
  other.map(tool_choice => ({...BASE, body: {...BODY, tool_choice}})),
  other.map(name => ({...BASE, body: {...BODY, response_format: {type: 'json_schema', json_schema: {name}}}})),
  fc
    .constantFrom('temperature', 'max_tokens', 'tools', 'tool_choice', 'response_format')
    .map(name => ({...BASE, body: {...BODY, [name]: undefined}})),
  fc.tuple(other, fc.jsonValue({maxDepth: 2})).map(([name, value]) => ({...BASE, body: {...BODY, [name]: value ?? 1}})),
)

test('SC2: one thing beside the text differs, and no two requests meet', () => {
  const base = partitionOf(BASE, TEXTS[0]!)
  fc.assert(
    fc.property(difference, fc.constantFrom(...TEXTS), (given, text) => {
      expect(partitionOf(given, text)).not.toBe(base)
    }),
    {numRuns: 1_000},
  )
})

test('SC1: two workspaces never share a partition; other words of one request always do', () => {
  expect(new Set(TEXTS.map(text => partitionOf(BASE, text))).size).toBe(1)
  const elsewhere = {...BASE, parts: {...PARTS, workspace_id: 'w2'}}
  expect(partitionOf(elsewhere, TEXTS[0]!)).not.toBe(partitionOf(BASE, TEXTS[0]!))
})

test('SC18: a namespace parts in place of the metadata, and inside the workspace only', () => {
  const of = (more: object) => partitionOf({...BASE, parts: {...PARTS, namespace: 'n', ...more}}, TEXTS[0]!)
  expect(of({metadata: {_user: 'u2'}})).toBe(of({}))
  expect(of({workspace_id: 'w2'})).not.toBe(of({}))
  expect(of({organisation_id: 'o2'})).not.toBe(of({}))
  expect(of({own_credential: 'c'})).not.toBe(of({}))
  expect(of({guards: 'g'})).not.toBe(of({}))
})

test('SC44: what another embedder, or another gate, has stored is not found', () => {
  const key = {workspace_id: 'w', digest: 'd'}
  const digests = [
    partitionDigest(key, {embedder: 'builtin/1', gate_version: 1}),
    partitionDigest(key, {embedder: 'service', gate_version: 1}),
    partitionDigest(key, {embedder: 'builtin/1', gate_version: 2}),
  ]
  expect(new Set(digests).size).toBe(3)
})
