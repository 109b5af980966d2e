import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Database from 'better-sqlite3'
import {afterAll, beforeAll, describe, expect, onTestFinished, test, vi} from 'vitest'
import {OPERATIONS} from '../src/admin/registry.ts'
import {FLAGS, type FlagName} from '../src/settings/flags.ts'
import {run} from './cli/support.ts'
import {ADMIN_KEY, startGateway, type TestGateway, WORKSPACE_KEY} from './support/gateway.ts'

/** Operations that are gone while a flag is off, and how they say so (decisions: flags off). */
const GONE: Readonly<Record<FlagName, {readonly paths: RegExp; readonly status: number; readonly errorCode: string}>> =
  {
    guardrails: {paths: NEVER(), status: 403, errorCode: 'AB03'},
    api_access: {paths: /^/, status: 403, errorCode: 'AB03'},
    data_exports: {paths: /^\/logs\/exports(\/|$)/, status: 403, errorCode: 'AB03'},
    usage_limits: {paths: NEVER(), status: 403, errorCode: 'AB03'},
    audit_logs: {paths: NEVER(), status: 403, errorCode: 'AB03'},
    scim: {paths: /^\/scim\/|\/scim-tokens\b/, status: 404, errorCode: 'AB08'},
    policy: {paths: /^\/policies\//, status: 403, errorCode: 'AB03'},
  }
function NEVER() {
  return /$^/
}

/**
 * What a gateway does with everything on, by what is tried; numbers are the status of the answer or the exit code of
 * the command.
 */
const ON = {
  'a call': 200,
  'a call that a guardrail of its config denies': 446,
  'a call that a default guardrail of its workspace denies': 446,
  'a guardrail tried by POST /guardrails/test': 200,
  'a call with a key that may make none': 429,
  'a call with a key that has used up its budget': 412,
  'a call in a workspace that may make none': 429,
  'a call by a provider that may make none': 429,
  'a call over a rate policy': 429,
  'a call over a usage policy': 412,
  'entities in GET /limits': 'key provider',
  'GET /v1/models with the key of a workspace': 200,
  'GET /v1/configs with a key': 200,
  'GET /v1/model-configs/pricing without a key': 200,
  'GET /model-configs/pricing without a key': 200,
  'GET /v1/logs with a key': 200,
  'GET /v1/logs/exports with a key': 200,
  'the address of a file that was exported': 200,
  'GET /v1/policies/usage-limits with a key': 200,
  'GET /v1/policies/rate-limits with a key': 200,
  'GET /v1/scim/workspaces with a key': 200,
  'GET /v1/scim/workspaces without a key': 401,
  'GET /v1/scim/groups with a key': 200,
  'GET /v1/scim/v2/Users': 401,
  'GET /v1/mcp-servers/none/tokens': 404,
  'GET /livez': 200,
  'GET /metrics': 200,
  'rows that a write leaves in the audit log': 1,
  'rows that GET /audit-logs shows': 'some',
  'gateway configs list': 0,
  'gateway guardrails list': 0,
  'gateway policies rate list': 0,
  'gateway logs export list': 0,
  'gateway audit list': 'rows',
  'gateway audit verify': 0,
  'gateway users list': 0,
} as const
type Probe = keyof typeof ON

/** What is different when a flag is `OFF`; all else is as it was. */
const OFF: Readonly<Record<FlagName, Partial<Record<Probe, unknown>>>> = {
  guardrails: {
    'a call that a guardrail of its config denies': 200,
    'a call that a default guardrail of its workspace denies': 200,
  },
  api_access: {
    'GET /v1/configs with a key': 403,
    'GET /v1/model-configs/pricing without a key': 403,
    'GET /model-configs/pricing without a key': 403,
    'GET /v1/logs with a key': 403,
    'GET /v1/logs/exports with a key': 403,
    'the address of a file that was exported': 403,
    'GET /v1/policies/usage-limits with a key': 403,
    'GET /v1/policies/rate-limits with a key': 403,
    'GET /v1/scim/workspaces with a key': 403,
    'GET /v1/scim/groups with a key': 403,
    'GET /v1/scim/workspaces without a key': 403,
    'GET /v1/mcp-servers/none/tokens': 403,
  },
  data_exports: {
    'GET /v1/logs/exports with a key': 403,
    'the address of a file that was exported': 403,
    'gateway logs export list': 4,
  },
  usage_limits: {
    'a call with a key that may make none': 200,
    'a call with a key that has used up its budget': 200,
    'a call in a workspace that may make none': 200,
    'a call by a provider that may make none': 200,
    'entities in GET /limits': '',
  },
  audit_logs: {
    'rows that a write leaves in the audit log': 0,
    'rows that GET /audit-logs shows': 'none',
    'gateway audit list': 'no rows',
  },
  scim: {
    'GET /v1/scim/workspaces with a key': 404,
    'GET /v1/scim/groups with a key': 404,
    'GET /v1/scim/workspaces without a key': 404,
    'GET /v1/scim/v2/Users': 404,
  },
  policy: {
    'a call over a rate policy': 200,
    'a call over a usage policy': 200,
    'GET /v1/policies/usage-limits with a key': 403,
    'GET /v1/policies/rate-limits with a key': 403,
    'gateway policies rate list': 4,
  },
}

const names = Object.keys(FLAGS) as FlagName[]
const folder = mkdtempSync(join(tmpdir(), 'gateway-flags-'))
let seeded: Seeded
beforeAll(async () => {
  const gateway = await startGateway({}, {folder})
  seeded = await seed(gateway)
  await gateway.close()
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

const start = async (env: Record<string, string>) => {
  const gateway = await startGateway(env, {folder})
  onTestFinished(() => gateway.close())
  return gateway
}

describe('a gateway over one data directory', () => {
  test('with every flag on', async () => {
    expect(await tried(await start({}), {})).toEqual(ON)
  })

  test.each(names)('with %s off', async name => {
    const env = {[FLAGS[name].env]: 'OFF'}
    expect(await tried(await start(env), env)).toEqual({...ON, ...OFF[name]})
  })

  test.each(names)(
    'with %s off refuses the operations that are gone, and no other',
    async name => {
      const {paths, status, errorCode} = GONE[name]
      const gateway = await start({[FLAGS[name].env]: 'OFF'})
      const wrong: string[] = []
      for (const {method, path, id} of OPERATIONS) {
        const said = await ask(gateway, method, `/v1${path.replace(/:\w+/g, 'none')}`)
        const is_gone =
          status === 404
            ? said.message.startsWith('Nothing is served at')
            : said.message.includes(`${FLAGS[name].env}=OFF`)
        if (is_gone !== paths.test(path)) wrong.push(`${id}: ${said.status} ${said.message}`)
        if (is_gone && (said.status !== status || said.errorCode !== errorCode))
          wrong.push(`${id}: ${said.status} ${said.errorCode}`)
      }
      expect(wrong).toEqual([])
    },
    120_000,
  )
})

interface Seeded {
  /** Keys of workspaces and for calls, by what is special about them. */
  readonly keys: Readonly<Record<'limited' | 'spent' | 'closed' | 'guarded', string>>
  readonly config: string
  readonly guardrail: string
  /** Path and signature of the address that an export was given. */
  readonly file: string
}

const DENIED = 'forbidden'
const NO_REQUESTS = [{type: 'requests', unit: 'rpd', value: 0}] as const

async function seed(gateway: TestGateway): Promise<Seeded> {
  const {admin} = gateway
  const home = await homeOf(gateway)
  const key = async (name: string, limits: object = {}, workspace_id = home) => {
    const body = {name, workspace_id, scopes: ['completions.write'], ...limits}
    return (await admin<{key: string}>('POST', '/api-keys/workspace/service', body)).key
  }
  const workspace = async (name: string, more: object = {}) =>
    (await admin<{id: string}>('POST', '/admin/workspaces', {name, ...more})).id

  const checks = [{id: 'default.contains', parameters: {words: [DENIED], operator: 'none'}}]
  const guardrail = async (workspace_id: string) => {
    const body = {name: 'Denies', workspace_id, checks, actions: {deny: true}}
    return (await admin<{slug: string}>('POST', '/guardrails', body)).slug
  }
  const own = await guardrail(home)
  const guarded = await workspace('Guarded')
  await admin('PUT', `/admin/workspaces/${guarded}`, {defaults: {input_guardrails: [await guardrail(guarded)]}})
  const {data} = await admin<{data: {slug: string}}>('POST', '/configs', {
    ...{name: 'Guarded', workspace_id: home, config: {input_guardrails: [own]}},
  })

  await admin('POST', '/providers', {
    ...{name: 'Closed', slug: 'demo-closed', integration_id: 'demo', workspace_id: home},
    rate_limits: NO_REQUESTS,
  })
  const policy = {workspace_id: home, group_by: [{key: 'api_key'}]}
  const of = (value: string) => [{key: 'metadata.team', value}]
  await admin('POST', '/policies/rate-limits', {
    ...policy,
    name: 'Rate',
    conditions: of('rated'),
    type: 'requests',
    unit: 'rpd',
    value: 0,
  })
  await admin('POST', '/policies/usage-limits', {
    ...policy,
    name: 'Usage',
    conditions: of('budgeted'),
    type: 'tokens',
    credit_limit: 0,
  })

  const spent = await key('Spent', {usage_limits: {type: 'tokens', credit_limit: 1}})
  expect(await call(gateway, spent)).toBe(200)
  await gateway.app.flushed()
  const filters = {time_of_generation_min: '2020-01-01T00:00:00Z', time_of_generation_max: '2099-01-01T00:00:00Z'}
  const {id} = await admin<{id: string}>('POST', '/logs/exports', {filters, requested_data: ['id'], workspace_id: home})
  await admin('POST', `/logs/exports/${id}/start`)
  const shown = () => admin('GET', `/logs/exports/${id}`)
  await vi.waitFor(async () => expect(await shown()).toMatchObject({status: 'success'}), {timeout: 60_000})
  const {signed_url} = await admin<{signed_url: string}>('GET', `/logs/exports/${id}/download`)
  return {
    keys: {
      limited: await key('Limited', {rate_limits: NO_REQUESTS}),
      spent,
      closed: await key('Closed', {}, await workspace('Closed', {rate_limits: NO_REQUESTS})),
      guarded: await key('Guarded', {}, guarded),
    },
    config: data.slug,
    guardrail: own,
    file: new URL(signed_url).pathname + new URL(signed_url).search,
  }
}

async function call(gateway: TestGateway, key: string, {text = 'Hello', model = '@demo/echo', headers = {}} = {}) {
  const reply = await gateway.chat(
    {model, messages: [{role: 'user', content: text}]},
    {'x-gateway-api-key': key, ...headers},
  )
  await reply.text()
  return reply.status
}

/** Tries everything of `ON`; commands run on the data directory, in the same environment. */
async function tried(gateway: TestGateway, env: Record<string, string>): Promise<Record<Probe, unknown>> {
  const {keys, config, guardrail, file} = seeded
  const by = (team: string) => ({headers: {'x-gateway-metadata': JSON.stringify({team})}})
  const get = async (path: string, key?: string) =>
    (await fetch(gateway.url + path, {headers: key === undefined ? {} : {'x-gateway-api-key': key}})).status
  const here = (...argv: string[]) => run([...argv, '--data-dir', folder, '--json'], {env, now_ms: Date.now()})
  const code = async (...argv: string[]) => (await here(...argv)).code
  const rows = async (...argv: string[]) =>
    (JSON.parse((await here(...argv)).stdout) as {records: unknown[]}).records.length
  const home = await homeOf(gateway)
  const limits = await gateway.admin<{data: {entity: string}[]}>('GET', `/limits?workspace_id=${home}`)
  const day = 86_400_000
  const of = `start_time=${new Date(Date.now() - day).toISOString()}&end_time=${new Date(Date.now() + day).toISOString()}`
  const recorded = audited()
  await gateway.admin('POST', '/collections', {name: 'A write', workspace_id: home})
  const left = audited() - recorded
  return {
    'a call': await call(gateway, WORKSPACE_KEY),
    'a call that a guardrail of its config denies': await call(gateway, WORKSPACE_KEY, {
      text: DENIED,
      headers: {'x-gateway-config': config},
    }),
    'a call that a default guardrail of its workspace denies': await call(gateway, keys.guarded, {text: DENIED}),
    'a guardrail tried by POST /guardrails/test': (
      await gateway.app.inject({
        ...{method: 'POST', url: '/v1/guardrails/test'},
        body: {
          guardrail,
          workspace_id: home,
          request: {body: {model: 'm', messages: [{role: 'user', content: DENIED}]}},
        },
      })
    ).status,
    'a call with a key that may make none': await call(gateway, keys.limited),
    'a call with a key that has used up its budget': await call(gateway, keys.spent),
    'a call in a workspace that may make none': await call(gateway, keys.closed),
    'a call by a provider that may make none': await call(gateway, WORKSPACE_KEY, {model: '@demo-closed/echo'}),
    'a call over a rate policy': await call(gateway, WORKSPACE_KEY, by('rated')),
    'a call over a usage policy': await call(gateway, WORKSPACE_KEY, by('budgeted')),
    'entities in GET /limits': [...new Set(limits.data.map(({entity}) => entity))].sort().join(' '),
    'GET /v1/models with the key of a workspace': await get('/v1/models', WORKSPACE_KEY),
    'GET /v1/configs with a key': await get('/v1/configs', WORKSPACE_KEY),
    'GET /v1/model-configs/pricing without a key': await get('/v1/model-configs/pricing/openai/gpt-4o'),
    'GET /model-configs/pricing without a key': await get('/model-configs/pricing/openai/gpt-4o'),
    'GET /v1/logs with a key': await get('/v1/logs', WORKSPACE_KEY),
    'GET /v1/logs/exports with a key': await get('/v1/logs/exports', WORKSPACE_KEY),
    'the address of a file that was exported': await get(file),
    'GET /v1/policies/usage-limits with a key': await get('/v1/policies/usage-limits', WORKSPACE_KEY),
    'GET /v1/policies/rate-limits with a key': await get('/v1/policies/rate-limits', WORKSPACE_KEY),
    'GET /v1/scim/workspaces with a key': await get('/v1/scim/workspaces', ADMIN_KEY),
    'GET /v1/scim/groups with a key': await get('/v1/scim/groups', ADMIN_KEY),
    'GET /v1/scim/workspaces without a key': await get('/v1/scim/workspaces'),
    'GET /v1/scim/v2/Users': await get('/v1/scim/v2/Users', ADMIN_KEY),
    'GET /v1/mcp-servers/none/tokens': await get('/v1/mcp-servers/none/tokens', WORKSPACE_KEY),
    'GET /livez': await get('/livez'),
    'GET /metrics': await get('/metrics'),
    'rows that a write leaves in the audit log': left,
    'rows that GET /audit-logs shows':
      (await gateway.admin<{total: number}>('GET', `/audit-logs?${of}`)).total > 0 ? 'some' : 'none',
    'gateway configs list': await code('configs', 'list'),
    'gateway guardrails list': await code('guardrails', 'list'),
    'gateway policies rate list': await code('policies', 'rate', 'list'),
    'gateway logs export list': await code('logs', 'export', 'list'),
    'gateway audit list': (await rows('audit', 'list')) > 0 ? 'rows' : 'no rows',
    'gateway audit verify': await code('audit', 'verify'),
    'gateway users list': await code('users', 'list'),
  }
}

async function homeOf(gateway: TestGateway): Promise<string> {
  const {data} = await gateway.admin<{data: {id: string; is_default: boolean}[]}>('GET', '/admin/workspaces')
  return data.find(({is_default}) => is_default)!.id
}

/** How many rows stand in the table itself. */
function audited(): number {
  const database = new Database(join(folder, 'gateway.db'), {readonly: true})
  try {
    return database.prepare('select count(*) from audit_logs').pluck().get() as number
  } finally {
    database.close()
  }
}

async function ask(gateway: TestGateway, method: string, path: string) {
  for (const key of [ADMIN_KEY, WORKSPACE_KEY]) {
    const body = method === 'GET' ? {} : {body: '{}', headers: {'content-type': 'application/json'}}
    const reply = await fetch(gateway.url + path, {
      method,
      ...body,
      headers: {...body.headers, 'x-gateway-api-key': key},
    })
    const said = await reply.text()
    const {data = {}} = said.startsWith('{') ? JSON.parse(said) : {}
    const {message = '', errorCode = ''} = data as {message?: string; errorCode?: string}
    if (!message.includes('needs the scope')) return {status: reply.status, message, errorCode}
  }
  throw new Error(`${method} ${path} is for neither key`)
}
