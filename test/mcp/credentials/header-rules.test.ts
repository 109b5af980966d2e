import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {makeKey} from '../../../src/identity/keys.ts'
import {forwardedHeaders, mergedHeaders} from '../../../src/mcp/credentials/header-rules.ts'
import type {McpForwardHeaders} from '../../../src/schema/mcp-configurations.ts'

const KEY = makeKey().key
const JWT = `${'eyJhbGciOiJSUzI1NiJ9'.repeat(2)}.${'e30'.repeat(20)}.${'c2ln'.repeat(20)}`
const ALL: McpForwardHeaders = {mode: 'all-except', headers: []}

describe('headers of clients', () => {
  test.each<[string, McpForwardHeaders | undefined, Record<string, string>, Record<string, string>]>([
    ['none without rules', undefined, {'x-a': '1'}, {}],
    ['a list', ['X-A'], {'x-a': '1', 'x-b': '2'}, {'x-a': '1'}],
    ['an allowlist', {mode: 'allowlist', headers: ['x-b']}, {'x-a': '1', 'x-b': '2'}, {'x-b': '2'}],
    ['a renamed one', {mode: 'allowlist', headers: [{from: 'X-A', to: 'X-Up'}]}, {'x-a': '1'}, {'x-up': '1'}],
    ['all but one', {mode: 'all-except', headers: ['x-a']}, {'x-a': '1', 'x-b': '2'}, {'x-b': '2'}],
    [
      'all but a renamed one, which is left out',
      {mode: 'all-except', headers: [{from: 'x-a', to: 'x-c'}]},
      {'x-a': '1', 'x-b': '2'},
      {'x-b': '2'},
    ],
    ['an absent one', ['x-a'], {}, {}],
    ['bytes that no header holds', ['x-a'], {'x-a': 'ä\u0000'}, {}],
    ['those that Connection names', ALL, {connection: 'x-a, close', 'x-a': '1', 'x-b': '2'}, {'x-b': '2'}],
    [
      'a token beside the key, renamed',
      [{from: 'authorization', to: 'x-up'}],
      {...key(), authorization: 'Bearer t'},
      {'x-up': 'Bearer t'},
    ],
    ['no token under its own name', ['authorization'], {...key(), authorization: 'Bearer t'}, {}],
    [
      'no target that is a credential',
      [
        {from: 'x-a', to: 'authorization'},
        {from: 'x-a', to: 'cookie'},
      ],
      {...key(), 'x-a': '1'},
      {},
    ],
    ['not the credential, renamed', [{from: 'authorization', to: 'x-up'}], {authorization: `Bearer ${KEY}`}, {}],
    ['not the credential in another header', ['x-a'], {authorization: `Bearer ${JWT}`, 'x-a': `old ${JWT}`}, {}],
    ['no key of this house at all', ['x-a'], {...key(), 'x-a': makeKey().key}, {}],
    ['no token of this house', ['x-a'], {'x-a': 'mcp_at_0123456789abcdefghij'}, {}],
    ['no trace with all', ALL, {traceparent: '00-1', 'x-a': '1'}, {'x-a': '1'}],
    ['a trace that is named', ['traceparent'], {traceparent: '00-1'}, {traceparent: '00-1'}],
  ])('%s', (_, forward, client, expected) => {
    expect(forwardedHeaders(client, {forward, never: []})).toEqual(expected)
  })

  test('fact 46: names of identities and of the second token stay here, as source and as target', () => {
    const never = ['X-Who', 'x-second']
    const client = {'x-who': 'a', 'x-second': 'b', 'x-user-claims': '{}', 'x-user-jwt': 'j', 'x-a': '1'}
    expect(forwardedHeaders(client, {forward: ALL, never})).toEqual({'x-a': '1'})
    const renamed = ['x-who', 'x-second', 'x-user-claims', 'x-user-jwt'].map(to => ({from: 'x-a', to}))
    expect(forwardedHeaders(client, {forward: renamed, never})).toEqual({})
  })

  test('more than 64 KiB in all are not forwarded', () => {
    const client = Object.fromEntries(Array.from({length: 10}, (_, at) => [`x-${at}`, 'a'.repeat(16_000)]))
    const sent = forwardedHeaders(client, {forward: ALL, never: []})
    expect(Object.keys(sent)).toEqual(['x-0', 'x-1', 'x-2', 'x-3'])
  })

  test('fact 45: whatever a client sends and an integration forwards, no credential of ours goes upstream', () => {
    const secret = fc.constantFrom(KEY, JWT, 'mcp_at_0123456789abcdefghijklmnop', `gs-${'s'.repeat(43)}`)
    const name = fc.constantFrom(
      ...['authorization', 'cookie', 'x-gateway-api-key', 'x-portkey-api-key', 'x-api-key', 'x-gateway-config'],
      ...['mcp-session-id', 'x-forwarded-for', 'host', 'connection', 'x-a', 'x-b', 'proxy-authorization', 'x-user-jwt'],
    )
    const wrapped = (text: string) =>
      fc.constantFrom(text, `Bearer ${text}`, ` a=${text}; b=c`, `Basic ${Buffer.from(`u:${text}`).toString('base64')}`)
    const sent = fc.dictionary(name, fc.oneof(fc.string(), secret.chain(wrapped)))
    const listed = fc.array(fc.oneof(name, fc.record({from: name, to: name})))
    const forward = fc.oneof(
      listed,
      fc.record({mode: fc.constantFrom('allowlist' as const, 'all-except' as const), headers: listed}),
    )
    const credential = fc.constantFrom<Record<string, string>>(
      {'x-gateway-api-key': KEY},
      {authorization: `Bearer ${KEY}`},
      {authorization: `Bearer ${JWT}`},
      {authorization: JWT},
      {'x-portkey-api-key': JWT},
    )
    fc.assert(
      fc.property(sent, credential, forward, (client, own, rules) => {
        const headers = {...client, ...own}
        const upstream = forwardedHeaders(headers, {forward: rules as McpForwardHeaders, never: []})
        const keys = [headers['x-gateway-api-key'], headers['x-portkey-api-key']].map(text => text?.trim())
        const presented = keys.find(Boolean) ?? own.authorization!.replace('Bearer ', '')
        for (const [to, value] of Object.entries(upstream)) {
          expect(to).not.toMatch(/^(?:authorization|cookie|host|connection|x-gateway|x-portkey|mcp|proxy|x-forwarded)/)
          expect(to).not.toMatch(/^x-(?:api-key|user-jwt)$/)
          for (const text of [value, Buffer.from(value.replace('Basic ', ''), 'base64').toString()]) {
            expect(text).not.toContain(KEY)
            if (presented.length > 3) expect(text).not.toContain(presented)
            expect(text).not.toMatch(/mcp_at_|gs-s/)
          }
        }
      }),
      {numRuns: 500},
    )
  })
})

describe('the order of headers', () => {
  test.each([
    ['custom over forwarded', {forwarded: {'x-a': 'f'}, custom: {'X-A': 'c'}}, {'x-a': 'c'}],
    ['passthrough over custom', {custom: {'x-a': 'c'}, passthrough: {'X-A': 'p'}}, {'x-a': 'p'}],
    [
      'identity over all',
      {custom: {'x-user': 'c'}, passthrough: {'x-user': 'p'}, identity: {'X-User': 'i'}},
      {'x-user': 'i'},
    ],
    [
      'a fetched token over what is configured',
      {custom: {Authorization: 'c'}, authorization: 'Bearer t', passthrough: {authorization: 'p'}},
      {authorization: 'Bearer t'},
    ],
    ['a configured one where none is fetched', {custom: {Authorization: 'c'}}, {authorization: 'c'}],
  ])('%s', (_, sources, expected) => {
    expect(mergedHeaders({forwarded: {}, identity: {}, ...sources})).toEqual(expected)
  })
})

function key() {
  return {'x-gateway-api-key': KEY}
}
