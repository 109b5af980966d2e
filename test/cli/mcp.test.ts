import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {run} from './support.ts'

const files = {
  'login.yaml':
    'vault_auth_type: token\nvault_addr: https://vault.example.com:8200\nvault_token: canary-vault-0123456789\n',
  'headers.json': '{"custom_headers": {"authorization": "Bearer canary-token-0123456789"}}',
  'about.yaml': 'region: eu\n',
}
const URL = 'https://mcp.example.com/mcp'

let folder: string
let data: string
const here = (...argv: string[]) => run([...argv, '--data-dir', data], {files})
const shown = async (...argv: string[]) => JSON.parse((await here(...argv, '--json')).stdout)
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-cli-mcp-'))
  data = join(folder, 'data')
  await here('init')
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

test('a secret reference is created, listed, shown masked, changed and deleted', async () => {
  const login = ['--manager', 'hashicorp_vault', '--path', 'secret/mcp', '--auth-file', 'login.yaml']
  const made = await here('secret-references', 'create', 'vault', ...login, '--tag', 'team=search', '--only', 'default')
  expect(made).toEqual({code: 0, stdout: 'Created the secret reference vault.\n', stderr: ''})
  expect((await here('secret-references', 'list')).stdout).toContain('hashicorp_vault')
  expect(await here('secret-references', 'update', 'vault', '--everywhere', '--field', 'token')).toMatchObject({
    code: 0,
  })
  const row = await shown('secret-references', 'show', 'vault')
  expect(row).toMatchObject({secret_key: 'token', allow_all_workspaces: true, tags: {team: 'search'}})
  expect(row.auth_config).toMatchObject({masked_vault_token: 'can•••••6789'})
  expect(await here('secret-references', 'update', 'vault')).toMatchObject({code: 2})
  expect(await here('secret-references', 'update', 'vault', '--everywhere', '--only', 'default')).toMatchObject({
    code: 2,
  })
  expect(await here('secret-references', 'delete', 'vault')).toMatchObject({code: 0})
  expect(await here('secret-references', 'show', 'vault')).toMatchObject({code: 3})
})

test('an MCP integration is opened to a workspace, which makes a server of it', async () => {
  const made = await here(
    'mcp-integrations',
    'create',
    'docs-all',
    '--server',
    URL,
    '--auth',
    'headers',
    '--config',
    'headers.json',
  )
  expect(made).toEqual({code: 0, stdout: 'Created the MCP integration docs-all.\n', stderr: ''})
  expect(await shown('mcp-integrations', 'show', 'docs-all')).toMatchObject({
    ...{
      name: 'docs-all',
      transport: 'http',
      type: 'organisation',
      configurations: {custom_headers: {authorization: 'Bea•••••6789'}},
    },
  })
  expect(await here('mcp-servers', 'create', 'docs', '--integration', 'docs-all')).toMatchObject({code: 3})
  expect((await shown('mcp-integrations', 'workspaces', 'docs-all', '--open', 'default')).workspaces).toMatchObject([
    {enabled: true},
  ])
  expect(await here('mcp-servers', 'create', 'docs', '--integration', 'docs-all')).toMatchObject({code: 0})
  expect(await here('mcp-servers', 'update', 'docs', '--name', 'Documents')).toMatchObject({code: 0})
  expect((await here('mcp-servers', 'list')).stdout).toMatch(/docs +Documents .*docs-all .*\/docs\/mcp/)
  await here('users', 'create', 'ada@example.com', '--role', 'member')
  await here('members', 'add', 'ada@example.com')
  const users = await shown('mcp-servers', 'users', 'docs', '--allow', 'ada@example.com', '--others', 'deny')
  expect(users).toMatchObject({default_user_access: 'deny', data: [{enabled: true, has_override: true}]})
  for (const noun of ['mcp-servers', 'mcp-integrations']) {
    const named = noun === 'mcp-servers' ? 'docs' : 'docs-all'
    expect(await shown(noun, 'metadata', named)).toMatchObject({sync_status: 'pending'})
    expect(await shown(noun, 'capabilities', named)).toMatchObject({total: 0})
    expect(await here(noun, 'capabilities', named, '--disable', 'search')).toMatchObject({code: 3})
    expect(await here(noun, 'capabilities', named, '--disable', 'x', '--enable', 'x')).toMatchObject({code: 2})
  }
  expect(
    (await shown('mcp-integrations', 'workspaces', 'docs-all', '--all', '--close', 'default')).workspaces,
  ).toMatchObject([{enabled: false}])
  expect((await here('mcp-integrations', 'list')).stdout).toContain(URL)
  expect(await here('mcp-integrations', 'update', 'docs-all', '--transport', 'sse')).toMatchObject({code: 0})
  expect(await here('mcp-servers', 'delete', 'docs')).toMatchObject({code: 0})
  expect(await here('mcp-integrations', 'delete', 'docs-all')).toMatchObject({code: 0})
})

test('fields are filled from secret references by name', async () => {
  const login = ['--manager', 'hashicorp_vault', '--path', 'p', '--auth-file', 'login.yaml']
  await here('secret-references', 'create', 'mapped', ...login)
  const secret = ['--secret', 'configurations.custom_headers=mapped']
  await here('mcp-integrations', 'create', 'filled', '--server', URL, '--auth', 'headers', ...secret)
  const {secret_mappings} = await shown('mcp-integrations', 'show', 'filled')
  expect(secret_mappings).toMatchObject([{target_field: 'configurations.custom_headers'}])
  expect(await here('secret-references', 'delete', 'mapped')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('filled'),
  })
})

test('a deployment is registered, listed, changed and deleted', async () => {
  const made = await here(
    'deployments',
    'create',
    'eu-1',
    '--type',
    'production',
    '--only',
    'default',
    '--config',
    'about.yaml',
  )
  expect(made).toEqual({code: 0, stdout: 'Registered the deployment eu-1.\n', stderr: ''})
  expect((await here('deployments', 'list')).stdout).toMatch(/eu-1 +eu-1 +production +1/)
  expect(await here('deployments', 'update', 'eu-1', '--everywhere', '--type', 'non-production')).toMatchObject({
    code: 0,
  })
  expect(await shown('deployments', 'show', 'eu-1')).toMatchObject({
    type: 'non-production',
    config: {region: 'eu'},
    allow_all_workspaces: true,
  })
  expect(await here('deployments', 'update', 'eu-1')).toMatchObject({code: 2})
  expect(await here('deployments', 'delete', 'eu-1')).toMatchObject({code: 0})
})

test('a group of a directory is mapped, listed and unmapped', async () => {
  const id = (await here('groups', 'map', 'Search team', '--role', 'manager', '--quiet')).stdout.trim()
  expect((await here('groups', 'list')).stdout).toMatch(/Search team +manager/)
  expect((await here('groups', 'list', '--role', 'admin', '--json')).stdout).toContain('"total_count": 0')
  expect(await here('groups', 'unmap', id)).toMatchObject({code: 0})
  expect(await here('groups', 'unmap', id)).toMatchObject({code: 3})
})
