import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {KINDS} from '../../cli/resources/kinds.ts'
import {ADMIN_KEY, startGateway, type TestGateway} from '../support/gateway.ts'
import {fillEveryKind, seedPeople} from './every-kind.ts'
import {run} from './support.ts'

const SCIM = {SCIM_ENABLED: 'ON'}

let folder: string
let one: TestGateway
let two: TestGateway
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-every-kind-'))
  one = await startGateway(SCIM, {demo: false})
  two = await startGateway(SCIM, {demo: false})
  await fillEveryKind(one, await seedPeople(one))
  await seedPeople(two)
}, 60_000)
afterAll(async () => {
  await one.close()
  await two.close()
  rmSync(folder, {recursive: true, force: true})
})

const at = (gateway: TestGateway, env: Record<string, string>, ...argv: string[]) =>
  run(argv, {env: {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: ADMIN_KEY, ...env}, folder, now_ms: Date.now()})

function filesOf(path: string): Record<string, string> {
  const entries = readdirSync(join(folder, path), {recursive: true, withFileTypes: true}).filter(entry =>
    entry.isFile(),
  )
  const paths = entries.map(entry => join(entry.parentPath, entry.name)).sort()
  return Object.fromEntries(paths.map(each => [each.slice(join(folder, path, '/').length), readFileSync(each, 'utf8')]))
}

/** A value for each secret that the files name. */
function secretsOf(files: Record<string, string>): Record<string, string> {
  const names = Object.values(files).flatMap(text =>
    [...text.matchAll(/\$\{env:([A-Z0-9_]+)\}/g)].map(([, name]) => name!),
  )
  return Object.fromEntries(names.map(name => [name, `canary-${name.toLowerCase()}-0123456789`]))
}

const audited = async ({admin}: TestGateway) =>
  (
    await admin<{total: number}>(
      'GET',
      '/audit-logs?page_size=1&start_time=2020-01-01T00:00:00Z&end_time=2090-01-01T00:00:00Z',
    )
  ).total

test('every kind is exported, applied to an empty gateway and exported again the same; applying again changes nothing', async () => {
  expect(await at(one, {}, 'export', '--dir', 'a')).toMatchObject({code: 0, stderr: ''})
  const files = filesOf('a')
  const folders = [...new Set(Object.keys(files).map(path => path.split('/')[0]))]
  expect(folders.toSorted()).toEqual(KINDS.map(kind => kind.folder).toSorted())
  expect(JSON.stringify(files)).not.toMatch(/canary-|•|[0-9a-f]{8}-[0-9a-f]{4}-[47]/)
  const secrets = secretsOf(files)
  expect(await at(two, secrets, 'apply', '-f', 'a', '--keys-file', 'keys.txt')).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^The secrets of /),
  })
  expect(await at(two, {}, 'export', '--dir', 'b')).toMatchObject({code: 0, stderr: ''})
  expect(filesOf('b')).toEqual(files)
  const before = await audited(two)
  for (const env of [{}, secrets]) {
    expect(await at(two, env, 'apply', '-f', 'a', '--prune', '--yes')).toEqual({
      code: 0,
      stdout: `${Object.keys(files).length} resources: nothing differs.\n`,
      stderr: '',
    })
  }
  expect(await audited(two)).toBe(before)
}, 120_000)

