import {describe, expect, test} from 'vitest'
import {type JudgedReply, scimFaults} from '../support/scim-judge.ts'
import {URN} from '../support/scim-rules.ts'

// The judge of SCIM replies can fail: each of these differs from a good reply by one thing.

type Json = Record<string, unknown>

const BASE = 'https://gateway.example.com/scim/v2'
const meta = (kind: string, id: string) => ({
  ...{resourceType: kind, created: '2026-01-01T00:00:00.000Z', lastModified: '2026-01-02T00:00:00Z'},
  ...{location: `${BASE}/${kind}s/${id}`, version: 'W/"1"'},
})
const ADA: Json = {
  ...{schemas: [URN.user, URN.enterprise], id: 'a-1', externalId: 'ada', userName: 'ada@example.com', active: true},
  emails: [{value: 'ada@example.com', type: 'work', primary: true}],
  groups: [{value: 'g-1', display: 'Maths', $ref: `${BASE}/Groups/g-1`, type: 'direct'}],
  [URN.enterprise]: {department: 'Maths', manager: {value: 'b-1'}},
  meta: meta('User', 'a-1'),
}
const MATHS: Json = {
  ...{schemas: [URN.group], id: 'g-1', displayName: 'Maths', meta: meta('Group', 'g-1')},
  members: [{value: 'a-1', display: 'ada@example.com', $ref: `${BASE}/Users/a-1`, type: 'User'}],
}

const replied = (body: unknown, more: Partial<JudgedReply> = {}): JudgedReply => ({
  ...{method: 'GET', path: '/Users/a-1', status: 200, content_type: 'application/scim+json; charset=utf-8'},
  // as it goes over the line: without what is undefined
  body: body === undefined ? undefined : JSON.parse(JSON.stringify(body)),
  ...{location: `${BASE}/Users/a-1`, etag: 'W/"1"'},
  ...more,
})
const ofGroup = (body: unknown) => replied(body, {path: '/Groups/g-1', location: `${BASE}/Groups/g-1`})
const listed = (change: Json = {}) =>
  replied(
    {schemas: [URN.list], totalResults: 1, startIndex: 1, itemsPerPage: 1, Resources: [ADA], ...change},
    {path: '/Users?count=1', location: null, etag: null},
  )
const refused = (change: Json = {}, status = 400) =>
  replied(
    {schemas: [URN.error], status: '400', scimType: 'invalidFilter', detail: 'No such filter.', ...change},
    {status, path: '/Users', location: null, etag: null},
  )
const {meta: _, userName: __, ...narrowed} = ADA

test.each<[string, JudgedReply]>([
  ['a user', replied(ADA)],
  ['a new user', replied(ADA, {method: 'POST', path: '/v1/scim/v2/Users', status: 201})],
  ['a group', ofGroup(MATHS)],
  ['a group without people', ofGroup({...MATHS, members: []})],
  ['a list', listed()],
  ['an empty list', listed({totalResults: 0, itemsPerPage: 0, Resources: []})],
  ['a search', {...listed(), method: 'POST', path: '/Users/.search'}],
  ['a refusal', refused()],
  ['nothing', replied(undefined, {status: 204, content_type: null})],
  ['a part of a user', replied(narrowed, {path: '/Users/a-1?attributes=active'})],
])('%s as the standard has it', (_, reply) => {
  expect(scimFaults(reply)).toEqual([])
})

