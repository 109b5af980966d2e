import {expect, test} from 'vitest'
import {heldByKey, isAllowed, operatorOf, ungrantable} from '../../src/identity/access.ts'
import {holdersOf, NEWER_SCOPES, plainScope, SCOPES, scopesOf} from '../../src/identity/scopes.ts'
import type {ApiKeyKind} from '../../src/store/tables/identity.ts'

const KINDS = ['organisation-service', 'workspace-service', 'workspace-user'] as const

test('there are 139 scopes, and every one has a holder', () => {
  expect(SCOPES.size).toBe(139)
  expect([...SCOPES].filter(scope => !holdersOf(scope).length)).toEqual([])
  for (const scope of SCOPES) expect(scope).toMatch(/^[a-z_]+\.[a-z]+$/)
})

test('29 are marked as newer than the release that the others are of (reference: scopes)', () => {
  const of = (resource: string, actions: string) => actions.split(' ').map(action => `${resource}.${action}`)
  const all = 'create read update delete list'
  const newer = [
    ...['organisation', 'workspace'].flatMap(kind => of(`${kind}_service_api_keys`, 'rotate')),
    ...of('workspace_user_api_keys', 'rotate'),
    ...of('organisation_settings', 'read update'),
    ...of('organisation_guardrails', all),
    ...of('organisation_exclusions', 'update list'),
    ...of('guardrails', 'invoke'),
    ...['organisation_agent_integrations', 'workspace_agent_integrations', 'agent_servers'].flatMap(resource =>
      of(resource, all),
    ),
    ...of('agents', 'invoke'),
  ]
  expect([...NEWER_SCOPES].sort()).toEqual(newer.sort())
  expect(newer).toHaveLength(29)
})

test.each([
  ['workspaces.create', ['organisation-service']],
  ['workspaces.read', KINDS],
  ['audit_logs.list', ['organisation-service']],
  ['workspace_user_api_keys.create', ['organisation-service', 'workspace-service']],
  ['completions.write', ['workspace-service', 'workspace-user']],
  ['mcp.invoke', ['workspace-service', 'workspace-user']],
  ['organisation_integrations.list', KINDS],
  ['organisation_integrations.create', ['organisation-service']],
  ['prompts.render', ['workspace-service', 'workspace-user']],
  ['virtual_keys.duplicate', KINDS],
  ['nothing.at_all', []],
])('%s can be held by %j', (scope, kinds) => {
  expect(holdersOf(scope)).toEqual(kinds)
})

test('a user key can hold nothing that a service key of its workspace cannot', () => {
  expect([...scopesOf('workspace-user')].filter(scope => !scopesOf('workspace-service').has(scope))).toEqual([])
})

test('a colon is as good as a dot', () => {
  expect(plainScope('deployments:create')).toBe('deployments.create')
  expect(plainScope('policies.create')).toBe('policies.create')
  for (const scope of SCOPES) expect(plainScope(scope.replace('.', ':'))).toBe(scope)
})

test('any one scope suffices; list is not read', () => {
  const key = {scopes: new Set(['configs.list'])}
  expect(isAllowed(key, ['configs.read', 'configs.list'])).toBe(true)
  expect(isAllowed(key, ['configs.read'])).toBe(false)
  expect(isAllowed(key, [])).toBe(false)
})

test('a scope that the kind cannot hold does not count', () => {
  expect([...heldByKey('workspace-service', ['workspaces.create', 'logs.list'])]).toEqual(['logs.list'])
  expect([...heldByKey('organisation-service', ['completions.write'])]).toEqual([])
})

test('the operator may do everything', () => {
  expect(isAllowed(operatorOf('o'), ['workspaces.delete'])).toBe(true)
  expect(ungrantable(operatorOf('o'), ['completions.write', 'workspaces.delete'])).toEqual([])
})

test('only what is held can be given, save what no admin key can hold', () => {
  const keyOf = (key_kind: ApiKeyKind) => ({
    subject: {kind: 'api_key', id: 'k', key_kind, user_id: null} as const,
    scopes: new Set(['logs.list']),
  })
  const workspace = keyOf('workspace-service')
  expect(ungrantable(workspace, ['logs.list', 'logs.view', 'completions.write'])).toEqual([
    'logs.view',
    'completions.write',
  ])
  const admin = keyOf('organisation-service')
  expect(ungrantable(admin, ['logs.list', 'logs.view', 'completions.write'])).toEqual(['logs.view'])
})
