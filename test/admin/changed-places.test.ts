import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {SECRET_SETTINGS, settingsOf} from '../../src/providers/configurations.ts'
import {OPTIONS, type OptionName} from '../../src/providers/option-table.ts'
import {optionsFor} from '../../src/providers/options.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {otherValue, PLACES} from '../support/places.ts'

/**
 * Who may change an integration but not read its key does not get the key by moving the integration to a host of their
 * own.
 */
let admin: Admin
beforeAll(async () => {
  admin = await startAdmin()
})
afterAll(() => admin.close())

const KEY = 'SECRET-key-0123456789'
let made = 0
async function create(kind: string, settings: object, more: object = {}, as = admin.asAdmin) {
  const slug = `place-${++made}`
  const body = {name: slug, slug, ai_provider_id: kind, key: KEY, configurations: settings, ...more}
  const reply = await as('POST', '/v1/integrations', body)
  expect(reply.status, reply.text).toBe(200)
  return `/v1/integrations/${slug}`
}
const shownSettings = async (path: string) =>
  (await admin.asAdmin('GET', path)).body.configurations as Record<string, unknown>

/** Every setting of a kind that decides where its secrets go, as the schema of the kind takes it. */
const MOVES = PLACES.flatMap(place => {
  const names = [
    'custom_host',
    ...optionsFor(place.kind).filter(name => OPTIONS[name].decides && !SECRET_SETTINGS.includes(name)),
  ]
  return names.flatMap(field => {
    if (field.endsWith('_region')) return []
    // another way to log in comes with what it needs
    const way = {azure_auth_mode: 'default', aws_auth_type: 'apiKey', vertex_auth_type: 'workload'}[field]
    const value = way !== undefined && way !== place.settings[field] ? way : otherValue(field)
    const after = {...place.settings, [field]: value}
    const is_taken = settingsOf(place.kind).safeParse(after).success
    return is_taken ? [{...place, field, after}] : []
  })
})

describe.each(MOVES.map(move => [move.name, move.field, move] as const))(
  '%s with another %s',
  (_, field, {kind, settings, after}) => {
    test('wants its secrets again', async () => {
      const path = await create(kind, settings)
      const masked = await shownSettings(path)
      const shown = {
        ...after,
        ...Object.fromEntries(
          SECRET_SETTINGS.flatMap(name => (masked[name] === undefined ? [] : [[name, masked[name]]])),
        ),
      }
      const has_masks = SECRET_SETTINGS.some(name => name in masked)
      const refused = await admin.asAdmin('PUT', path, {configurations: shown})
      // a login without the key is taken where no other secret stays
      const keeps = refused.status === 400
      if (keeps) {
        expect(refused.body.data).toMatchObject({
          errorCode: 'AB01',
          message: expect.stringMatching(/^secret_required: /),
        })
        expect(refused.body.data.message).toContain(`configurations.${field} changes`)
      } else expect([refused.status, has_masks]).toEqual([200, false])
      if (keeps) expect(await shownSettings(path)).toEqual(masked)
      const mask = await admin.asAdmin('PUT', path, {key: 'SEC•••••6789', configurations: shown})
      expect(mask.status).toBe(keeps ? 400 : 200)
      const whole = await admin.asAdmin('PUT', path, {key: KEY, configurations: after})
      expect([whole.status, whole.text]).toEqual([200, '{}'])
      if (field === 'custom_host') expect(keeps).toBe(true)
    })
  },
)

test('every setting that decides a place is among them', () => {
  const tried = new Set(MOVES.map(({field}) => field))
  const settable = (Object.keys(OPTIONS) as OptionName[]).filter(
    name =>
      OPTIONS[name].decides &&
      !OPTIONS[name].secret &&
      !name.endsWith('_region') &&
      PLACES.some(({kind, settings}) => settingsOf(kind).safeParse({...settings, [name]: otherValue(name)}).success),
  )
  expect(settable.filter(name => !tried.has(name))).toEqual([])
})

describe('a region', () => {
  test.each([
    ['bedrock', {aws_auth_type: 'apiKey', aws_region: 'us-east-1'}, {aws_region: 'eu-west-1'}, 200],
    ['bedrock', {aws_auth_type: 'apiKey', aws_region: 'us-east-1'}, {aws_region: 'cn-north-1'}, 400],
    ['bedrock', {aws_auth_type: 'apiKey', aws_region: 'us-east-1'}, {aws_region: 'other.example/'}, 400],
    [
      'vertex-ai',
      {vertex_auth_type: 'basic', vertex_region: 'us-central1', vertex_project_id: 'p'},
      {vertex_region: 'eu'},
      200,
    ],
    [
      'oracle',
      {oracle_region: 'us-chicago-1', oracle_compartment_id: 'ocid1.c.oc1..a'},
      {oracle_region: 'eu-frankfurt-1'},
      200,
    ],
    ['byteplus', {byteplus_region: 'ap-southeast'}, {byteplus_region: 'eu-west'}, 200],
    ['byteplus', {}, {byteplus_region: 'eu-west'}, 200],
  ])('of %s from %j to %j is %s', async (kind, settings, change, status) => {
    const path = await create(kind, settings)
    expect((await admin.asAdmin('PUT', path, {configurations: {...settings, ...change}})).status).toBe(status)
  })
})

