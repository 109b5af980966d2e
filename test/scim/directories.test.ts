import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openScim, rolesOf, type Scim, type ScimReply} from '../support/scim.ts'
import {schemaFaults} from '../support/scim-schemas.ts'
import {KINDS} from '../support/stores.ts'

// What Entra and Okta send, in their order; each reply is judged by the schemas that are served.

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const filtered = (kind: string, filter: string, more = '') => `/${kind}?filter=${encodeURIComponent(filter)}${more}`

describe.each(KINDS)('48: what directories send, on %s', kind => {
  let scim: Scim
  let schemas: ScimReply['body'][]
  beforeAll(async () => {
    scim = await openScim({}, kind)
    schemas = (await scim.ask('GET', '/Schemas')).body.Resources
  })
  afterAll(() => scim.gateway.close())

  /** Asks, and judges what comes by its schema. */
  async function ask(method: string, path: string, body?: unknown): Promise<ScimReply> {
    const reply = await scim.ask(method, path, body)
    const resources = reply.body?.Resources ?? (reply.body?.meta ? [reply.body] : [])
    if (!path.includes('excludedAttributes'))
      for (const each of resources) expect({path, faults: schemaFaults(each, schemas)}).toEqual({path, faults: []})
    return reply
  }
  const patch = (path: string, ...Operations: object[]) =>
    ask('PATCH', path, {schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations})

  describe('Microsoft Entra', () => {
    let ada: ScimReply['body']
    let bob: ScimReply['body']
    let group: ScimReply['body']

    test('tests the connection with a user that is not there', async () => {
      const reply = await ask('GET', filtered('Users', 'userName eq "7a3f0f5e-0000-4000-8000-000000000000"'))
      expect(reply).toMatchObject({status: 200, body: {totalResults: 0, Resources: []}})
    })

    test('looks for a user before it makes one, by each of its matching attributes', async () => {
      for (const filter of [
        'userName eq "ada@example.com"',
        'externalId eq "ada"',
        'emails[type eq "work"].value eq "ada@example.com"',
      ])
        expect((await ask('GET', filtered('Users', filter))).body.totalResults).toBe(0)
      const made = await ask('POST', '/Users', {
        schemas: [USER, ENTERPRISE],
        externalId: 'ada',
        userName: 'Ada@example.com',
        active: true,
        displayName: 'Ada King',
        emails: [{primary: true, type: 'work', value: 'Ada@example.com'}],
        meta: {resourceType: 'User'},
        name: {formatted: 'Ada King', familyName: 'King', givenName: 'Ada'},
        roles: [],
        [ENTERPRISE]: {employeeNumber: '7', department: 'R&D', manager: 'someone'},
      })
      ada = made.body
      expect(made).toMatchObject({
        status: 201,
        body: {userName: 'Ada@example.com', roles: [{value: 'member'}], [ENTERPRISE]: {manager: {value: 'someone'}}},
      })
      const found = await ask('GET', filtered('Users', 'emails[type eq "work"].value eq "ada@example.com"'))
      expect(found.body).toMatchObject({totalResults: 1, Resources: [{id: ada.id}]})
    })

    test('gives a role of an application', async () => {
      const made = await ask('POST', '/Users', {
        ...{schemas: [USER], userName: 'bob@example.com', externalId: 'bob', active: true},
        roles: [{primary: true, type: 'WindowsAzureActiveDirectoryRole', value: 'Admin'}],
      })
      bob = made.body
      expect(bob.roles).toEqual([{value: 'admin', primary: true}])
      const again = {op: 'Add', path: 'roles', value: [{value: '{"id":"1","value":"Admin","displayName":"Admin"}'}]}
      expect((await patch(`/Users/${ada.id}`, again)).body.roles[0].value).toBe('admin')
      const lower = {op: 'Replace', path: 'roles[primary eq "True"].value', value: 'Member'}
      expect((await patch(`/Users/${bob.id}`, lower)).body.roles[0].value).toBe('member')
    })

    test('changes attributes, those that are missing too', async () => {
      const path = `/Users/${ada.id}`
      await patch(path, {op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+49 1'})
      await patch(path, {op: 'Replace', path: 'emails[type eq "work"].value', value: 'ada.king@example.com'})
      await patch(path, {op: 'Add', path: 'addresses[type eq "work"].locality', value: 'Ulm'})
      await patch(path, {op: 'Add', value: {'name.givenName': 'Augusta', [`${ENTERPRISE}:department`]: 'Maths'}})
      await patch(path, {op: 'Add', path: `${ENTERPRISE}:manager`, value: bob.id})
      await patch(path, {op: 'Replace', path: `${USER}:displayName`, value: 'Augusta King'})
      const {body} = await ask('GET', path)
      expect(body).toMatchObject({
        displayName: 'Augusta King',
        name: {givenName: 'Augusta', familyName: 'King'},
        phoneNumbers: [{type: 'mobile', value: '+49 1'}],
        emails: [{value: 'ada.king@example.com', type: 'work'}],
        addresses: [{type: 'work', locality: 'Ulm'}],
        [ENTERPRISE]: {department: 'Maths', employeeNumber: '7', manager: {value: bob.id}},
      })
    })

    test('makes a group, and puts members in and out one by one', async () => {
      expect(
        (await ask('GET', filtered('Groups', 'displayName eq "ws-Maths-role-manager"', '&excludedAttributes=members')))
          .body.totalResults,
      ).toBe(0)
      const made = await ask('POST', '/Groups', {
        schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
        externalId: 'g1',
        displayName: 'ws-Maths-role-manager',
        meta: {resourceType: 'Group'},
      })
      group = made.body
      expect(made.status).toBe(201)
      const path = `/Groups/${group.id}`
      for (const {id} of [ada, bob])
        expect((await patch(path, {op: 'Add', path: 'members', value: [{$ref: null, value: id}]})).status).toBe(200)
      expect(await rolesOf(scim.gateway, ada.id)).toEqual({Maths: 'manager'})
      const one = await ask('GET', filtered('Groups', `id eq "${group.id}" and members eq "${ada.id}"`))
      expect(one.body.totalResults).toBe(1)
      await patch(path, {op: 'Remove', path: 'members', value: [{$ref: null, value: ada.id}]})
      expect((await ask('GET', path)).body.members).toMatchObject([{value: bob.id}])
      expect((await ask('GET', `${path}?excludedAttributes=members`)).body.members).toBeUndefined()
      expect(await rolesOf(scim.gateway, ada.id)).toEqual({})
    })

    test('disables with a text, sees it, and deletes later', async () => {
      expect((await patch(`/Users/${bob.id}`, {op: 'Replace', path: 'active', value: 'False'})).body.active).toBe(false)
      expect((await ask('GET', filtered('Users', 'externalId eq "bob"'))).body.Resources[0].active).toBe(false)
      await patch(`/Users/${bob.id}`, {
        op: 'Replace',
        path: 'userName',
        value: `${'0123456789abcdef'.repeat(2)}bob@example.com`,
      })
      expect((await ask('DELETE', `/Users/${bob.id}`)).status).toBe(204)
      expect((await ask('DELETE', `/Groups/${group.id}`)).status).toBe(204)
    })
  })

  describe('Okta', () => {
    let carol: ScimReply['body']
    let group: ScimReply['body']

    test('tests the connection with a page of two', async () => {
      const {body} = await ask('GET', '/Users?startIndex=1&count=2')
      expect(body).toMatchObject({startIndex: 1})
      for (const name of ['totalResults', 'itemsPerPage', 'startIndex']) expect(Number.isInteger(body[name])).toBe(true)
      expect(
        (await ask('GET', filtered('Users', 'userName eq "carol@example.com"', '&startIndex=1&count=100'))).status,
      ).toBe(200)
    })

    test('makes a user with a password and no groups, and changes all of him', async () => {
      const whole = {
        ...{schemas: [USER], userName: 'carol@example.com', externalId: '00u1', locale: 'en-US', displayName: 'Carol'},
        ...{
          name: {givenName: 'Carol', familyName: 'Shaw'},
          emails: [{primary: true, value: 'carol@example.com', type: 'work'}],
        },
        ...{groups: [], password: 'not-kept-anywhere', active: true},
      }
      carol = (await ask('POST', '/Users', whole)).body
      expect(carol).toMatchObject({active: true, locale: 'en-US'})
      const {password: _, ...changed} = whole
      const put = await ask('PUT', `/Users/${carol.id}`, {
        ...changed,
        name: {givenName: 'Caroline', familyName: 'Shaw'},
      })
      expect(put.body.name.givenName).toBe('Caroline')
    })

    test('disables without a path, and brings back', async () => {
      expect((await patch(`/Users/${carol.id}`, {op: 'replace', value: {active: false}})).body.active).toBe(false)
      expect((await patch(`/Users/${carol.id}`, {op: 'replace', value: {active: true}})).body.active).toBe(true)
    })

    test('pushes a group: members, a new name, all members anew', async () => {
      const member = {value: carol.id, display: 'carol@example.com'}
      group = (await ask('POST', '/Groups', {schemas: [GROUP], displayName: 'Pushed', members: [member]})).body
      const path = `/Groups/${group.id}`
      expect((await ask('GET', path)).body.members).toHaveLength(1)
      const renamed = await patch(path, {op: 'replace', value: {id: group.id, displayName: 'ws-Okta-role-member'}})
      expect(renamed.body).toMatchObject({displayName: 'ws-Okta-role-member', members: [{value: carol.id}]})
      expect(await rolesOf(scim.gateway, carol.id)).toEqual({Okta: 'member'})
      const both = await patch(
        path,
        {op: 'remove', path: `members[value eq "${carol.id}"]`},
        {op: 'add', path: 'members', value: [member]},
      )
      expect(both.body.members).toHaveLength(1)
      expect((await patch(path, {op: 'replace', path: 'members', value: []})).body.members).toEqual([])
      const whole = {op: 'replace', value: {id: group.id, displayName: 'ws-Okta-role-member', members: [member]}}
      expect((await patch(path, whole)).body.members).toHaveLength(1)
      expect((await ask('PUT', path, {displayName: 'ws-Okta-role-member', members: []})).body.members).toEqual([])
    })
  })

  test.each([
    ['OneLogin, in lower case', 'text/json; charset=utf-8', {op: 'replace', path: 'active', value: 'false'}],
    ['Keycloak, with truth as a text', 'application/json', {op: 'Replace', path: 'ACTIVE', value: 'FALSE'}],
  ])('%s', async (_, type, operation) => {
    const {user} = scim
    const {id} = await user(`other-${type.length}`)
    const reply = await scim.ask('PATCH', `/Users/${id}`, {Operations: [operation]}, {headers: {'content-type': type}})
    expect(reply.body.active).toBe(false)
  })

  test.each<[string, object, object]>([
    [
      'two that are primary',
      {
        phoneNumbers: [
          {value: '1', primary: true},
          {value: '2', primary: 'True'},
        ],
      },
      {},
    ],
    ['a name as text', {name: 'Ada King'}, {name: {formatted: 'Ada King'}}],
    ['parts that are null', {name: {givenName: null, familyName: 'King'}}, {name: {familyName: 'King'}}],
    ['a manager that is null', {[ENTERPRISE]: {department: 'R&D', manager: null}}, {[ENTERPRISE]: {department: 'R&D'}}],
  ])('%s: kept in the form of the schema', async (_, sent, kept) => {
    const {id} = await scim.user(`form-${Object.keys(sent)[0]!.slice(-4)}-${JSON.stringify(sent).length}`, sent)
    // the helper judges every reply
    expect((await ask('GET', `/Users/${id}`)).body).toMatchObject(kept)
  })

  test.each<[object, string]>([
    [{nickName: ['Ada']}, 'nickName: expected a text.'],
    [{name: ['Ada']}, 'name: expected an object.'],
    [{[ENTERPRISE]: 'R&D'}, `${ENTERPRISE}: expected an object.`],
    [{phoneNumbers: [[]]}, 'phoneNumbers: expected a list of objects.'],
  ])('%j is refused, and nothing of it kept', async (sent, detail) => {
    const {id} = await scim.user(`kept-${JSON.stringify(sent).length}`)
    const before = (await ask('GET', `/Users/${id}`)).body
    expect(await patch(`/Users/${id}`, {op: 'replace', value: sent})).toMatchObject({
      ...{status: 400, body: {scimType: 'invalidValue', detail}},
    })
    expect((await ask('GET', `/Users/${id}`)).body).toEqual(before)
  })
})
