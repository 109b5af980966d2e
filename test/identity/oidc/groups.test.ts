import {expect, test} from 'vitest'
import {readGroups} from '../../../src/identity/oidc/groups.ts'

const ROLES = 'urn:zitadel:iam:org:project:roles'
const known = (names: readonly string[], dropped = 0) => ({kind: 'known', names, dropped})
const UNKNOWN = {kind: 'unknown', reason: expect.any(String)}
const ELSEWHERE = {_claim_names: {groups: 'src1'}, _claim_sources: {src1: {endpoint: 'http://127.0.0.1:1/x'}}}

test.each([
  // IC3: shapes
  ['a list', 'groups', {groups: ['a', 'b']}, known(['a', 'b'])],
  ['an empty list', 'groups', {groups: []}, known([])],
  ['a text', 'groups', {groups: 'a'}, known(['a'])],
  ['a text with a comma', 'groups', {groups: 'a,b'}, known(['a,b'])],
  ['a path', 'realm_access.roles', {realm_access: {roles: ['a']}}, known(['a'])],
  ['a path through a name with a dot', 'access.my.app.roles', {access: {'my.app': {roles: ['a']}}}, known(['a'])],
  ['a path that ends early', 'realm_access.roles', {realm_access: 'roles'}, known([])],
  ['a path through a list', 'a.0', {a: ['x']}, known([])],
  ['keys of an object', ROLES, {[ROLES]: {a: {'1': 'x'}, b: {}}}, known(['a', 'b'])],
  ['an exact name with dots', 'https://x.test/groups', {'https://x.test/groups': ['a']}, known(['a'])],
  ['an exact name before a path', 'a.b', {'a.b': ['exact'], a: {b: ['path']}}, known(['exact'])],
  [
    'a slash and letters, as written',
    'groups',
    {groups: ['/gw-admins', 'GW-ADMINS']},
    known(['/gw-admins', 'GW-ADMINS']),
  ],
  ['other things in a list', 'groups', {groups: ['a', {name: 'gw-admins'}, 5, null, ['b'], '']}, known(['a'], 5)],
  ['one twice', 'groups', {groups: ['a', 'a']}, known(['a'])],
  ['texts that no database keeps', 'groups', {groups: ['a\u0000', '\ud800', 'a'.repeat(1025)]}, known([], 3)],
  ['a name of every object', 'constructor', {}, known([])],
  ['a path of every object', '__proto__.constructor', {a: 1}, known([])],
  // C1, IC2: absent, and not known
  ['nothing', 'groups', {}, known([])],
  ['null', 'groups', {groups: null}, UNKNOWN],
  ['a number', 'groups', {groups: 7}, UNKNOWN],
  ['a boolean', 'groups', {groups: true}, UNKNOWN],
  ['an overage', 'groups', ELSEWHERE, {kind: 'unknown', reason: 'groups not in token'}],
  ['an overage of another name', 'roles', {_claim_names: {roles: 'src1'}}, UNKNOWN],
  ['an overage of groups, where another claim is read', 'roles', ELSEWHERE, UNKNOWN],
  ['hasgroups', 'groups', {hasgroups: true}, UNKNOWN],
  ['hasgroups as text', 'groups', {hasgroups: 'true'}, UNKNOWN],
  ['no hasgroups', 'groups', {hasgroups: false}, known([])],
  ['a part, and an overage', 'groups', {groups: ['a'], ...ELSEWHERE}, UNKNOWN],
  ['5,001', 'groups', {groups: Array.from({length: 5_001}, (_, at) => `g${at}`)}, UNKNOWN],
])('groups of %s', (_, groups_claim, claims, expected) => {
  expect(readGroups(JSON.parse(JSON.stringify(claims)), groups_claim)).toEqual(expected)
})

test('groups are not read where the connection does not want them', () => {
  expect(readGroups({groups: ['a']}, null)).toEqual({kind: 'unset'})
})
