import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {mcpIntegrations} from '../../src/admin/mcp/integrations.ts'
import {secretReferences} from '../../src/admin/secret-references.ts'
import {openLogin} from '../../src/store/secret-references.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {contentsOf} from '../support/database-contents.ts'
import {KINDS} from '../support/stores.ts'

const absent = refusal('AB08', 'No secret reference is known by this id.')
const AT = '2026-03-04T05:06:07.000Z'
const ACCESS_KEY = {
  aws_auth_type: 'accessKey',
  aws_access_key_id: 'AKIA0123456789',
  aws_secret_access_key: 'canary-aws-0123456789',
  aws_region: 'eu-west-1',
}
const VAULT = {
  vault_auth_type: 'token',
  vault_addr: 'https://vault.example.com:8200',
  vault_token: 'canary-vault-0123456789',
}

describe.each(KINDS)('secret references on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  beforeAll(async () => {
    admin = await startAdmin({kind, operations: [...secretReferences, ...mcpIntegrations]})
    other = await admin.foreign()
  })
  afterAll(() => admin.close())

  const good = {name: 'Model keys', manager_type: 'aws_sm', auth_config: ACCESS_KEY, secret_path: 'prod/models'}
  const post = (body: object) => admin.asAdmin('POST', '/v1/secret-references', {...good, ...body})
  const create = async (body: object = {}) => {
    const reply = await post(body)
    expect([reply.status, reply.body]).toEqual([
      200,
      {id: expect.any(String), slug: expect.any(String), object: 'secret-reference'},
    ])
    return reply.body as {id: string; slug: string}
  }
  const get = async (named: string) => (await admin.asAdmin('GET', `/v1/secret-references/${named}`)).body
  const put = (named: string, body: object) => admin.asAdmin('PUT', `/v1/secret-references/${named}`, body)
  const login = async (id: string) => {
    const row = await admin.store.db
      .selectFrom('secret_references')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return openLogin(admin.services.seal, row)
  }

  test('one is created with its login masked, and shown by id and slug', async () => {
    const {id, slug} = await create({tags: {team: 'search'}, description: 'For models', secret_key: 'openai'})
    expect(slug).toMatch(/^model-keys-[0-9a-f]{6}$/)
    const {aws_secret_access_key: _, ...plain} = ACCESS_KEY
    for (const named of [id, slug])
      expect(await get(named)).toEqual({
        id,
        slug,
        name: 'Model keys',
        description: 'For models',
        organisation_id: admin.organisation_id,
        manager_type: 'aws_sm',
        secret_path: 'prod/models',
        secret_key: 'openai',
        allow_all_workspaces: true,
        allowed_workspaces: [],
        tags: {team: 'search'},
        status: 'ACTIVE',
        created_by: expect.any(String),
        created_at: AT,
        last_updated_at: AT,
        auth_config: {...plain, masked_aws_secret_access_key: 'can•••••6789'},
        object: 'secret-reference',
      })
    expect(await login(id)).toEqual({aws_secret_access_key: ACCESS_KEY.aws_secret_access_key})
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      resource_type: 'secret-reference',
      resource_id: id,
      action: 'create',
    })
  })

  test('every way to log in is taken, and no other field', async () => {
    const ways = [
      [
        'aws_sm',
        {
          aws_auth_type: 'assumedRole',
          aws_role_arn: 'arn:aws:iam::123456789012:role/read',
          aws_external_id: null,
          aws_region: 'eu-west-1',
        },
      ],
      ['aws_sm', {aws_auth_type: 'serviceRole', aws_region: 'eu-west-1'}],
      [
        'azure_kv',
        {
          azure_auth_mode: 'entra',
          azure_entra_tenant_id: 't',
          azure_entra_client_id: 'c',
          azure_entra_client_secret: 'canary-entra-0123456789',
          azure_vault_url: 'https://keys.vault.azure.net',
        },
      ],
      [
        'azure_kv',
        {azure_auth_mode: 'managed', azure_vault_url: 'https://keys.vault.azure.net', azure_managed_client_id: 'c'},
      ],
      ['azure_kv', {azure_auth_mode: 'default', azure_vault_url: 'https://keys.vault.azure.net'}],
      ['hashicorp_vault', VAULT],
      [
        'hashicorp_vault',
        {
          ...VAULT,
          vault_auth_type: 'approle',
          vault_token: undefined,
          vault_role_id: 'r',
          vault_secret_id: 'canary-approle',
        },
      ],
      [
        'hashicorp_vault',
        {vault_auth_type: 'kubernetes', vault_addr: VAULT.vault_addr, vault_role: 'gateway', vault_namespace: 'ns'},
      ],
    ] as const
    for (const [manager_type, auth_config] of ways) {
      const of = {manager_type, ...(manager_type === 'azure_kv' && {secret_path: 'openai'})}
      expect((await post({...of, auth_config})).status, JSON.stringify(auth_config)).toBe(200)
      expect((await post({...of, auth_config: {...auth_config, wrong: 'x'}})).status).toBe(400)
    }
  })

  test.each([
    [{auth_config: VAULT}, 'auth_config.aws_auth_type'],
    [
      {auth_config: {...ACCESS_KEY, aws_secret_access_key: undefined}},
      'auth_config.aws_secret_access_key: is required',
    ],
    [{auth_config: {...ACCESS_KEY, aws_secret_access_key: 'can•••••6789'}}, 'holds the mask of a secret'],
    [{manager_type: 'hashicorp_vault', auth_config: {...VAULT, vault_addr: 'ftp://vault'}}, 'must begin with http'],
    [{manager_type: 'env'}, 'manager_type: must be'],
    [{secret_path: ''}, 'secret_path'],
    [{slug: 'no spaces'}, 'slug'],
    [{allow_all_workspaces: true, allowed_workspaces: ['default']}, 'allowed_workspaces: is of no use'],
    [{allow_all_workspaces: false}, 'allowed_workspaces: is required'],
    [{allowed_workspaces: []}, 'allowed_workspaces'],
    [{status: 'ACTIVE'}, 'status'],
  ])('%j is refused', async (body, why) => {
    const reply = await post(body)
    expect([reply.status, reply.body.data.message]).toEqual([400, expect.stringContaining(why)])
    expect(reply.text).not.toContain('canary')
  })

  test('a slug is taken once (400), and free again when its reference is deleted', async () => {
    await create({slug: 'once'})
    const again = await post({slug: 'once'})
    expect(again.body).toEqual(refusal('AB01', 'slug: once is the slug of another secret reference.'))
    expect(again.status).toBe(400)
    expect((await admin.asAdmin('DELETE', '/v1/secret-references/once')).body).toEqual({})
    const gone = await admin.asAdmin('GET', '/v1/secret-references/once')
    expect([gone.status, gone.body]).toEqual([404, absent])
    await create({slug: 'once'})
  })

  test('a change merges the login field by field; another way forgets the one before; the manager stays', async () => {
    const {id} = await create()
    expect((await put(id, {auth_config: {aws_region: 'us-east-1'}, manager_type: 'azure_kv'})).body).toEqual({})
    expect(await get(id)).toMatchObject({
      manager_type: 'aws_sm',
      auth_config: {
        aws_region: 'us-east-1',
        aws_access_key_id: 'AKIA0123456789',
        masked_aws_secret_access_key: 'can•••••6789',
      },
    })
    expect(await login(id)).toEqual({aws_secret_access_key: ACCESS_KEY.aws_secret_access_key})
    expect((await put(id, {auth_config: {aws_auth_type: 'assumedRole'}})).status).toBe(400)
    expect((await put(id, {auth_config: {aws_auth_type: 'assumedRole', aws_role_arn: 'arn:1'}})).status).toBe(200)
    expect((await get(id)).auth_config).toEqual({
      aws_auth_type: 'assumedRole',
      aws_role_arn: 'arn:1',
      aws_region: 'us-east-1',
    })
    expect(await login(id)).toEqual({})
    for (const body of [{}, {manager_type: 'aws_sm'}]) expect((await put(id, body)).status).toBe(400)
    expect((await put(id, {description: null, tags: null, secret_key: null, name: 'New'})).status).toBe(200)
    expect(await get(id)).toMatchObject({name: 'New', description: null, tags: {}, secret_key: null})
  })

  test('scenario SC17: a secret of AWS has a region and is no ARN of another service, at save', async () => {
    const {aws_region: _, ...nowhere} = ACCESS_KEY
    const arn = 'arn:aws:secretsmanager:us-east-1:111122223333:secret:prod/openai-AbCdEf'
    const said = async (body: object) => (await post(body)).body.data?.message
    expect(await said({auth_config: nowhere})).toContain('auth_config.aws_region')
    expect((await post({auth_config: nowhere, secret_path: arn})).status).toBe(200)
    for (const wrong of [
      'arn:aws:ssm:us-east-1:111122223333:parameter/openai',
      `${arn.slice(0, 30)}evil.example:1:secret:x`,
    ])
      expect(await said({secret_path: wrong})).toContain('secret_path')
    const {id} = await create({secret_path: arn, auth_config: nowhere})
    expect((await put(id, {secret_path: 'prod/openai'})).status).toBe(400)
    expect((await put(id, {secret_path: 'prod/openai', auth_config: {aws_region: 'us-east-1'}})).status).toBe(200)
    expect((await put(id, {auth_config: {aws_region: null}})).status).toBe(400)
    expect((await put(id, {name: 'Renamed'})).status).toBe(200)
  })

  test('a login goes to another address with secrets that are given again alone', async () => {
    const {id} = await create({manager_type: 'hashicorp_vault', auth_config: VAULT})
    const elsewhere = {vault_addr: 'https://elsewhere.example.com'}
    const refused = await put(id, {auth_config: elsewhere})
    expect([refused.status, refused.body.data.message]).toEqual([
      400,
      expect.stringContaining('auth_config.vault_token: is required'),
    ])
    expect((await put(id, {auth_config: {vault_addr: VAULT.vault_addr, vault_namespace: 'ns'}})).status).toBe(200)
    expect(await login(id)).toEqual({vault_token: VAULT.vault_token})
    expect((await put(id, {auth_config: {...elsewhere, vault_token: 'canary-new-0123456789'}})).status).toBe(200)
    expect((await get(id)).auth_config).toMatchObject({...elsewhere, vault_namespace: 'ns'})
  })

  test('a list of workspaces closes it to others, and opening it to all forgets the list', async () => {
    const {id} = await create({allowed_workspaces: [admin.workspace_slug, admin.workspace_id]})
    expect(await get(id)).toMatchObject({allow_all_workspaces: false, allowed_workspaces: [admin.workspace_id]})
    expect((await put(id, {allow_all_workspaces: false})).status).toBe(200)
    expect(await get(id)).toMatchObject({allow_all_workspaces: false, allowed_workspaces: [admin.workspace_id]})
    expect((await put(id, {allow_all_workspaces: true})).status).toBe(200)
    expect(await get(id)).toMatchObject({allow_all_workspaces: true, allowed_workspaces: []})
    const foreign = await put(id, {allowed_workspaces: [other.workspace.id]})
    expect([foreign.status, foreign.body.data.errorCode]).toEqual([404, 'AB02'])
  })

  test('the list is paged, and narrowed by manager, tags and text', async () => {
    const {id, slug} = await create({
      name: '100%_sure',
      manager_type: 'hashicorp_vault',
      auth_config: VAULT,
      tags: {team: 'rare'},
    })
    const list = async (query: string) => (await admin.asAdmin('GET', `/v1/secret-references?${query}`)).body
    const only = {
      object: 'list',
      total: 1,
      data: [expect.objectContaining({id, slug, status: 'ACTIVE', object: 'secret-reference'})],
    }
    expect(await list('search=0%25_S')).toEqual(only)
    expect(await list(`tags=${encodeURIComponent('{"team":"rare"}')}&manager_type=hashicorp_vault`)).toEqual(only)
    const {total} = await list('')
    expect((await list('page_size=1&current_page=1')).data).toHaveLength(1)
    expect(await list(`page_size=100&current_page=1`)).toEqual({object: 'list', total, data: []})
    expect((await admin.asAdmin('GET', '/v1/secret-references?page_size=101')).status).toBe(400)
  })

  test('SM23: one that fills a field of an MCP integration is not deleted', async () => {
    const {id, slug} = await create()
    const secret_mappings = [
      {target_field: 'configurations.custom_headers', secret_reference_id: slug, value_format: 'json'},
    ]
    const mcp = {
      name: 'Docs',
      url: 'https://mcp.example.com/mcp',
      auth_type: 'headers',
      transport: 'http',
      secret_mappings,
    }
    const made = await admin.asAdmin('POST', '/v1/mcp-integrations', mcp)
    expect(made.status).toBe(200)
    const kept = await admin.asAdmin('DELETE', `/v1/secret-references/${id}`)
    expect([kept.status, kept.body.data.message]).toEqual([400, expect.stringContaining(made.body.slug)])
    await admin.asAdmin('DELETE', `/v1/mcp-integrations/${made.body.id}`)
    expect((await admin.asAdmin('DELETE', `/v1/secret-references/${id}`)).status).toBe(200)
  })

  test("another organisation's is not found, in the words of none; a workspace's key is refused", async () => {
    const {id} = await create()
    for (const [method, body] of [['GET'], ['PUT', {name: 'x'}], ['DELETE']] as const) {
      const theirs = await admin.send(other.admin.key, method, `/v1/secret-references/${id}`, body)
      const none = await admin.send(other.admin.key, method, '/v1/secret-references/none', body)
      expect([theirs.status, theirs.text]).toEqual([404, none.text])
      expect((await admin.asWorkspace(method, `/v1/secret-references/${id}`, body)).status).toBe(403)
    }
    expect((await post({organisation_id: other.organisation_id})).status).toBe(404)
  })

  test('no secret lies open in the database', async () => {
    await create({manager_type: 'hashicorp_vault', auth_config: VAULT})
    expect(await contentsOf(admin.store)).not.toContain('canary-')
  })
})