const BROKEN: readonly (readonly [string, JudgedReply, string])[] = [
  ['no id', replied({...ADA, id: undefined}), 'id: is missing'],
  ['no userName', replied({...ADA, userName: undefined}), 'userName: is missing'],
  ['no meta', replied({...ADA, meta: undefined}), 'meta: is missing'],
  ['a group without a name', ofGroup({...MATHS, displayName: undefined}), 'displayName: is missing'],
  ['no id in a narrowed one', replied({...narrowed, id: undefined}, {path: '/Users/a-1?attributes=id'}), 'id: is mis'],
  ['truth as text', replied({...ADA, active: 'True'}), 'active: is neither true nor false'],
  ['truth as text in a list', replied({...ADA, emails: [{value: 'a', primary: 'true'}]}), 'emails[0].primary: is nei'],
  ['a number', replied({...ADA, externalId: 7}), 'externalId: is no text'],
  ['null', replied({...ADA, displayName: null}), 'displayName: is no text'],
  ['one address and no list', replied({...ADA, emails: {value: 'a'}}), 'emails: is no list'],
  ['addresses as texts', replied({...ADA, emails: ['ada@example.com']}), 'emails[0]: is no object'],
  ['a name as text', replied({...ADA, name: 'Ada King'}), 'name: is no object'],
  ['a manager as text', replied({...ADA, [URN.enterprise]: {manager: 'b-1'}}), `${URN.enterprise}:manager: is no obj`],
  ['two that are primary', replied({...ADA, roles: [{primary: true}, {primary: true}]}), 'roles: several are primary'],
  ['a password', replied({...ADA, password: 'word'}), 'password: is never returned'],
  ['a group in another way', replied({...ADA, groups: [{value: 'g', type: 'nested'}]}), 'groups[0].type: is none of'],
  ['a member that is no kind', ofGroup({...MATHS, members: [{value: 'a', type: 'user'}]}), 'members[0].type: is none'],
  ['a member without an address', ofGroup({...MATHS, members: [{value: 'a', $ref: null}]}), 'members[0].$ref: is no'],
  ['an attribute of no schema', replied({...ADA, shoeSize: '42'}), 'shoeSize: is of no schema'],
  ['a user in lower case', replied({...ADA, username: 'ada'}), 'username: is of no schema'],
  ['an extension that is not named', replied({...ADA, schemas: [URN.user]}), `${URN.enterprise}: is not in schemas`],
  ['an extension of which nothing is there', replied({...ADA, [URN.enterprise]: undefined}), 'schemas: names urn:'],
  ['the schema of a group', replied({...ADA, schemas: [URN.group, URN.enterprise]}), `schemas: lacks ${URN.user}`],
  ['no schemas', replied({...ADA, schemas: []}), 'schemas: is missing'],
  [
    'a day without a time',
    replied({...ADA, meta: {...meta('User', 'a-1'), created: '2026-01-01'}}),
    'meta.created: is no',
  ],
  ['a time in seconds', replied({...ADA, meta: {...meta('User', 'a-1'), lastModified: 1}}), 'meta.lastModified: is no'],
  [
    'the kind of a group',
    replied({...ADA, meta: {...meta('User', 'a-1'), resourceType: 'Group'}}),
    'meta.resourceType',
  ],
  [
    'a path in place of an address',
    replied({...ADA, meta: {...meta('User', 'a-1'), location: '/Users/a-1'}}),
    'meta.loc',
  ],
  ['the address of another', replied({...ADA, meta: meta('User', 'a-2')}), 'meta.location: is no address of it'],
  ['a version without quotes', replied({...ADA, meta: {...meta('User', 'a-1'), version: '1'}}), 'meta.version: is no'],
  ['another version in the header', replied(ADA, {etag: 'W/"2"'}), 'etag: is not meta.version'],
  ['another address in the header', replied(ADA, {location: BASE}), 'location: is not meta.location'],
  [
    'a new one without a header',
    replied(ADA, {method: 'POST', path: '/Users', status: 201, location: null}),
    'location:',
  ],
  ['a new one with 200', replied(ADA, {method: 'POST', path: '/Users'}), 'status: 200 after a POST'],
  ['plain JSON', replied(ADA, {content_type: 'application/json'}), 'content-type: application/json'],
  ['a body with 204', replied({}, {status: 204}), 'a body with 204'],
  ['a list in place of one', replied([ADA]), 'the body is no object'],
  ['a count as text', listed({totalResults: '1'}), 'totalResults: is no number'],
  ['a page that counts from 0', listed({startIndex: 0}), 'startIndex: counts from 1'],
  ['a wrong count of a page', listed({itemsPerPage: 2}), 'itemsPerPage: is not how many there are'],
  ['fewer in all than there are', listed({totalResults: 0}), 'totalResults: is less than there are'],
  ['one that comes twice', listed({totalResults: 2, itemsPerPage: 2, Resources: [ADA, ADA]}), 'Resources: one comes'],
  ['resources in lower case', listed({Resources: undefined, resources: [ADA]}), 'Resources: is missing'],
  ['a list without its schema', listed({schemas: [URN.user]}), 'schemas: is not that of a list'],
  ['a broken one in a list', listed({Resources: [{...ADA, active: 1}]}), '[0].active: is neither true nor false'],
  ['the status of an error as a number', refused({status: 400}), 'status: is not the one of the reply'],
  ['another status in an error', refused({status: '404'}), 'status: is not the one of the reply'],
  ['a scimType that is none', refused({scimType: 'badFilter'}), 'scimType: badFilter does not go with 400'],
  ['a scimType of another status', refused({scimType: 'uniqueness'}), 'scimType: uniqueness does not go with 400'],
  [
    'an error of the administration',
    replied({success: false}, {status: 400, path: '/Users'}),
    'schemas: is not that of',
  ],
]

test.each(BROKEN)('%s', (_, reply, fault) => {
  expect(scimFaults(reply).map(each => each.slice(0, fault.length))).toContain(fault)
})

describe('schemas that are served', () => {
  const attribute = (name: string, more: Json = {}) => ({
    ...{name, type: 'string', multiValued: false, required: false, caseExact: false, mutability: 'readWrite'},
    ...{returned: 'default', uniqueness: 'none', ...more},
  })
  const served = (...attributes: Json[]) =>
    replied(
      {
        ...{schemas: [URN.schema], id: URN.user, name: 'User', attributes},
        meta: {resourceType: 'Schema', location: `${BASE}/Schemas/${URN.user}`},
      },
      {path: `/Schemas/${URN.user}`, location: null, etag: null},
    )

  test.each<[string, Json, string]>([
    ['good', attribute('title'), ''],
    ['of another type', attribute('active'), 'active: is string, and boolean in the standard'],
    [
      'writable',
      attribute('groups', {type: 'complex', multiValued: true, subAttributes: []}),
      'groups: mutability differs',
    ],
    ['without a mutability', attribute('title', {mutability: 'all'}), 'title: has no mutability'],
    ['returned', attribute('password', {mutability: 'writeOnly'}), 'password: returned differs'],
    ['without parts', attribute('name', {type: 'complex', subAttributes: []}), 'name.familyName: is missing'],
    ['unknown', attribute('shoeSize'), 'shoeSize: the standard has none'],
  ])('an attribute that is %s', (_, each, fault) => {
    const faults = scimFaults(served(each))
    if (fault === '') expect(faults).toEqual([])
    else expect(faults).toContain(`${URN.user}:${fault}`)
  })
})
