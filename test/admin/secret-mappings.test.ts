import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {type Admin, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

const manager = {
  manager_type: 'hashicorp_vault',
  auth_config: {vault_auth_type: 'token', vault_addr: 'https://vault.example.com', vault_token: 'hvs.0123456789'},
}

describe.each(KINDS)('secrets that fill fields, on %s', kind => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin({kind})
  })
  afterAll(() => admin.close())

  let made = 0
  const reference = async (more: object = {}) => {
    const reply = await admin.asAdmin('POST', '/v1/secret-references', {
      name: `Key ${++made}`,
      secret_path: 'kv/data/openai',
      ...manager,
      ...more,
    })
    expect(reply.status, reply.text).toBe(200)
    return reply.body as {id: string; slug: string}
  }
  const key = (secret_reference_id: string) => [{target_field: 'key', secret_reference_id}]

  test('an integration keeps them by id in place of a key, shows them, and gives them up for others or none', async () => {
    const {id, slug} = await reference()
    const body = {
      name: 'Mapped',
      slug: `mapped-${slug}`,
      ai_provider_id: 'openai',
      secret_mappings: [{...key(slug)[0], secret_key: 'api_key'}],
    }
    expect((await admin.asAdmin('POST', '/v1/integrations', body)).status).toBe(200)
    const path = `/v1/integrations/${body.slug}`
    const shown = async () => (await admin.asAdmin('GET', path)).body
    expect(await shown()).toMatchObject({
      masked_key: null,
      secret_mappings: [{target_field: 'key', secret_reference_id: id, secret_key: 'api_key'}],
    })
    expect((await admin.asAdmin('PUT', path, {description: 'Changed'})).status).toBe(200)
    expect((await shown()).secret_mappings).toHaveLength(1)
    const other = await reference()
    const secret_mappings = [{target_field: 'configurations.openai_organization', secret_reference_id: other.id}]
    expect((await admin.asAdmin('PUT', path, {secret_mappings})).status).toBe(200)
    expect((await shown()).secret_mappings).toEqual(secret_mappings)
    expect((await admin.asAdmin('PUT', path, {secret_mappings: []})).status).toBe(200)
    expect((await shown()).secret_mappings).toEqual([])
  })

  test('a virtual key has its own; those of a shared integration are changed there', async () => {
    const {id, slug} = await reference()
    const virtual = {name: 'Mapped', slug: `virtual-${slug}`, provider: 'openai', secret_mappings: key(slug)}
    expect((await admin.asWorkspace('POST', '/v1/virtual-keys', virtual)).status).toBe(200)
    const path = `/v1/virtual-keys/${virtual.slug}`
    expect((await admin.asWorkspace('GET', path)).body.secret_mappings).toEqual(key(id))
    expect((await admin.asWorkspace('PUT', path, {secret_mappings: []})).status).toBe(200)
    expect((await admin.asWorkspace('GET', path)).body).toMatchObject({secret_mappings: [], masked_key: null})

    const shared = {
      name: 'Shared',
      slug: `shared-${slug}`,
      ai_provider_id: 'openai',
      key: 'sk-0123456789',
      default_provider_slug: `own-${slug}`,
    }
    expect(
      (await admin.asWorkspace('POST', '/v1/integrations', {...shared, create_default_provider: true})).status,
    ).toBe(200)
    const refused = await admin.asWorkspace('PUT', `/v1/virtual-keys/own-${slug}`, {secret_mappings: key(slug)})
    expect([refused.status, refused.body.data.message]).toEqual([
      400,
      `secret_mappings: belongs to the integration shared-${slug} and is changed there.`,
    ])
  })

  test('SM23: a reference is for the workspaces that it names, and is not deleted while it fills a field', async () => {
    const sibling = await admin.seedWorkspace(admin.organisation_id)
    const {id, slug} = await reference({allowed_workspaces: [sibling.id]})
    const virtual = {name: 'Mapped here', provider: 'openai', secret_mappings: key(slug)}
    const unseen = await admin.asWorkspace('POST', '/v1/virtual-keys', virtual)
    expect([unseen.status, unseen.body.data.errorCode]).toEqual([404, 'AB02'])
    const there = await admin.asAdmin('POST', '/v1/virtual-keys', {...virtual, workspace_id: sibling.id})
    expect(there.status).toBe(200)
    const deleted = () => admin.asAdmin('DELETE', `/v1/secret-references/${id}`)
    const kept = await deleted()
    expect([kept.status, kept.body.data.message]).toEqual([
      400,
      'secretReferenceId: is still mapped by Mapped here: take it out there first.',
    ])
    await admin.asAdmin('DELETE', `/v1/virtual-keys/${there.body.data.slug}?workspace_id=${sibling.id}`)
    expect((await deleted()).status).toBe(200)
  })
})
