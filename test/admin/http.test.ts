import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {z} from 'zod'
import {masked, maskedHeaders} from '../../src/admin/audit.ts'
import {type AnyOperation, operation} from '../../src/admin/operation.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {operatorOf} from '../../src/identity/access.ts'
import {Empty} from '../../src/schema/paging.ts'
import {writeMeta} from '../../src/store/meta.ts'
import {revisions} from '../../src/store/revisions.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'

const Body = z.strictObject({
  name: z.string().max(5),
  key: z.string().optional(),
  nested: z
    .strictObject({colour: z.enum(['red', 'blue']), api_key: z.string().optional(), url: z.string().optional()})
    .optional(),
})
const parts = {
  tag: 'Probe',
  scopes: ['configs.create'],
  reply: z.looseObject({}),
} as const
const audit = {resource: 'probe', action: 'create'} as const
const probes: readonly AnyOperation[] = [
  operation({
    ...parts,
    id: 'probe.write',
    audit,
    method: 'POST',
    path: '/probe/:id',
    summary: '',
    params: z.strictObject({id: z.string()}),
    compatibility: {spellings: {probeName: 'name', probe_id: 'id'}},
    body: Body,
    reply: Empty,
    async handle({db}) {
      await db.deleteFrom('configs').where('id', '=', 'none').execute()
      return {}
    },
  }),
  operation({
    ...parts,
    id: 'probe.half',
    audit,
    method: 'POST',
    path: '/half',
    summary: '',
    async handle({db}) {
      await db.deleteFrom('configs').where('id', '=', 'none').execute()
      await writeMeta(db, 'half', 'done')
      throw new Error('secret cause')
    },
  }),
  operation({
    ...parts,
    id: 'probe.read',
    method: 'GET',
    path: '/probe',
    compatibility: {also_at: ['/old-probe']},
    summary: '',
    query: z.strictObject({page: z.string().optional()}),
    handle: async ({query}) => ({query}),
  }),
  operation({
    ...parts,
    id: 'probe.flag',
    method: 'GET',
    path: '/flagged',
    summary: '',
    flag: 'data_exports',
    handle: async () => ({}),
  }),
  operation({
    ...parts,
    id: 'probe.open',
    method: 'GET',
    path: '/open',
    summary: '',
    scopes: null,
    compatibility: {at_root: true},
    handle: async ({actor}) => ({scopes: [...actor.scopes].length}),
  }),
  operation({
    ...parts,
    id: 'probe.liar',
    method: 'GET',
    path: '/liar',
    summary: '',
    reply: Empty,
    handle: async () => ({extra: 1}) as never,
  }),
]