describe('what stays is no change', () => {
  test('of the same host, of what decides nothing, of an integration without secrets, of the same value again', async () => {
    const path = await create('openai', {custom_host: 'https://mine.example/v1'})
    for (const configurations of [
      {custom_host: 'https://mine.example/v1/'},
      {custom_host: 'https://mine.example/v1', openai_project: 'p'},
    ])
      expect((await admin.asAdmin('PUT', path, {configurations})).status).toBe(200)
    expect((await admin.asAdmin('PUT', path, {configurations: {}})).status).toBe(400)
    expect((await admin.asAdmin('PUT', path, {key: KEY, configurations: {}})).status).toBe(200)
    expect(
      (await admin.asAdmin('PUT', path, {key: null, configurations: {custom_host: 'https://other.example'}})).status,
    ).toBe(200)
    expect((await admin.asAdmin('PUT', path, {configurations: {custom_host: 'https://third.example'}})).status).toBe(
      200,
    )
  })

  test('a header of the integration is a secret, too', async () => {
    const settings = {custom_host: 'https://mine.example/v1', custom_headers: {'x-secret': 'SECRET-0123456789'}}
    const path = await create('openai', settings)
    const {custom_headers} = await shownSettings(path)
    const moved = {key: KEY, configurations: {custom_host: 'https://other.example', custom_headers}}
    const refused = await admin.asAdmin('PUT', path, moved)
    expect([refused.status, refused.body.data.message]).toEqual([
      400,
      expect.stringContaining('configurations.custom_headers'),
    ])
    expect(
      (
        await admin.asAdmin('PUT', path, {
          ...moved,
          configurations: {...moved.configurations, custom_headers: settings.custom_headers},
        })
      ).status,
    ).toBe(200)
  })
})

test('a virtual key moves with its key alone', async () => {
  const body = {
    name: 'vk',
    slug: 'vk-moved',
    provider: 'openai',
    key: KEY,
    model_config: {custom_host: 'https://mine.example/v1'},
  }
  expect((await admin.asWorkspace('POST', '/v1/virtual-keys', body)).status).toBe(200)
  const put = (change: object) => admin.asWorkspace('PUT', '/v1/virtual-keys/vk-moved', change)
  const model_config = {custom_host: 'https://other.example/v1'}
  const refused = await put({model_config})
  expect([refused.status, refused.body.data.message]).toEqual([
    400,
    expect.stringContaining('model_config.custom_host changes'),
  ])
  expect((await put({model_config, key: 'SEC•••••6789'})).status).toBe(400)
  expect((await put({model_config, key: KEY})).status).toBe(200)
})

// The official client sends its whole plan, and the key only when it is new to it, or when `key_version` was raised.
describe('Terraform', () => {
  const plan = {name: 'T', description: '', configurations: {custom_host: 'https://mine.example/v1'}}
  const moved = {...plan, configurations: {custom_host: 'https://other.example/v1'}}
  test.each([
    ['with `key`', {...moved, key: KEY}, 200],
    ['with `key_wo` and a raised `key_version`', {...moved, key: 'SECRET-key-anew-0123456789'}, 200],
    ['without the key', moved, 400],
  ])('%s', async (_, body, status) => {
    const path = await create('openai', plan.configurations)
    expect((await admin.asAdmin('PUT', path, plan)).status).toBe(200)
    const reply = await admin.asAdmin('PUT', path, body)
    expect(reply.status).toBe(status)
    if (status === 400)
      expect(reply.body.data.message).toMatch(
        /`key`.*Terraform: raise `key_version`.*`apply`: give the reference a value/,
      )
  })
})

