import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {parse} from 'yaml'
import {run} from './support.ts'

let folder: string
let data: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-import-'))
  data = join(folder, 'data')
  await run(['init', '--data-dir', data])
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

const cli = (env: Record<string, string>, ...argv: string[]) =>
  run([...argv, '--data-dir', data], {env, folder, now_ms: Date.now()})
const spec = (path: string) => parse(readFileSync(join(folder, path), 'utf8')).spec

/** Applies a folder with what its secrets file says; then nothing differs. */
async function applies(dir: string, env: Record<string, string>) {
  expect(await cli(env, 'apply', '-f', dir)).toMatchObject({code: 0, stderr: ''})
  expect(await cli({}, 'apply', '-f', dir)).toMatchObject({code: 0, stdout: expect.stringContaining('nothing differs')})
}

describe('LiteLLM', () => {
  const LITELLM = `
model_list:
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY, rpm: 480, timeout: 30}
  - model_name: gpt-4o
    litellm_params:
      {model: azure/eu-4o, api_base: https://house-eu.openai.azure.com/, api_key: sk-canary-azure-0123456789, api_version: "2024-10-21", weight: 3}
  - model_name: claude
    litellm_params: {model: anthropic/claude-sonnet-4-5, api_key: os.environ/ANTHROPIC_API_KEY, temperature: 0.2}
    model_info: {mode: chat}
  - model_name: local
    litellm_params: {model: ollama/llama3, api_base: http://10.0.0.5:11434}
  - model_name: "any/*"
    litellm_params: {model: "openai/*", api_key: os.environ/OPENAI_API_KEY}
  - model_name: odd
    litellm_params: {model: no_such_provider/odd}
router_settings:
  routing_strategy: latency-based-routing
  num_retries: 3
  fallbacks: [{gpt-4o: [claude]}]
  model_group_alias: {best: gpt-4o}
litellm_settings: {drop_params: true, request_timeout: 600}
general_settings: {master_key: sk-canary-master-0123456789}
`

  test('becomes integrations, providers, and a config by model, which apply; all else is said', async () => {
    writeFileSync(join(folder, 'litellm.yaml'), LITELLM)
    const said = await cli({}, 'import', 'litellm.yaml', '--from', 'litellm', '--dir', 'll', '--secrets-file', 'll.env')
    expect(said).toMatchObject({code: 0, stderr: ''})
    expect(said.stdout.split('\n').filter(line => line.startsWith('lost: '))).toEqual([
      'lost: model_list[2].litellm_params.temperature (claude): is not carried over',
      'lost: model_list[2].model_info.mode (claude): is not carried over',
      'lost: model_list[4] (any/*): a wildcard has no counterpart: name each model',
      'lost: model_list[5] (odd): no kind of provider is called no_such_provider',
      'lost: litellm_settings.drop_params: is not carried over',
      'lost: router_settings.routing_strategy: is not carried over',
      'lost: general_settings.master_key: has no counterpart in files (keys are made with gateway keys create, settings are in docs/settings.md)',
    ])
    expect(said.stdout).not.toContain('canary')
    expect(readFileSync(join(folder, 'll.env'), 'utf8')).toBe(
      'SECRET_AZURE_OPENAI_EU_4O_KEY=sk-canary-azure-0123456789\n',
    )
    expect(statSync(join(folder, 'll.env')).mode & 0o777).toBe(0o600)
    expect(spec('ll/integrations/openai-gpt-4o.yaml')).toMatchObject({
      ai_provider_id: 'openai',
      key: '${env:OPENAI_API_KEY}',
    })
    expect(spec('ll/providers/default/openai-gpt-4o.yaml').rate_limits).toEqual([
      {type: 'requests', unit: 'rpm', value: 480},
    ])
    const {config, isDefault} = spec('ll/configs/default/pc-litellm.yaml')
    expect(isDefault).toBe(1)
    expect(config).toMatchObject({
      retry: {attempts: 3},
      request_timeout: 600_000,
      strategy: {mode: 'conditional'},
      targets: [
        {
          name: 'gpt-4o',
          strategy: {mode: 'fallback'},
          targets: [
            {
              strategy: {mode: 'loadbalance'},
              targets: [
                {provider: '@openai-gpt-4o', weight: 1, request_timeout: 30_000, override_params: {model: 'gpt-4o'}},
                {provider: '@azure-openai-eu-4o', weight: 3, override_params: {model: 'eu-4o'}},
              ],
            },
            {provider: '@anthropic-claude', override_params: {model: 'claude-sonnet-4-5'}},
          ],
        },
        {name: 'claude', provider: '@anthropic-claude'},
        {name: 'local', provider: '@ollama-local'},
      ],
    })
    expect(JSON.stringify(config.strategy.conditions.at(-1))).toBe(
      '{"query":{"params.model":{"$eq":"best"}},"then":"gpt-4o"}',
    )
    await applies('ll', {
      OPENAI_API_KEY: 'sk-one-0123456789012345',
      ANTHROPIC_API_KEY: 'sk-two-0123456789012345',
      SECRET_AZURE_OPENAI_EU_4O_KEY: 'sk-three-0123456789012345',
    })
  })

  test('a file that is none is refused', async () => {
    writeFileSync(join(folder, 'none.yaml'), 'a: 1\n')
    expect(await cli({}, 'import', 'none.yaml', '--from', 'litellm', '--dir', 'none')).toMatchObject({
      code: 2,
      stderr: 'gateway: The file has no model_list: it is no config.yaml of LiteLLM.\n',
    })
  })
})

