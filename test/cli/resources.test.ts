import {mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {ADMIN_KEY, startGateway, type TestGateway} from '../support/gateway.ts'
import {run} from './support.ts'

const OPENAI_KEY = 'sk-canary-openai-0123456789'
const TARGET_KEY = 'sk-canary-target-0123456789'

let folder: string
let one: TestGateway
let two: TestGateway
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-resources-'))
  one = await startGateway()
  two = await startGateway()
  await fill(one)
})
afterAll(async () => {
  await one.close()
  await two.close()
  rmSync(folder, {recursive: true, force: true})
})

const at = (gateway: TestGateway, env: Record<string, string>, ...argv: string[]) =>
  run(argv, {env: {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: ADMIN_KEY, ...env}, folder, now_ms: Date.now()})
const done = async (running: ReturnType<typeof run>) => {
  const said = await running
  expect(said).toEqual({...said, code: 0, stderr: expect.stringMatching(/^(The secrets of .*\n)?$/)})
  return said.stdout
}

/** Every file of a folder, by path. */
function filesOf(path: string): Record<string, string> {
  const names = readdirSync(join(folder, path), {recursive: true, withFileTypes: true}).filter(entry => entry.isFile())
  const files = names.map(entry => [
    join(entry.parentPath, entry.name).slice(join(folder, path, '/').length),
    readFileSync(join(entry.parentPath, entry.name), 'utf8'),
  ])
  return Object.fromEntries(files.sort())
}

async function fill({admin}: TestGateway) {
  await admin('POST', '/admin/workspaces', {
    name: 'Research',
    slug: 'ws-research',
    defaults: {metadata: {team: 'red'}},
    usage_limits: [{type: 'cost', credit_limit: 25, periodic_reset: 'monthly'}],
  })
  const {id} = await admin<{id: string}>('GET', '/admin/organisation')
  const checks = [{id: 'default.contains', parameters: {words: ['internal'], operator: 'none'}}]
  const shared = await admin<{id: string; slug: string}>('POST', '/guardrails', {
    name: 'House',
    slug: 'pg-house',
    organisation_id: id,
    checks,
    actions: {deny: true},
  })
  const own = await admin<{id: string; slug: string}>('POST', '/guardrails', {
    name: 'Own',
    slug: 'pg-own',
    workspace_id: 'ws-research',
    checks,
    actions: {},
  })
  await admin('PUT', '/admin/organisation/defaults', {input_guardrails: [shared.id]})
  await admin('PUT', '/admin/workspaces/ws-research', {defaults: {output_guardrails: [own.slug]}})
  await admin('POST', '/integrations', {
    name: 'OpenAI',
    slug: 'openai-prod',
    ai_provider_id: 'openai',
    key: OPENAI_KEY,
    tags: {env: 'prod'},
    create_default_provider: false,
  })
  await admin('PUT', '/integrations/openai-prod/models', {
    allow_all_models: false,
    models: [
      {slug: 'gpt-4o', enabled: true},
      {
        slug: 'mine',
        enabled: true,
        is_custom: true,
        base_model_slug: 'gpt-4o',
        pricing_config: {pay_as_you_go: {request_token: {price: 0.001}, response_token: {price: 0.002}}},
      },
    ],
  })
  await admin('PUT', '/integrations/openai-prod/workspaces', {
    global_workspace_access: {enabled: true, rate_limits: [{type: 'requests', unit: 'rpm', value: 60}]},
    workspaces: [{id: 'ws-research', enabled: true, usage_limits: [{type: 'cost', credit_limit: 5}]}],
    create_default_provider: false,
  })
  await admin('POST', '/providers', {
    name: 'Main',
    slug: 'main',
    integration_id: 'openai-prod',
    workspace_id: 'ws-research',
    rate_limits: {type: 'requests', unit: 'rpm', value: 5},
  })
  await admin('POST', '/virtual-keys', {
    name: 'Old',
    slug: 'old',
    provider: 'openai',
    key: OPENAI_KEY,
    workspace_id: 'ws-research',
    expires_at: '2099-01-01T00:00:00.000Z',
  })
  await admin('POST', '/configs', {
    name: 'Route',
    slug: 'pc-route',
    workspace_id: 'ws-research',
    isDefault: 1,
    config: {
      strategy: {mode: 'fallback'},
      targets: [
        {provider: '@main', input_guardrails: [own.id]},
        {provider: 'openai', api_key: TARGET_KEY, override_params: {model: 'gpt-4o'}},
      ],
    },
  })
  await admin('POST', '/api-keys/workspace/service', {
    name: 'blue app',
    workspace_id: 'ws-research',
    scopes: ['completions.write'],
    defaults: {config_id: 'pc-route', metadata: {app: 'blue'}, allow_config_override: false},
    rate_limits: [{type: 'requests', unit: 'rpm', value: 7}],
  })
  await admin('PUT', '/model-configs/pricing/openai/in-house%2Fone', {
    pricing_config: {pay_as_you_go: {request_token: {price: 0.0001}, response_token: {price: 0.0004}}},
  })
}