const CHANGES: readonly (readonly [path: string, from: string, to: string])[] = [
  ['organisation/settings.yaml', 'max_expiry_days: 365', 'max_expiry_days: 400'],
  ['workspaces/ws-red.yaml', 'team: red', 'team: crimson'],
  ['workspace-settings/ws-red/settings.yaml', 'membersViewLogs: true', 'membersViewLogMetadata: false'],
  ['members/ws-red/bob-example-com~', 'role: member', 'role: manager'],
  ['groups/ws-red/search-team~', 'role: member', 'role: manager'],
  ['groups/ws-blue/search-team~', 'role: member', 'role: manager'],
  ['secret-references/vault-mcp.yaml', 'secret_path: secret/mcp', 'secret_path: secret/other'],
  ['secret-references/aws-docs.yaml', 'aws_region: eu-central-1', 'aws_region: eu-west-1'],
  ['guardrails/ws-red/pg-red.yaml', 'deny: true', 'deny: false'],
  ['integrations/ws-red/red-cloud.yaml', 'name: red', 'name: Red cloud'],
  ['providers/ws-red/red-main.yaml', 'name: red', 'name: Red main'],
  ['virtual-keys/ws-red/red-old.yaml', 'name: red', 'name: Red old'],
  ['mcp-integrations/house-docs.yaml', 'name: House', 'name: House documents'],
  [
    'mcp-integrations/house-docs.yaml',
    '    - enabled: false\n      id: ws-blue\n',
    '    - enabled: false\n      id: default\n',
  ],
  [
    'mcp-servers/ws-red/docs.yaml',
    '    - enabled: true\n      user: ada@example.com\n',
    '    - enabled: true\n      user: bob@example.com\n',
  ],
  ['configs/ws-red/pc-red.yaml', 'provider: "@red-main"', 'provider: "@red-old"'],
  ['defaults/guardrails.yaml', 'input_guardrails', 'output_guardrails'],
  ['labels/ws-red/canary.yaml', 'for a few', 'for a few more'],
  ['collections/ws-red/letters-red.yaml', 'name: Letters', 'name: Post'],
  ['partials/ws-red/pp-rules-red.yaml', 'Be very kind.', 'Be brief.'],
  ['prompts/ws-red/pp-greeting-red.yaml', 'content: Hello {{name}}', 'content: Good day {{name}}'],
  ['prompts/ws-red/pp-greeting-red.yaml', '        - production\n', ''],
  ['prompts/ws-red/pp-raw-red.yaml', 'name: Raw', 'collection: support-red\n  name: Raw text'],
  ['api-keys/ws-red/red-app~', 'config_id: pc-red', 'allow_config_override: false\n    config_id: pc-red'],
  ['usage-policies/ws-red/people~', 'credit_limit: 5', 'credit_limit: 7'],
  ['rate-policies/ws-red/rate~', 'value: 60\n', 'value: 70\n'],
  ['deployments/eu-1.yaml', '    - ws-blue', '    - default'],
  ['saved-filters/ws-red/limits-reached~', '"429"', '"503"'],
  ['prices/openai-ours~', 'price: 0.0004', 'price: 0.0005'],
  ['organisation-auth/settings.yaml', 'clock_skew_s: 30', 'clock_skew_s: 40'],
  ['organisation-auth/settings.yaml', 'workspace_prefix: "team "', 'workspace_prefix: "unit "'],
]

test('what is changed in the files of each kind is changed in the gateway', async () => {
  const files = filesOf('b')
  const secrets = secretsOf(files)
  expect([...new Set(CHANGES.map(([path]) => path.split('/')[0]))].toSorted()).toEqual(
    KINDS.map(kind => kind.folder).toSorted(),
  )
  for (const [start, from, to] of CHANGES) {
    const path = Object.keys(files).find(each => each.startsWith(start))
    expect({start, text: files[path!]}).toEqual({start, text: expect.stringContaining(from)})
    files[path!] = files[path!]!.replace(from, to)
    writeFileSync(join(folder, 'b', path!), files[path!]!)
  }
  expect(await at(two, secrets, 'apply', '-f', 'b')).toMatchObject({code: 0, stderr: ''})
  expect((await at(two, secrets, 'apply', '-f', 'b')).stdout).toContain('nothing differs')
  await at(two, {}, 'export', '--dir', 'b')
  expect(filesOf('b')).toEqual(files)
  // And back.
  expect(await at(two, secrets, 'apply', '-f', 'a')).toMatchObject({code: 0, stderr: ''})
  await at(two, {}, 'export', '--dir', 'b')
  expect(filesOf('b')).toEqual(filesOf('a'))
}, 120_000)