describe('the door of the administration', () => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin({
      operations: probes,
      env: {MAX_JSON_PAYLOAD_SIZE_IN_MB: '1', ORGANISATION_HEADERS_TO_MASK: 'x-internal'},
    })
  })
  afterAll(() => admin.close())

  test('a key is taken from either header of ours and from Authorization', async () => {
    const key = admin.workspace_key
    for (const [header, value] of [
      ['x-gateway-api-key', key],
      ['x-portkey-api-key', key],
      ['authorization', `Bearer ${key}`],
      ['authorization', `bearer  ${key}`],
    ] as const) {
      expect((await admin.send(undefined, 'GET', '/v1/probe', undefined, {[header]: value})).status).toBe(200)
    }
  })

  test('without a key the answer is 401, and the body is not read', async () => {
    const reply = await admin.send(undefined, 'POST', '/v1/probe/1', '{not json')
    expect([reply.status, reply.body]).toEqual([
      401,
      refusal('AB05', 'No API key was sent. Send it as x-gateway-api-key, or as Authorization: Bearer.'),
    ])
    expect(reply.headers.get('www-authenticate')).toBe('Bearer')
  })

  test.each(['nonsense', 'gk-', `gk-${'a'.repeat(43)}`, 'a, b'])('the unknown key %j is 401', async key => {
    const reply = await admin.send(key, 'GET', '/v1/probe')
    expect([reply.status, reply.body.data.errorCode]).toEqual([401, 'AB05'])
    expect(reply.text).not.toContain(key)
  })

  test('a key past its expiry is 401 from that second on, marked or not', async () => {
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    const {key} = await admin.seedKey(place, {expires_at: '2026-03-04T05:06:08.000Z'})
    const marked = await admin.seedKey(place, {status: 'expired'})
    expect((await admin.send(key, 'GET', '/v1/probe')).status).toBe(200)
    expect((await admin.send(marked.key, 'GET', '/v1/probe')).status).toBe(401)
    admin.at('2026-03-04T05:06:08.000Z')
    const reply = await admin.send(key, 'GET', '/v1/probe')
    expect([reply.status, reply.body]).toEqual([
      401,
      refusal('AB05', 'The API key expired at 2026-03-04T05:06:08.000Z. Create a new one.'),
    ])
  })

  test('a deleted key is unknown, and a key of an archived workspace is refused', async () => {
    const {organisation_id, workspace_id} = admin
    const gone = await admin.seedKey({organisation_id, workspace_id}, {status: 'archived'})
    expect((await admin.send(gone.key, 'GET', '/v1/probe')).status).toBe(401)
    const workspace = await admin.seedWorkspace(organisation_id, {status: 'archived'})
    const left = await admin.seedKey({organisation_id, workspace_id: workspace.id})
    expect((await admin.send(left.key, 'GET', '/v1/probe')).body).toEqual(
      refusal('AB03', 'The workspace of this API key is archived.'),
    )
  })

  test('a scope that is missing is 403 before the body is read', async () => {
    const {key} = await admin.seedKey(
      {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id},
      {scopes: ['configs.read']},
    )
    const reply = await admin.send(key, 'POST', '/v1/probe/1', '{not json')
    const message = 'You do not have enough permissions to execute this request: it needs the scope configs.create.'
    expect([reply.status, reply.body]).toEqual([403, refusal('AB03', message)])
  })

  test('an operation without scopes needs no key, gives none, and stands at the root where it says so', async () => {
    expect((await admin.send(undefined, 'GET', '/v1/open')).body).toEqual({scopes: 0})
    expect((await admin.send(undefined, 'GET', '/open')).body).toEqual({scopes: 0})
    expect((await admin.send(undefined, 'GET', '/probe')).status).toBe(404)
  })

  test.each([
    ['{"name":"abcdef"}', 'name: must have at most 5 characters.'],
    ['{}', 'name: is required (a string).'],
    ['', 'name: is required (a string).'],
    ['null', 'the request body: must be an object, not null.'],
    ['[]', 'the request body: must be an object, not a list.'],
    [
      '{"name":3,"nam":"x"}',
      'name: must be a string, not a number; the request body: the key nam is not known here: did you mean name?',
    ],
    [
      '{"name":"a","nested":{"color":"red","colour":"bleu"}}',
      'nested.colour: must be one of red, blue: did you mean blue?; nested: the key color is not known here: did you mean colour?',
    ],
    ['{"name":"a","zzzzzzz":1}', 'the request body: the key zzzzzzz is not known here (known: name, key, nested).'],
    ['{"name":"a","__proto__":{"x":1}}', '__proto__: is a key that is not taken here.'],
  ])('the body %s is 400: %s', async (body, message) => {
    const reply = await admin.asWorkspace('POST', '/v1/probe/1', body)
    expect([reply.status, reply.body]).toEqual([400, refusal('AB01', message)])
  })

  test('a query parameter that is not known is 400 by its name', async () => {
    const reply = await admin.asWorkspace('GET', '/v1/probe?pag=1')
    expect(reply.body).toEqual(refusal('AB01', 'the query: the key pag is not known here: did you mean page?'))
    expect((await admin.asWorkspace('GET', '/v1/probe?page=1&page=2')).body).toEqual(
      refusal('AB01', 'query parameter page: must be a string, not a list.'),
    )
  })

  test('a field is known by the names that clients have for it, said once; what the path says may be said again', async () => {
    const said = async (body: object) => (await admin.asWorkspace('POST', '/v1/probe/7', body)).body
    expect(await said({probeName: 'a', probe_id: '7'})).toEqual({})
    expect(await said({probeName: 'a', id: '7'})).toEqual({})
    const known = '(known: name, key, nested)'
    expect(await said({name: 'a', probe_id: '8'})).toEqual(
      refusal('AB01', `the request body: the key id is not known here ${known}.`),
    )
    expect(await said({name: 'a', probeName: 'b'})).toEqual(
      refusal('AB01', `the request body: the key probeName is not known here ${known}.`),
    )
    expect(await said({probeName: 3})).toEqual(refusal('AB01', 'name: must be a string, not a number.'))
  })

  test('an operation stands at the other paths of clients too', async () => {
    expect((await admin.asWorkspace('GET', '/v1/old-probe?page=2')).body).toEqual({query: {page: '2'}})
  })

  test('what is not JSON is 400, and the reason quotes nothing of it', async () => {
    for (const body of ['{"key":"sk-live-1" x}', '{"key":sk-live-1}', '{"key":"sk-live-1"', '\u0000']) {
      const reply = await admin.asWorkspace('POST', '/v1/probe/1', body)
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01'])
      expect(reply.body.data.message).toMatch(/^The request body is not valid JSON: [^"]+\.$/)
      expect(reply.text).not.toContain('sk-live')
    }
  })

  test('another content type is 400, unless its body is empty', async () => {
    const form = {'content-type': 'application/x-www-form-urlencoded'}
    const reply = await admin.send(admin.workspace_key, 'POST', '/v1/probe/1', 'name=a', form)
    expect(reply.body).toEqual(
      refusal(
        'AB01',
        'The content type application/x-www-form-urlencoded is not accepted here; send application/json.',
      ),
    )
    expect((await admin.send(admin.workspace_key, 'POST', '/v1/half', '', form)).status).toBe(500)
    expect(
      (
        await admin.send(admin.workspace_key, 'POST', '/v1/probe/1', '{"name":"a"}', {
          'content-type': 'application/json; charset=utf-8',
        })
      ).status,
    ).toBe(200)
    expect(
      (await admin.send(admin.workspace_key, 'POST', '/v1/probe/1', '{"name":"a"}', {'content-type': 'nonsense'})).body
        .data.errorCode,
    ).toBe('AB01')
  })

  test('a body above the limit is 413', async () => {
    const reply = await admin.asWorkspace('POST', '/v1/probe/1', {name: 'a'.repeat(1 << 20)})
    expect([reply.status, reply.body.data.errorCode]).toEqual([413, 'AB01'])
  })

  test('a write is recorded with its secrets masked, and what it changed is announced', async () => {
    const before = await admin.auditLog()
    admin.published.length = 0
    const body = {
      name: 'a',
      key: 'sk-live-1',
      nested: {colour: 'red', api_key: 'sk-live-2', url: 'https://me:pw@host/x'},
    }
    const reply = await admin.send(admin.workspace_key, 'POST', '/v1/probe/seven?token=sk-live-3&a=b', body, {
      'x-internal': 'sk-live-4',
      cookie: 'sk-live-5',
      'x-vendor-secret': 'sk-live-6',
    })
    expect(reply.body).toEqual({})
    const [row, ...more] = (await admin.auditLog()).slice(before.length)
    expect(more).toEqual([])
    expect(row).toMatchObject({
      at: '2026-03-04T05:06:08.000Z',
      organisation_id: admin.organisation_id,
      workspace_id: admin.workspace_id,
      actor_type: 'api_key',
      method: 'POST',
      uri: '/v1/probe/seven',
      request_id: reply.headers.get('x-gateway-trace-id'),
      request_body: '{"name":"a","key":"***","nested":{"colour":"red","api_key":"***","url":"https://***@host/x"}}',
      query_params: '{"token":"***","a":"b"}',
      status: 200,
      resource_type: 'probe',
      resource_id: 'seven',
      action: 'create',
      client_ip: '127.0.0.1',
    })
    expect(JSON.stringify(row)).not.toMatch(/sk-live|gk-|me:pw/)
    expect(JSON.parse(row!.request_headers)).toMatchObject({
      'x-gateway-api-key': '***',
      'x-internal': '***',
      cookie: '***',
      'content-type': 'application/json',
    })
    expect(admin.published).toEqual(['configs'])
    expect((await revisions(admin.store.db)).get('configs')).toBeGreaterThan(0)
  })

  test('the id of the request comes under the prefix that the request speaks', async () => {
    const reply = await admin.send(undefined, 'GET', '/v1/probe', undefined, {'x-portkey-api-key': admin.workspace_key})
    expect(reply.headers.get('x-portkey-trace-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(reply.headers.get('cache-control')).toBe('no-store')
  })

  test('a fault of ours is 500 in fixed words; the cause is noted, and nothing of the write stays', async () => {
    const [logs, counts] = [await admin.auditLog(), await revisions(admin.store.db)]
    admin.published.length = 0
    admin.faults.length = 0
    const reply = await admin.asWorkspace('POST', '/v1/half', {})
    const message = 'Something went wrong inside the gateway. The log has the cause under the trace id.'
    expect([reply.status, reply.body]).toEqual([500, refusal('AB04', message)])
    expect(admin.faults).toEqual([
      {cause: new Error('secret cause'), operation: 'probe.half', request_id: reply.headers.get('x-gateway-trace-id')},
    ])
    expect(await admin.store.db.selectFrom('meta').selectAll().execute()).toEqual([])
    expect([await admin.auditLog(), await revisions(admin.store.db), admin.published]).toEqual([logs, counts, []])
  })

  test('a reply that is other than its operation says is noticed here', async () => {
    expect((await admin.asWorkspace('GET', '/v1/liar')).status).toBe(500)
    expect(String(admin.faults.at(-1)?.cause)).toContain(
      'probe.liar answers other than it says: the reply: the key extra is not known here',
    )
  })
})

describe('flags', () => {
  test('API_ACCESS_ENABLED=OFF closes every route, with a key or without, and names the variable', async () => {
    const admin = await startAdmin({env: {API_ACCESS_ENABLED: 'OFF'}})
    const message = 'This part of the service is switched off here: API_ACCESS_ENABLED=OFF.'
    for (const each of OPERATIONS) {
      const path = `/v1${each.path.replace(/:(\w+)/g, 'x')}`
      const reply = await admin.asAdmin(each.method, path)
      expect([each.id, reply.status, reply.body]).toEqual([each.id, 403, refusal('AB03', message)])
    }
    await admin.close()
  })

  test('the operator on the data directory works on when it is off, and is recorded as such', async () => {
    const organisation_id = {value: ''}
    const actorOf = () => operatorOf(organisation_id.value)
    const admin = await startAdmin({env: {API_ACCESS_ENABLED: 'OFF'}, actorOf})
    organisation_id.value = admin.organisation_id
    const reply = await admin.send(undefined, 'POST', '/v1/admin/workspaces', {name: 'By hand'})
    expect(reply.status).toBe(200)
    expect(await admin.auditLog()).toMatchObject([
      {actor_type: 'operator', actor_id: null, client_ip: null, resource_id: reply.body.id},
    ])
    await admin.close()
  })

  test('an operation behind a flag is 403 while the flag is off', async () => {
    const admin = await startAdmin({operations: probes, env: {DATA_EXPORTS_ENABLED: 'OFF'}})
    expect((await admin.asWorkspace('GET', '/v1/flagged')).body).toEqual(
      refusal('AB03', 'This part of the service is switched off here: DATA_EXPORTS_ENABLED=OFF.'),
    )
    expect((await admin.asWorkspace('GET', '/v1/probe')).status).toBe(200)
    await admin.close()
  })

  test('AUDIT_LOGS_ENABLED=OFF leaves no rows', async () => {
    const admin = await startAdmin({env: {AUDIT_LOGS_ENABLED: 'OFF'}})
    expect((await admin.asAdmin('POST', '/v1/admin/workspaces', {name: 'Silent'})).status).toBe(200)
    expect(await admin.auditLog()).toEqual([])
    await admin.close()
  })
})

describe('what an audit row hides', () => {
  test('every text under a name that speaks of a secret, however deep; numbers and other names stay', () => {
    const body = {
      configurations: {
        aws_secret_access_key: 's',
        aws_access_key_id: 's',
        region: 'eu',
        vertex_service_account_json: {a: {b: 's'}},
      },
      list: [{api_key: 's', password: ['s']}],
      clientSecret: 's',
      pricing: {request_token: {price: 3}},
      key_name: 'shown',
      max_tokens: 5,
    }
    expect(masked(body)).toEqual({
      configurations: {
        aws_secret_access_key: '***',
        aws_access_key_id: '***',
        region: 'eu',
        vertex_service_account_json: {a: {b: '***'}},
      },
      list: [{api_key: '***', password: ['***']}],
      clientSecret: '***',
      pricing: {request_token: {price: 3}},
      key_name: 'shown',
      max_tokens: 5,
    })
  })

  test('headers that carry keys, whole configs, and what the settings name', () => {
    const headers = {
      'x-gateway-config': '{"api_key":"s"}',
      'x-goog-api-key': 's',
      'x-mine': 's',
      accept: '*/*',
      origin: 'https://u:s@host',
    }
    expect(maskedHeaders(headers, ['X-Mine'])).toEqual({
      'x-gateway-config': '***',
      'x-goog-api-key': '***',
      'x-mine': '***',
      accept: '*/*',
      origin: 'https://***@host',
    })
  })
})