const SECRETS = {
  SECRET_INTEGRATION_OPENAI_PROD_KEY: OPENAI_KEY,
  SECRET_VIRTUAL_KEY_WS_RESEARCH_OLD_KEY: OPENAI_KEY,
  SECRET_CONFIG_WS_RESEARCH_PC_ROUTE_CONFIG_TARGETS_1_API_KEY: TARGET_KEY,
}

test('what was exported, applied to an empty gateway and exported again is the same; applying again changes nothing', async () => {
  await done(at(one, {}, 'export', '--dir', 'a'))
  const files = filesOf('a')
  expect(Object.keys(files).map(path => path.split('/')[0])).toEqual(
    expect.arrayContaining([
      'workspaces',
      'guardrails',
      'integrations',
      'providers',
      'virtual-keys',
      'configs',
      'defaults',
      'api-keys',
      'prices',
    ]),
  )
  expect(JSON.stringify(files)).not.toMatch(/canary|•|[0-9a-f]{8}-[0-9a-f]{4}-7/)
  const unset = await at(two, {}, 'apply', '-f', 'a')
  expect(unset.code).toBe(2)
  expect(unset.stderr).toContain(
    'integrations/openai-prod.yaml: spec.key: ${env:SECRET_INTEGRATION_OPENAI_PROD_KEY} has no value',
  )
  const dry = await done(at(two, SECRETS, 'apply', '-f', 'a', '--dry-run'))
  expect(dry).toContain('+ config ws-research/pc-route')
  expect(dry).toContain('Nothing was changed.')
  const applied = await done(at(two, SECRETS, 'apply', '-f', 'a', '--keys-file', 'keys.txt'))
  expect(applied + dry).not.toContain('canary')
  expect(readFileSync(join(folder, 'keys.txt'), 'utf8')).toMatch(/^api-key ws-research\/blue app: gk-/)
  await done(at(two, {}, 'export', '--dir', 'b'))
  expect(filesOf('b')).toEqual(files)
  for (const env of [{}, SECRETS]) {
    const again = await at(two, env, 'apply', '-f', 'a', '--prune', '--yes')
    expect(again).toEqual({code: 0, stdout: `${Object.keys(files).length} resources: nothing differs.\n`, stderr: ''})
  }
  expect(await done(at(two, {}, 'export', '--dir', 'b'))).toContain('0 files written, 0 removed')
})

test('on the data directory as at an address', async () => {
  const data = mkdtempSync(join(tmpdir(), 'gateway-resources-here-'))
  await run(['init', '--data-dir', data], {env: {GATEWAY_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY}})
  const here = (...argv: string[]) => run([...argv, '--data-dir', data], {env: SECRETS, folder})
  await done(here('apply', '-f', 'a'))
  expect(await done(here('apply', '-f', 'a'))).toContain('nothing differs')
  await done(here('export', '--dir', 'c'))
  expect(filesOf('c')).toEqual(filesOf('a'))
  rmSync(data, {recursive: true, force: true})
})

test('what changed is shown and written, secrets neither shown nor lost, and pruned where it is gone', async () => {
  const change = (path: string, from: string, to: string) => {
    const text = readFileSync(join(folder, 'b', path), 'utf8')
    expect(text).toContain(from)
    writeFileSync(join(folder, 'b', path), text.replace(from, to))
  }
  change('configs/ws-research/pc-route.yaml', 'mode: fallback', 'mode: loadbalance')
  change('integrations/openai-prod.yaml', 'name: OpenAI', 'name: OpenAI 2')
  change('workspaces/ws-research.yaml', 'team: red', 'team: blue')
  change('virtual-keys/ws-research/old.yaml', '${env:SECRET_VIRTUAL_KEY_WS_RESEARCH_OLD_KEY}', '${file:old.key}')
  writeFileSync(join(folder, 'b/virtual-keys/ws-research/old.key'), 'sk-canary-another-9876543210\n')
  rmSync(join(folder, 'b/providers/ws-research/main.yaml'))
  const refused = await at(two, {}, 'apply', '-f', 'b', '--prune')
  expect({...refused, stdout: ''}).toEqual({code: 0, stdout: '', stderr: ''})
  const {stdout} = refused
  expect(stdout).toContain('~ config ws-research/pc-route\n    config.strategy.mode: fallback → loadbalance\n')
  expect(stdout).toContain('~ virtual-key ws-research/old\n    key: (secret) → (secret)\n')
  expect(stdout).toContain('    defaults.metadata.team: red → blue\n')
  expect(stdout).toContain('- provider ws-research/main\n')
  expect(stdout).not.toContain('canary')
  expect((await at(two, {}, 'apply', '-f', 'b', '--prune')).stdout).toContain('nothing differs')
  const before = filesOf('b')
  await done(at(two, {}, 'export', '--dir', 'b'))
  expect(filesOf('b')).toEqual(before)
  // The provider's slug is free again, and the archived row stays apart.
  await done(at(two, {}, 'apply', '-f', 'a', '--kind', 'providers'))
})

