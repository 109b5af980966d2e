import {describe, expect, test} from 'vitest'
import {bearerChallenge} from '../../../src/mcp/credentials/oauth-upstream/challenge.ts'
import {isResourceOf, isSameIssuer} from '../../../src/mcp/credentials/oauth-upstream/issuers.ts'

const AT = 'https://a.example/.well-known/oauth-protected-resource'

describe('MC20: the challenge of an upstream', () => {
  test.each<[string, string | readonly string[] | null, string | null, string | null]>([
    ['alone', `Bearer resource_metadata="${AT}"`, AT, null],
    ['with a scope', `Bearer realm="x", scope="a b", resource_metadata="${AT}"`, AT, 'a b'],
    ['behind another in one line', `Basic realm="x", Bearer resource_metadata="${AT}"`, AT, null],
    ['in another line', ['Basic realm="x"', `Bearer resource_metadata="${AT}"`], AT, null],
    ['before another', `Bearer scope="a", resource_metadata="${AT}", Basic realm="x", scope="b"`, AT, 'a'],
    ['without quotes', `bearer resource_metadata=${AT}`, AT, null],
    [
      'with quoted quotes',
      `Bearer realm="a \\"Bearer\\", resource_metadata=\\"no\\"", resource_metadata="${AT}"`,
      AT,
      null,
    ],
    ['with a token of another scheme before', `Negotiate YWJj==, Bearer resource_metadata="${AT}"`, AT, null],
    ['empty', 'Bearer', null, null],
  ])('%s', (_, header, resource_metadata, scope) => {
    expect(bearerChallenge(header)).toEqual({resource_metadata, scope})
  })

  test.each([null, undefined, '', 'Basic realm="x"', 'Basic realm="Bearer resource_metadata=x"', '"=,'])(
    'none in %j',
    header => {
      expect(bearerChallenge(header)).toBeNull()
    },
  )

  test('a long one costs little', () => {
    const began = performance.now()
    bearerChallenge(`Bearer ${'a="\\'.repeat(100_000)}`)
    expect(performance.now() - began).toBeLessThan(500)
  })
})

test.each([
  ['https://a.example', 'https://a.example/', true],
  ['https://a.example/', 'https://a.example/', true],
  ['https://a.example/t1', 'https://a.example/t1/', false],
  ['https://a.example/t1', 'https://a.example', false],
  ['https://a.example', 'https://A.example', false],
  ['https://a.example//', 'https://a.example/', false],
])('MC20: %s and %s are one issuer: %s', (one, other, is_same) => {
  expect([isSameIssuer(one, other), isSameIssuer(other, one)]).toEqual([is_same, is_same])
})

test.each([
  ['https://a.example/mcp', true],
  ['https://a.example/mcp/', true],
  ['https://a.example', true],
  ['https://a.example/', true],
  ['https://a.example/mc', false],
  ['https://a.example/mcp/more', false],
  ['https://b.example/mcp', false],
  ['http://a.example/mcp', false],
  ['mcp', false],
])('the resource %s is that of https://a.example/mcp: %s', (resource, is_of) => {
  expect(isResourceOf(resource, 'https://a.example/mcp')).toBe(is_of)
})