test('configs of Portkey keep what has a counterpart, their keys apart', async () => {
  const config = {
    strategy: {mode: 'fallback', onStatusCodes: [429]},
    unheard_of: 1,
    targets: [
      {provider: 'openai', apiKey: 'sk-canary-portkey-0123456789', override_params: {model: 'gpt-4o'}},
      {virtual_key: 'main-258f4d', retry: {attempts: 2}},
    ],
  }
  writeFileSync(
    join(folder, 'portkey.json'),
    JSON.stringify({success: true, data: {name: 'Main', slug: 'pc-main-1a2b3c', is_default: 1, config}}),
  )
  const said = await cli({}, 'import', 'portkey.json', '--from', 'portkey', '--dir', 'pk', '--json')
  const {losses, secrets} = JSON.parse(said.stdout)
  expect(losses).toEqual([
    expect.stringContaining('config.unheard_of'),
    'pc-main-1a2b3c: config.targets[1] names main-258f4d, whose credential is not in the file: make it with gateway providers create',
  ])
  expect(secrets).toEqual(['SECRET_PC_MAIN_1A2B3C_CONFIG_TARGETS_0'])
  const saved = spec('pk/configs/default/pc-main-1a2b3c.yaml')
  expect(saved.config).toEqual({
    strategy: {mode: 'fallback', on_status_codes: [429]},
    targets: [
      {
        provider: 'openai',
        api_key: '${env:SECRET_PC_MAIN_1A2B3C_CONFIG_TARGETS_0}',
        override_params: {model: 'gpt-4o'},
      },
      {virtual_key: 'main-258f4d', retry: expect.objectContaining({attempts: 2})},
    ],
  })
  await applies('pk', {SECRET_PC_MAIN_1A2B3C_CONFIG_TARGETS_0: 'sk-canary-portkey-0123456789'})
})

test('a database of one-api: channels by rank and weight, tokens by quota', async () => {
  const db = new Sqlite(join(folder, 'one-api.db'))
  db.exec(`
    create table channels (id integer, type integer, key text, status integer, name text, weight integer, base_url text, other text,
      models text, "group" text, model_mapping text, priority integer, config text);
    create table tokens (id integer, user_id integer, key text, status integer, name text, expired_time integer, remain_quota integer,
      unlimited_quota integer, models text, subnet text);
    create table users (id integer, username text);
    insert into users values (1, 'root');
    insert into channels values (1, 1, 'sk-canary-one-0123456789', 1, 'Main', 2, '', '', 'gpt-4o,gpt-4o-mini', 'default', '', 10, '');
    insert into channels values (2, 14, 'sk-canary-two-0123456789', 1, 'Reserve', 0, '', '', 'gpt-4o', 'vip', '{"gpt-4o": "claude-sonnet-4-5"}', 0, '');
    insert into channels values (3, 1, 'sk-canary-off-0123456789', 2, 'Off', 0, '', '', 'gpt-4o', 'default', '', 0, '');
    insert into channels values (4, 5, 'sk-canary-odd-0123456789', 1, 'Odd', 0, '', '', 'x', 'default', '', 0, '');
    insert into tokens values (1, 1, 'tokencanary', 1, 'app', -1, 5000000, 0, 'gpt-4o', '');
    insert into tokens values (2, 1, 'tokencanary', 1, 'free', 4102444800, 0, 1, null, null);
  `)
  db.close()
  const said = await run(
    ['import', join(folder, 'one-api.db'), '--from', 'one-api', '--dir', 'oa', '--secrets-file', 'oa.env'],
    {folder},
  )
  expect(said).toMatchObject({code: 0, stderr: ''})
  expect(said.stdout.split('\n').filter(line => line.startsWith('lost: '))).toEqual([
    'lost: channels 2 (Reserve): group vip: groups of users are not carried over',
    'lost: channels 3 (Off): is disabled',
    'lost: channels 4 (Odd): channels of type 5 have no counterpart',
    'lost: tokens 1 (app): its secret is not carried over: the new key has another',
    'lost: tokens 1 (app): models is not carried over',
    'lost: tokens 2 (free): its secret is not carried over: the new key has another',
    'lost: users: 1 rows are not carried over',
  ])
  expect(spec('oa/configs/default/pc-one-api.yaml').config.targets).toEqual([
    {
      name: 'gpt-4o',
      strategy: {mode: 'fallback'},
      targets: [
        {provider: '@main', override_params: {model: 'gpt-4o'}},
        {provider: '@reserve', override_params: {model: 'claude-sonnet-4-5'}},
      ],
    },
    {name: 'gpt-4o-mini', provider: '@main', override_params: {model: 'gpt-4o-mini'}},
  ])
  expect(spec('oa/api-keys/default/app.yaml').usage_limits).toEqual([{type: 'cost', credit_limit: 10}])
  expect(spec('oa/api-keys/default/free.yaml')).toMatchObject({expires_at: '2100-01-01T00:00:00.000Z'})
  const env = Object.fromEntries(
    readFileSync(join(folder, 'oa.env'), 'utf8')
      .trim()
      .split('\n')
      .map(line => line.split('=') as [string, string]),
  )
  expect(env).toEqual({SECRET_MAIN_KEY: 'sk-canary-one-0123456789', SECRET_RESERVE_KEY: 'sk-canary-two-0123456789'})
  await applies('oa', env)
})