test('all that is wrong is said, by file and field, before anything is changed', async () => {
  const files = {
    'w/1.yaml': 'kind: confg\nslug: a\nspec: {}\n',
    'w/2.yaml': 'kind: config\nworkspace: nowhere\nslug: a\nspec: {name: A, config: {provider: "@main"}}\n',
    'w/3.yaml':
      'kind: config\nworkspace: ws-research\nslug: a\nspec: {name: A, config: {strategy: {mode: best}, targets: [{provider: openai}]}}\n',
    'w/4.yaml':
      'kind: integration\nslug: x\nspec: {name: X, ai_provider_id: openai, key: sk-canary-literal-0123456789}\n',
    'w/5.yaml': 'kind: provider\nworkspace: default\nslug: p\nspec: {name: P, integration_id: absent}\n',
    'w/6.yaml': 'kind: workspace\nslug: ws-new\nspec: {name: New, nam: x}\n',
    'w/7.yaml': 'kind: workspace\nslug: ws-fine\nspec: {name: Fine}\n',
    'w/8.yaml':
      'kind: api-key\nworkspace: default\nslug: k\nspec: {type: workspace-service, scopes: [completions.write], defaults: {config_id: pc-none}}\n',
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, 'w'), {recursive: true})
    writeFileSync(join(folder, path), text)
  }
  const {code, stdout, stderr} = await at(one, {}, 'apply', '-f', 'w')
  expect({code, stdout}).toEqual({code: 2, stdout: ''})
  for (const words of [
    'w/1.yaml: kind: there is no kind confg',
    'w/2.yaml: workspace: there is no workspace nowhere',
    'w/3.yaml: spec.config.strategy.mode',
    'w/4.yaml: spec.key: holds a secret',
    'w/5.yaml: spec.integration_id: there is no integration absent',
    'w/6.yaml: spec.nam: is not known',
    'w/8.yaml: spec.defaults.config_id: there is no config pc-none',
    'Nothing was changed.',
  ])
    expect(stderr).toContain(words)
  expect(stderr).not.toContain('canary')
  expect(stderr).not.toContain('w/7')
})

test('a failure half-way says what is done, and applying again goes on', async () => {
  const name = 'Half'
  const transport = {fails: true}
  mkdirSync(join(folder, 'h'), {recursive: true})
  writeFileSync(
    join(folder, 'h/all.yaml'),
    ['ws-h1', 'ws-h2', 'ws-h3'].map(slug => `kind: workspace\nslug: ${slug}\nspec: {name: ${name}}\n`).join('---\n'),
  )
  const around = {
    folder,
    transport: {
      kind: 'here' as const,
      async send(request: {method: string; path: string; body?: unknown}) {
        const is_second =
          transport.fails && request.method === 'POST' && (request.body as {slug?: string}).slug === 'ws-h2'
        if (is_second) return {status: 503, body: {success: false, data: {message: 'Out of order.', errorCode: 'X'}}}
        return one.app.inject({
          method: request.method as 'GET',
          url: request.path,
          ...(request.body !== undefined && {body: request.body}),
        })
      },
      close: async () => undefined,
    },
  }
  const half = await run(['apply', '-f', 'h'], around)
  expect(half).toMatchObject({
    code: 1,
    stderr:
      'gateway: workspace ws-h2 (h/all.yaml (document 2)): Out of order. 1 of 3 changes are done; the others are not. Apply again to go on.\n',
  })
  transport.fails = false
  const rest = await run(['apply', '-f', 'h', '--json'], around)
  expect(JSON.parse(rest.stdout)).toMatchObject({
    applied: true,
    changes: [{resource: 'workspace ws-h2'}, {resource: 'workspace ws-h3'}],
  })
})

test('differences are coloured on a terminal, what is taken away in red', async () => {
  const said = await run(['apply', '-f', 'h', '--dry-run', '--prune', '--kind', 'configs'], {
    env: {GATEWAY_URL: one.url, GATEWAY_API_KEY: ADMIN_KEY},
    folder,
    terminal: 100,
  })
  expect(said.stdout).toContain('\x1b[31m- config ws-research/pc-route\x1b[0m')
})

test('the key that asks is not taken away with the others', async () => {
  const {data} = await one.admin<{data: {name: string; type: string}[]}>('GET', '/api-keys')
  const own = data.find(({type}) => type === 'organisation-service')!
  const {stdout} = await at(one, {}, 'apply', '-f', 'h', '--dry-run', '--prune', '--kind', 'api-keys')
  expect(stdout).toContain('- api-key ws-research/blue app\n')
  expect(stdout).not.toContain(`- api-key ${own.name}\n`)
})