describe('what nobody can give again', () => {
  const manager = {
    manager_type: 'hashicorp_vault',
    auth_config: {vault_auth_type: 'token', vault_addr: 'https://vault.example.com', vault_token: 'hvs.0123456789'},
    secret_path: 'kv/data/a',
  }
  test('a mapped reference is moved by who has a right to it', async () => {
    const {id} = (await admin.asAdmin('POST', '/v1/secret-references', {name: 'R', ...manager})).body
    const secret_mappings = [{target_field: 'key', secret_reference_id: id}]
    const mine = {custom_host: 'https://mine.example/v1'}
    const configurations = {custom_host: 'https://other.example/v1'}
    const mapped = async () => {
      const made = await create('openai', mine, {key: KEY}, admin.asWorkspace)
      expect((await admin.asAdmin('PUT', made, {key: null, secret_mappings})).status).toBe(200)
      return made
    }
    const path = await mapped()
    for (const body of [{configurations}, {configurations, secret_mappings}, {configurations, key: KEY}]) {
      const refused = await admin.asWorkspace('PUT', path, body)
      expect([refused.status, refused.body.data.message]).toEqual([400, expect.stringContaining('secret reference')])
    }
    expect((await admin.asWorkspace('PUT', path, {configurations: {...mine, openai_project: 'p'}})).status).toBe(200)
    expect((await admin.asWorkspace('PUT', path, {configurations, secret_mappings: []})).status).toBe(200)
    const other = await mapped()
    expect((await admin.asAdmin('PUT', other, {configurations})).status).toBe(200)
  })

  test('a reference is mapped to a place of a caller’s own by who has a right to it', async () => {
    const {id} = (await admin.asAdmin('POST', '/v1/secret-references', {name: 'Own', ...manager})).body
    const secret_mappings = [{target_field: 'key', secret_reference_id: id}]
    const refused = [400, expect.stringContaining('secret reference')]
    const outcome = ({status, body}: Awaited<ReturnType<typeof admin.asWorkspace>>) => [status, body.data?.message]
    const made = {name: 'M', ai_provider_id: 'openai', secret_mappings}
    const host = {configurations: {custom_host: 'https://mine.example/v1'}}
    expect(outcome(await admin.asWorkspace('POST', '/v1/integrations', {...made, ...host}))).toEqual(refused)
    // to the vendor it may go
    expect((await admin.asWorkspace('POST', '/v1/integrations', made)).status).toBe(200)
    // nor by two steps
    const path = await create('openai', host.configurations, {key: KEY}, admin.asWorkspace)
    expect(outcome(await admin.asWorkspace('PUT', path, {secret_mappings}))).toEqual(refused)
    expect((await admin.asAdmin('PUT', path, {secret_mappings})).status).toBe(200)
    expect((await admin.asWorkspace('PUT', path, {secret_mappings, name: 'Same'})).status).toBe(200)
    const server = {name: 'S', url: 'https://mine.example/mcp', auth_type: 'headers', transport: 'http'}
    const of_mcp = [{target_field: 'configurations.custom_headers', secret_reference_id: id, value_format: 'json'}]
    expect(
      outcome(await admin.asWorkspace('POST', '/v1/mcp-integrations', {...server, secret_mappings: of_mcp})),
    ).toEqual(refused)
    const {body} = await admin.asWorkspace('POST', '/v1/mcp-integrations', server)
    const of_server = `/v1/mcp-integrations/${body.id}`
    expect(outcome(await admin.asWorkspace('PUT', of_server, {secret_mappings: of_mcp}))).toEqual(refused)
    expect((await admin.asAdmin('PUT', of_server, {secret_mappings: of_mcp})).status).toBe(200)
    expect(outcome(await admin.asWorkspace('PUT', of_server, {url: 'https://other.example/mcp'}))).toEqual(refused)
  })

  test('the gateway’s own identity is moved, and taken, by an admin', async () => {
    const settings = {aws_auth_type: 'serviceRole', aws_region: 'us-east-1'}
    const refused = await admin.asWorkspace('POST', '/v1/integrations', {
      name: 'H',
      slug: 'house',
      ai_provider_id: 'bedrock',
      configurations: settings,
    })
    expect([refused.status, refused.body.data.message]).toEqual([400, expect.stringContaining('own identity')])
    const own = {aws_auth_type: 'apiKey', aws_region: 'us-east-1'}
    const path = await create('bedrock', own, {}, admin.asWorkspace)
    expect((await admin.asWorkspace('PUT', path, {key: null, configurations: settings})).status).toBe(400)
    expect((await admin.asAdmin('PUT', path, {key: null, configurations: settings})).status).toBe(200)
    const configurations = {...settings, custom_host: 'https://other.example'}
    expect((await admin.asWorkspace('PUT', path, {configurations})).status).toBe(400)
    expect(
      (await admin.asWorkspace('PUT', path, {configurations: {...settings, aws_region: 'eu-west-1'}})).status,
    ).toBe(200)
    expect((await admin.asAdmin('PUT', path, {configurations})).status).toBe(200)
  })
})
