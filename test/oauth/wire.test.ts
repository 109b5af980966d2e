import {expect, test} from 'vitest'
import {challengeOf} from '../../src/identity/mcp-oauth/challenge.ts'
import {answerAt, matchesRedirect, readRedirect} from '../../src/identity/mcp-oauth/redirect-uris.ts'
import {protectedResourcePath, readResource} from '../../src/identity/mcp-oauth/resources.ts'
import {boundedScopes, coversScopes, hasMcpScope, readScopes} from '../../src/identity/mcp-oauth/scopes.ts'
import {resourceDocument, serverDocument} from '../../src/oauth/wire/documents.ts'
import {isVerifierOf} from '../../src/oauth/wire/pkce.ts'
import {CHALLENGE, VERIFIER} from './house.ts'

const BASE = 'https://gw.example.test'

test.each([
  ['https://app.example.test/cb', 'web', 'app.example.test'],
  ['https://app.example.test:8443/cb?tenant=1', 'web', 'app.example.test:8443'],
  ['HTTPS://App.Example.Test/cb', 'web', 'app.example.test'],
  ['http://localhost/cb', 'loopback', 'localhost'],
  ['http://127.0.0.1:33418', 'loopback', '127.0.0.1:33418'],
  ['http://[::1]:9/cb', 'loopback', '[::1]:9'],
  ['https://localhost:9/cb', 'loopback', 'localhost:9'],
  ['cursor://anysphere.cursor-mcp/oauth/callback', 'private', 'cursor:'],
  ['vscode://vscode.github-authentication/did-authenticate', 'private', 'vscode:'],
  ['com.example.app:/cb', 'private', 'com.example.app:'],
  ['zed://cb', 'private', 'zed:'],
])('a client may be sent to %s', (uri, kind, shown) => {
  expect(readRedirect(uri, new Set(['zed']))).toMatchObject({kind, shown})
})

test.each([
  ['http://app.example.test/cb', 'plain http to another machine'],
  ['http://localhost.evil.test/cb', 'a name that begins like this machine'],
  ['http://127.0.0.1.evil.test/cb', 'the same by address'],
  ['http://127.1/cb', 'an address that a parser completes'],
  ['http://0x7f000001/cb', 'the same in hexadecimal'],
  ['http://0.0.0.0/cb', 'any address'],
  ['http://localhost@evil.test/cb', 'a user'],
  ['https://app.example.test@evil.test/cb', 'a user that looks like a host'],
  ['https://evil.test\\@app.example.test/cb', 'a backslash'],
  ['https:evil.test/cb', 'no slashes'],
  ['https:/evil.test/cb', 'one slash'],
  ['https:///evil.test/cb', 'no host'],
  ['//evil.test/cb', 'no scheme'],
  ['/cb', 'a path'],
  ['', 'nothing'],
  ['https://app.example.test/cb#x', 'a fragment'],
  ['https://app.example.test/cb#', 'an empty fragment'],
  ['https://app.example.test/c b', 'a space'],
  ['https://app.example.test/cb\r\nset-cookie: a=b', 'a line end'],
  ['https://app.example.test\t/cb', 'a tab, which parsers drop'],
  ['https://app.éxample.test/cb', 'letters that have a twin'],
  ['https://a;script-src*/cb', 'a host that would write a policy'],
  ['https://app.example.test:0/cb', 'port 0'],
  ['https://app.example.test:99999/cb', 'a port beyond all'],
  ['https://1.2.3/cb', 'an address that a parser completes'],
  ['https://app.example.test/cb?code=1', 'a code of its own'],
  ['https://app.example.test/cb?a=1&iss=x', 'an issuer of its own'],
  ['javascript:alert(1)', 'a script'],
  ['javascript://app.example.test/%0aalert(1)', 'a script that looks like an address'],
  ['data:text/html,x', 'a page'],
  ['file:///etc/passwd', 'a file'],
  ['zed2://cb', 'a scheme that no one named'],
  ['com.example.app://user@x/cb', 'a user behind a scheme of an app'],
  ['com.example.app:', 'a scheme alone'],
  ['<script>://x', 'no scheme at all'],
  [`https://app.example.test/${'a'.repeat(2048)}`, 'too long'],
])('no client may be sent to %s: %s', uri => {
  expect(readRedirect(uri, new Set(['zed']))).toBeNull()
})

