import {expect, test} from 'vitest'
import {scopesOfToken} from '../../src/identity/jwt/scopes.ts'

test.each([
  ['a text', {scope: 'completions.write logs.list'}, ['completions.write', 'logs.list']],
  ['a list', {scopes: ['completions.write', 'logs.list']}, ['completions.write', 'logs.list']],
  ['colons', {scope: 'completions:write'}, ['completions.write']],
  ['prefixes', {scope: 'portkey.completions.write gateway.logs:list'}, ['completions.write', 'logs.list']],
  ['unknown ones beside', {scope: 'openid email completions.write'}, ['completions.write']],
  ['several kinds of white space', {scope: ' completions.write\t\nlogs.list '}, ['completions.write', 'logs.list']],
  ['scope before scopes', {scope: 'logs.list', scopes: ['completions.write']}, ['logs.list']],
  ['what no list of texts holds', {scopes: [1, null, 'logs.list']}, ['logs.list']],
  ['none: the usual', {}, ['configs.list']],
  ['those of an admin key count for nothing', {scope: 'workspaces.create logs.list'}, ['logs.list']],
  [
    'it makes no keys',
    {scope: 'workspace_service_api_keys.create workspace_service_api_keys.list'},
    ['workspace_service_api_keys.list'],
  ],
])('scopes of a token: %s', (_, claims, expected) => {
  expect([...scopesOfToken(claims, ['configs.list'])]).toEqual(expected)
})

test.each([
  ['nothing known', {scope: 'openid'}],
  ['an empty text', {scope: ''}],
  ['an empty list', {scopes: []}],
  ['another kind', {scope: 5}],
  ['null', {scope: null}],
])('scopes of a token are refused: %s', (_, claims) => {
  expect(() => scopesOfToken(claims, ['configs.list'])).toThrow('The token has no scope that this gateway knows.')
})