const WRONG: Readonly<Record<string, readonly [file: string, says: string]>> = {
  member: [
    '{kind: member, workspace: default, slug: nobody@example.com, spec: {role: member}}',
    'the slug is the e-mail address of a user',
  ],
  role: ['{kind: member, workspace: default, slug: ada@example.com, spec: {role: king}}', 'spec.role: must be'],
  collection: [
    '{kind: collection, workspace: default, slug: c, spec: {name: C, parent: absent}}',
    'spec.parent: there is no collection absent',
  ],
  prompt: [
    '{kind: prompt, workspace: default, slug: pp-x, spec: {name: X, versions: [{string: Hi, virtual_key: absent, labels: [gone]}]}}',
    'spec.versions[0].virtual_key: there is no provider or config absent',
  ],
  label: [
    '{kind: prompt, workspace: ws-red, slug: pp-y, spec: {name: Y, versions: [{string: Hi, virtual_key: red-main, labels: [gone]}]}}',
    'spec.versions[0].labels: there is no label gone.',
  ],
  published: [
    '{kind: prompt, workspace: ws-red, slug: pp-z, spec: {name: Z, versions: [{string: Hi, virtual_key: red-main}]}}',
    'spec.versions: one of them must be published: true',
  ],
  template: [
    '{kind: prompt, workspace: ws-red, slug: pp-w, spec: {name: W, versions: [{string: 7, virtual_key: red-main, published: true}]}}',
    'spec.versions[0].string: must be a string, not a number',
  ],
  secret: [
    '{kind: secret-reference, slug: s, spec: {name: S, manager_type: hashicorp_vault, secret_path: p, auth_config: {vault_auth_type: token, vault_addr: "https://v.example.com", vault_token: hvs.canary-9}}}',
    'spec.auth_config.vault_token: holds a secret',
  ],
  login: [
    '{kind: secret-reference, slug: s, spec: {name: S, manager_type: aws_sm, secret_path: p, auth_config: {aws_auth_type: accessKey}}}',
    'spec.auth_config.aws_access_key_id: is required',
  ],
  filled: [
    '{kind: integration, slug: m, spec: {name: M, ai_provider_id: openai, secret_mappings: [{target_field: key, secret_reference_id: absent}]}}',
    'spec.secret_mappings[0].secret_reference_id: there is no secret-reference absent',
  ],
  mcp: [
    '{kind: mcp-integration, slug: m, spec: {name: M, url: "https://m.example.com", auth_type: none, transport: http, secret_mappings: [{target_field: url, secret_reference_id: absent}]}}',
    'spec.secret_mappings[0].secret_reference_id: there is no secret-reference absent',
  ],
  header: [
    '{kind: mcp-integration, slug: m, spec: {name: M, url: "https://m.example.com", auth_type: headers, transport: http, configurations: {custom_headers: {x-api-key: canary-9}}}}',
    'holds a secret',
  ],
  server: [
    '{kind: mcp-server, workspace: default, slug: srv, spec: {name: S, mcp_integration_id: absent}}',
    'there is no mcp-integration absent',
  ],
  user: [
    '{kind: mcp-server, workspace: ws-red, slug: srv, spec: {name: S, mcp_integration_id: red-docs, user_access: [{user: eve@example.com, enabled: true}]}}',
    'spec.user_access[0].user: there is no member eve@example.com',
  ],
  policy: [
    '{kind: usage-policy, workspace: default, slug: P, spec: {type: cost, credit_limit: 1, group_by: [{key: api_key}], conditions: [{key: api_key, value: absent}]}}',
    'spec.conditions: there is no api-key absent',
  ],
  unnamed: [
    '{kind: rate-policy, workspace: default, slug: unnamed-000000000000, spec: {type: requests, unit: rpm, value: 1, group_by: [{key: api_key}], conditions: [{key: model, value: "*"}]}}',
    'the slug of a policy without a name is unnamed-',
  ],
  deployment: [
    '{kind: deployment, slug: d, spec: {name: D, type: production, allowed_workspaces: [absent]}}',
    'there is no workspace absent',
  ],
  filter: ['{kind: saved-filter, workspace: default, slug: F, spec: {filters: {colour: red}}}', 'spec.filters: '],
  settings: [
    '{kind: organisation-settings, slug: settings, spec: {security: {logs: {membersViewLogs: 1}}}}',
    'spec.security.logs.membersViewLogs',
  ],
  tokens: ['{kind: organisation-auth, slug: settings, spec: {jwt: {algorithms: [HS256]}}}', 'spec.jwt.algorithms[0]'],
}

test.each(Object.entries(WRONG))(
  'a wrong %s is said by its field before anything is changed',
  async (_, [text, says]) => {
    writeFileSync(join(folder, 'wrong.yaml'), text)
    const {code, stdout, stderr} = await at(two, {}, 'apply', '-f', 'wrong.yaml')
    expect({code, stdout, stderr}).toEqual({code: 2, stdout: '', stderr: expect.stringContaining(says)})
    expect(stderr).toContain('Nothing was changed.')
    expect(stderr).not.toContain('canary')
  },
)

test('what is taken out of the files is taken away, and what it was comes again', async () => {
  const files = filesOf('a')
  const secrets = secretsOf(files)
  const left = Object.entries(files).filter(([path]) => /^(workspaces\/|api-keys\/first-admin)/.test(path))
  for (const path of Object.keys(files)) if (!left.some(([kept]) => kept === path)) rmSync(join(folder, 'a', path))
  const kinds = KINDS.map(kind => kind.name)
  expect(await at(two, secrets, 'apply', '-f', 'a', '--prune', '--yes', '--kind', ...kinds)).toMatchObject({
    code: 0,
    stderr: '',
  })
  await at(two, {}, 'export', '--dir', 'c')
  expect(Object.keys(filesOf('c'))).toEqual(left.map(([path]) => path))
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, 'a', path), text)
  expect(await at(two, secrets, 'apply', '-f', 'a', '--keys-file', 'keys2.txt')).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^The secrets of /),
  })
  await at(two, {}, 'export', '--dir', 'c')
  expect(filesOf('c')).toEqual(files)
}, 120_000)