test.each([
  ['https://a.test/cb', 'https://a.test/cb', true],
  ['https://a.test/cb', 'https://a.test/cb/', false],
  ['https://a.test/cb', 'https://a.test/CB', false],
  ['https://a.test/cb', 'https://A.test/cb', false],
  ['https://a.test/cb', 'https://a.test:443/cb', false],
  ['https://a.test/cb', 'https://a.test/cb?x=1', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:5000/cb', true],
  ['http://127.0.0.1:4000/cb', 'http://127.0.0.1:5000/cb', true],
  ['http://localhost:4000/cb', 'http://localhost/cb', true],
  ['http://[::1]:4000/cb', 'http://[::1]:1/cb', true],
  ['http://127.0.0.1/cb', 'http://localhost/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:5000/other', false],
  ['http://127.0.0.1/cb', 'https://127.0.0.1:5000/cb', false],
  ['https://localhost:1/cb', 'https://localhost:2/cb', false],
])('fact 8: registered %s, sent %s: %s', (registered, asked, matches) => {
  expect(matchesRedirect(registered, asked)).toBe(matches)
})

test('an answer keeps the redirect URI of the client letter by letter', () => {
  const iss = BASE
  expect(answerAt('https://a.test/cb?x=%2f', {code: 'a b', state: undefined, iss})).toBe(
    'https://a.test/cb?x=%2f&code=a+b&iss=https%3A%2F%2Fgw.example.test',
  )
  expect(answerAt('cursor://a/cb', {code: 'c', state: 'é&iss=x'})).toBe('cursor://a/cb?code=c&state=%C3%A9%26iss%3Dx')
})

test.each([
  [`${BASE}/docs/mcp`, null, 'docs'],
  [`${BASE}/docs/mcp/`, null, 'docs'],
  [`${BASE}/team/docs/mcp`, 'team', 'docs'],
  ['HTTPS://GW.Example.Test/docs/mcp', null, 'docs'],
])('the resource %s names a server', (text, workspace, server) => {
  expect(readResource(text, BASE)).toEqual({workspace, server})
})

test.each([
  BASE,
  `${BASE}/`,
  `${BASE}/mcp`,
  `${BASE}/docs`,
  `${BASE}/docs/mcp//`,
  `${BASE}//docs/mcp`,
  `${BASE}/docs/MCP`,
  `${BASE}/docs/sse`,
  `${BASE}/a/b/docs/mcp`,
  `${BASE}/docs/mcp?x=1`,
  `${BASE}/docs/mcp#x`,
  `${BASE}/d%6fcs/mcp`,
  `${BASE}/../docs/mcp`,
  `${BASE}:443/docs/mcp`,
  `${BASE}.evil.test/docs/mcp`,
  'https://gw.example.test@evil.test/docs/mcp',
  'http://gw.example.test/docs/mcp',
  'https://evil.test/docs/mcp',
  '/docs/mcp',
  'urn:docs',
  '',
])('the resource %s names no server of this gateway', text => {
  expect(readResource(text, BASE)).toBeNull()
})

test.each([
  [undefined, 'mcp:tools:list mcp:tools:call'],
  ['offline_access', 'mcp:tools:list mcp:tools:call'],
  ['  ', 'mcp:tools:list mcp:tools:call'],
  ['mcp:tools:list', 'mcp:tools:list'],
  ['openid profile offline_access mcp:tools:list mcp:tools:call admin:all', 'mcp:tools:list mcp:tools:call'],
  ['mcp mcp', 'mcp'],
  ['mcp:tools:*', 'mcp:tools:*'],
  ['openid', null],
  ['*', null],
  [':*', null],
  ['mcp:other:*', null],
  ['MCP', null],
])('fact 75: the scope %o asks for %o', (text, scopes) => {
  expect(readScopes(text)?.join(' ') ?? null).toBe(scopes)
})

test.each([
  ['mcp', true, true, true],
  ['mcp:*', true, true, true],
  ['mcp:read', true, false, false],
  ['mcp:write', false, true, false],
  ['mcp:tools:*', true, true, false],
  ['mcp:servers:*', false, false, true],
  ['mcp:servers:read', false, false, true],
  ['mcp:tools:list', true, false, false],
  ['mcp:tools', false, false, false],
  ['mcp:tools:list:*', false, false, false],
])('%s lets list %s, call %s, read the registry %s', (scope, lists, calls, reads) => {
  const has = (needed: Parameters<typeof hasMcpScope>[1]) => hasMcpScope([scope], needed)
  expect([has('mcp:tools:list'), has('mcp:tools:call'), has('mcp:servers:read')]).toEqual([lists, calls, reads])
})

test('a wider scope covers a narrower one, not the other way round', () => {
  expect(coversScopes(['mcp'], ['mcp:tools:call', 'mcp:servers:*'])).toBe(true)
  expect(coversScopes(['mcp:tools:list', 'mcp:tools:call'], ['mcp'])).toBe(false)
  expect(boundedScopes(['mcp'], ['mcp:tools:list'])).toEqual(['mcp:tools:list'])
  expect(boundedScopes(['mcp:tools:call'], ['mcp:tools:list'])).toEqual([])
})

test('PKCE takes the verifier of its challenge alone', () => {
  expect(isVerifierOf(CHALLENGE, VERIFIER)).toBe(true)
  expect(isVerifierOf(CHALLENGE, `${VERIFIER}v`)).toBe(false)
  expect(isVerifierOf(VERIFIER, VERIFIER)).toBe(false)
  expect(isVerifierOf(CHALLENGE, 'v'.repeat(42))).toBe(false)
})

test('fact 1: a challenge has every quote closed, and names its document', () => {
  const path = {workspace: null, server: 'docs'}
  expect(challengeOf({base: BASE, path, scopes: ['mcp:tools:list', 'mcp:tools:call']})).toBe(
    'Bearer realm="gateway", ' +
      'resource_metadata="https://gw.example.test/.well-known/oauth-protected-resource/docs/mcp", ' +
      'scope="mcp:tools:list mcp:tools:call"',
  )
  const challenge = challengeOf({base: BASE, path, error: 'invalid_token', error_description: 'a "b\\\r\n', scopes: []})
  expect(challenge).toContain('error="invalid_token", error_description="a \\"b\\\\"')
})

test('facts 2 and 3: documents name the address that was typed, and one issuer', () => {
  const facts = {base_url: BASE, reads_client_documents: false}
  const names = {workspace: 'team', server: 'docs'}
  const resource = resourceDocument(names, facts)
  const server = serverDocument(facts)
  expect(resource.resource).toBe(`${BASE}/team/docs/mcp`)
  expect(protectedResourcePath(names)).toBe('/.well-known/oauth-protected-resource/team/docs/mcp')
  expect(resource.authorization_servers[0]).toBe(server.issuer)
  expect(server.scopes_supported).toContain('offline_access')
  expect(resource.scopes_supported).not.toContain('offline_access')
  expect(server.introspection_endpoint_auth_methods_supported).not.toContain('none')
})
