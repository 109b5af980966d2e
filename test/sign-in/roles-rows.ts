import {newId} from '../../src/base/ids.ts'
import {CHECKS, COVERS, DEPLOYMENT, type Place, PROMPT, SECRET} from '../admin/matrix-rows.ts'
import type {Sent} from './roles-house.ts'

interface CallPlace {
  readonly place: Place
  /** Of the person who calls. */
  readonly own_id: string
}

export type Call = (around: CallPlace) => Sent

/** A call of the administration; the address is after `/v1`. */
export function call(method: string, path: (place: Place) => string, body?: (around: CallPlace) => object): Call {
  return around => ({method, path: `/v1${path(around.place)}`, ...(body && {body: body(around)})})
}
const get = (path: (place: Place) => string) => call('GET', path)
const post = (path: string, body: (around: CallPlace) => object) => call('POST', () => path, body)

const KEY = {name: 'Made', scopes: ['completions.write']}
const TIMES = 'start_time=2026-03-01T00:00:00Z&end_time=2026-03-31T00:00:00Z'
const invited = () => ({email: `${newId()}@example.test`, role: 'member', workspaces: []})
export const keyOf = (user_id: (around: CallPlace) => string | undefined): Call =>
  post('/api-keys/workspace/user', around => ({
    ...KEY,
    workspace_id: around.place.workspace,
    user_id: user_id(around),
  }))
/** Gives a member of the workspace a role; before that he has the least. */
export const memberAs = (role: 'admin' | 'manager'): Call =>
  changing(p => `/admin/workspaces/${p.workspace}/users/${p.user}`, role)
/** The same in the organisation. */
export const roleIs = (role: 'owner' | 'admin'): Call => changing(p => `/admin/users/${p.user}`, role)

function changing(path: (place: Place) => string, role: string): Call {
  return around => ({
    ...call('PUT', path, () => ({role}))(around),
    first: call('PUT', path, () => ({role: 'member'}))(around),
  })
}

/**
 * The matrix of roles of the reference, row by row: who may (O owner, A admin of the organisation, N member in no
 * workspace, W admin, G manager, M member of a workspace), and calls of which each works for them and for none else.
 * Billing has no operation here; integrations and archived workspaces have tests of their own, as they are not found
 * rather than refused.
 */
export const ROWS: readonly (readonly [row: string, letters: string, calls: Readonly<Record<string, Call>>])[] = [
  [
    'settings of the organisation, security, sign-in and directories',
    'OA',
    {
      'reads settings': get(() => '/admin/organisation'),
      'changes settings': call(
        'PUT',
        () => '/admin/organisation',
        () => ({name: 'Organisation'}),
      ),
      'switches security': call(
        'PUT',
        () => '/admin/organisation',
        () => ({
          settings: {security: {prompts: {membersWritePrompts: false}}},
        }),
      ),
      'reads sign-in': get(() => '/admin/organisation/auth'),
      'changes sign-in': call(
        'PUT',
        () => '/admin/organisation/auth',
        () => ({jwt: {enabled: false}}),
      ),
      'lists tokens of directories': get(() => '/admin/organisation/scim-tokens'),
    },
  ],
  ['makes and deletes workspaces', 'OA', {'makes one': post('/admin/workspaces', () => ({name: 'Made'}))}],
  [
    'admin keys, audit logs, secret references, deployments',
    'OA',
    {
      'makes an admin key': post('/api-keys/organisation/service', () => ({name: 'Made', scopes: ['workspaces.list']})),
      'reads the audit log': get(p => `/audit-logs?${TIMES}&organisation_id=${p.organisation}`),
      'makes a secret reference': post('/secret-references', () => SECRET),
      'makes a deployment': post('/deployments', () => DEPLOYMENT),
    },
  ],
  [
    'users and invites of the organisation, and their roles',
    'OA',
    {
      'lists users': get(() => '/admin/users'),
      invites: post('/admin/users/invites', invited),
      'gives a role': roleIs('admin'),
    },
  ],
  ['adds members, and gives roles of the workspace', 'OAWG', {'gives a role': memberAs('manager')}],
  [
    'service keys of the workspace',
    'OAWG',
    {
      'makes one': post('/api-keys/workspace/service', ({place}) => ({...KEY, workspace_id: place.workspace})),
    },
  ],
  ['keys of any user', 'OAWG', {'makes one of another': keyOf(({place}) => place.user)}],
  [
    'makes and changes providers, configs, guardrails, tools and policies',
    'OAWG',
    {
      provider: post('/providers', ({place}) => ({
        name: 'Made',
        integration_id: place.integration,
        workspace_id: place.workspace,
      })),
      config: post('/configs', ({place}) => ({
        name: 'Made',
        config: {provider: 'openai'},
        workspace_id: place.workspace,
      })),
      guardrail: post('/guardrails', ({place}) => ({
        name: 'Made',
        checks: CHECKS,
        actions: {},
        workspace_id: place.workspace,
      })),
      tool: post('/mcp-servers', ({place}) => ({
        name: 'Made',
        mcp_integration_id: place.mcp_integration,
        workspace_id: place.workspace,
      })),
      policy: post('/policies/usage-limits', ({place}) => ({
        ...COVERS,
        ...{type: 'cost', credit_limit: 1000, workspace_id: place.workspace},
      })),
    },
  ],
  [
    'writes prompts',
    'OAWG',
    {
      'makes one': post('/prompts', ({place}) => ({
        ...PROMPT,
        ...{name: 'Made', collection_id: place.collection, virtual_key: place.virtual_key},
      })),
      'changes one': call(
        'PUT',
        p => `/prompts/${p.prompt}`,
        () => ({name: 'Changed'}),
      ),
    },
  ],
  [
    'reads what the workspace has',
    'OAWGM',
    {
      prompts: get(p => `/prompts?workspace_id=${p.workspace}`),
      configs: get(p => `/configs/${p.config}?workspace_id=${p.workspace}`),
      providers: get(p => `/providers?workspace_id=${p.workspace}`),
      logs: get(p => `/logs?workspace_id=${p.workspace}`),
      members: get(p => `/admin/workspaces/${p.workspace}/users`),
    },
  ],
  [
    'limits of the workspace',
    'OAW',
    {
      budget: call(
        'PUT',
        p => `/admin/workspaces/${p.workspace}`,
        () => ({
          usage_limits: [{type: 'cost', credit_limit: 1000, periodic_reset: 'monthly'}],
        }),
      ),
      rate: call(
        'PUT',
        p => `/admin/workspaces/${p.workspace}`,
        () => ({
          rate_limits: [{type: 'requests', unit: 'rpm', value: 60_000}],
        }),
      ),
    },
  ],
]
