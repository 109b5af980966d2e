import fc from 'fast-check'
import {expect, test} from 'vitest'
import {hostLabel, joinPath} from '../../../src/base/egress/path.ts'

test('the request path stands below the base path, as it came', () => {
  expect(joinPath('/v1', '/chat/completions?a=%2F..&b=/../')).toBe('/v1/chat/completions?a=%2F..&b=/../')
  expect(joinPath('', '/files/%2e/a%20b%C3%A4/...')).toBe('/files/%2e/a%20b%C3%A4/...')
  expect(joinPath('/v1', '/a..b/..c/d../.well-known')).toBe('/v1/a..b/..c/d../.well-known')
})

test.each([
  '',
  'chat',
  '?a',
  '//host/x',
  '/\\host',
  '\\\\host',
  '/a\\..\\b',
  '/..',
  '/../x',
  '/a/../../x',
  '/a/..',
  '/%2e%2e/x',
  '/.%2E/x',
  '/%2E./x',
  '/a%2f..%2fb',
  '/a/..%2f',
  '/a/%2e%2e%5cb',
  '/..;/x',
  '/..%3b/x',
  '/a#b',
  '/a?b#c',
  '/a b',
  '/a\tb',
  '/a\r\nhost: b',
  '/ä',
  '/a\x7f',
  'http://host/',
  '@host/',
])('%j is refused', path => {
  expect(() => joinPath('/v1', path)).toThrow(expect.objectContaining({code: 'body.invalid'}))
})

test('whatever is joined stays below the base path for a URL parser', () => {
  const piece = fc.constantFrom('/', '.', '..', '%2e', '%2f', '\\', '?', '#', 'a', ';', '@', ':', '%5c')
  fc.assert(
    fc.property(fc.array(piece, {maxLength: 12}), pieces => {
      let joined: string
      try {
        joined = joinPath('/base', `/${pieces.join('')}`)
      } catch {
        return
      }
      const url = new URL(`http://host.example${joined}`)
      expect(url.host).toBe('host.example')
      expect(url.pathname.startsWith('/base/')).toBe(true)
    }),
    {numRuns: 2000},
  )
})

test('what enters a host template is one plain label', () => {
  expect(hostLabel('My-Resource-1', 'the resource name')).toBe('my-resource-1')
  for (const text of [
    '',
    'a.b',
    'a/b',
    'evil.example#',
    'evil?',
    'a@b',
    'a:1',
    '-a',
    'a-',
    'a_b',
    'a%2e',
    'ä',
    'a\n',
    'xn--a',
    'a'.repeat(64),
    'ａ',
    '…',
  ]) {
    expect(() => hostLabel(text, 'the resource name'), text).toThrow(/the resource name takes a-z/)
  }
})
