import {describe, expect, test} from 'vitest'
import type {JsonValue} from '../../src/base/json-member.ts'
import type {MutableObject} from '../../src/scim/json.ts'
import {apply} from '../../src/scim/patch/apply.ts'
import {readPatch} from '../../src/scim/patch/read.ts'

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const BASE = {
  userName: 'ada@example.com',
  name: {givenName: 'Ada', familyName: 'King'},
  active: true,
  emails: [{value: 'ada@example.com', type: 'work', primary: true}],
}

function patched(operations: readonly object[], base: object = BASE): MutableObject {
  const resource = structuredClone(base) as MutableObject
  apply(resource, readPatch({Operations: operations} as unknown as JsonValue))
  return resource
}

describe('what directories send', () => {
  test.each([
    ['Entra disables with a text', {op: 'Replace', path: 'active', value: 'False'}, {...BASE, active: false}],
    ['Okta disables without a path', {op: 'replace', value: {active: false}}, {...BASE, active: false}],
    [
      'Entra adds a number that is not there',
      {op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+49'},
      {...BASE, phoneNumbers: [{type: 'mobile', value: '+49'}]},
    ],
    [
      'Entra replaces the address of a type',
      {op: 'Replace', path: 'emails[type eq "work"].value', value: 'new@example.com'},
      {...BASE, emails: [{value: 'new@example.com', type: 'work', primary: true}]},
    ],
    [
      'a part of an address that is not there',
      {op: 'Add', path: 'addresses[type eq "work"].locality', value: 'Ulm'},
      {...BASE, addresses: [{type: 'work', locality: 'Ulm'}]},
    ],
    [
      'dotted and qualified names without a path',
      {op: 'Add', value: {'name.givenName': 'Augusta', [`${ENTERPRISE}:department`]: 'R&D'}},
      {...BASE, name: {givenName: 'Augusta', familyName: 'King'}, [ENTERPRISE]: {department: 'R&D'}},
    ],
    [
      'a manager as a text',
      {op: 'Add', path: `${ENTERPRISE}:manager`, value: 'B2'},
      {...BASE, [ENTERPRISE]: {manager: {value: 'B2'}}},
    ],
    [
      'an extension as a whole',
      {op: 'add', value: {[ENTERPRISE]: {department: 'R&D', costCenter: 7}}},
      {...BASE, [ENTERPRISE]: {department: 'R&D', costCenter: 7}},
    ],
    [
      'a role as JSON in a text',
      {op: 'Add', path: 'roles', value: [{value: '{"id":"1","value":"Admin","displayName":"Admin"}'}]},
      {...BASE, roles: [{value: 'Admin', id: '1', displayName: 'Admin'}]},
    ],
    [
      'the role that is primary, as a text',
      {op: 'Replace', path: 'roles[primary eq "True"].value', value: 'Admin'},
      {...BASE, roles: [{primary: true, value: 'Admin'}]},
    ],
    [
      'a name in another case',
      {op: 'replace', path: 'USERNAME', value: 'b@example.com'},
      {...BASE, userName: 'b@example.com'},
    ],
    [
      'a qualified core path',
      {op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:User:userName', value: 'b@example.com'},
      {...BASE, userName: 'b@example.com'},
    ],
    ['a number for a text', {op: 'add', path: 'title', value: 7}, {...BASE, title: '7'}],
    ['null takes away', {op: 'replace', path: 'name', value: null}, (({name: _, ...rest}) => rest)(BASE)],
    [
      'what only the service writes is left alone',
      {op: 'replace', value: {id: 'x', meta: {}, schemas: [], title: 'T'}},
      {...BASE, title: 'T'},
    ],
    ['what is absent is removed without a fault', {op: 'remove', path: 'title'}, BASE],
    ['a part of an object is removed', {op: 'Remove', path: 'name.familyName'}, {...BASE, name: {givenName: 'Ada'}}],
    [
      'the last value of a list takes the list with it',
      {op: 'remove', path: 'emails[type eq "work"]'},
      (({emails: _, ...rest}) => rest)(BASE),
    ],
  ])('%s', (_, operation, expected) => {
    expect(patched([operation])).toEqual(expected)
    expect(patched([operation, operation])).toEqual(expected)
  })

  test('values of a list are merged by their value', () => {
    const again = {op: 'add', path: 'emails', value: [{value: 'ada@example.com', display: 'Ada'}]}
    expect(patched([again]).emails).toEqual([{value: 'ada@example.com', type: 'work', primary: true, display: 'Ada'}])
  })

  test('of several primary values the newest is it', () => {
    const other = {op: 'add', path: 'emails', value: [{value: 'b@example.com', type: 'home', primary: 'True'}]}
    expect(patched([other]).emails).toEqual([
      {value: 'ada@example.com', type: 'work', primary: false},
      {value: 'b@example.com', type: 'home', primary: true},
    ])
  })

  test('values that are named are removed, and no others', () => {
    const base = {members: [{value: 'a'}, {value: 'b'}, {value: 'c'}]}
    const some = {op: 'Remove', path: 'members', value: [{$ref: null, value: 'b'}]}
    expect(patched([some], base)).toEqual({members: [{value: 'a'}, {value: 'c'}]})
    expect(patched([{op: 'remove', path: 'members[value eq "a"]'}], base)).toEqual({
      members: [{value: 'b'}, {value: 'c'}],
    })
    expect(patched([{op: 'remove', path: 'members'}], base)).toEqual({})
  })

  test('no name reaches the workings of objects', () => {
    const value = JSON.parse('{"__proto__": {"polluted": true}}') as object
    patched([{op: 'add', path: 'name', value}])
    expect(({} as {polluted?: boolean}).polluted).toBeUndefined()
  })
})

describe('refused', () => {
  test.each([
    ['no operations', {}, 'invalidSyntax'],
    ['an empty list', {Operations: []}, 'invalidSyntax'],
    ['an unknown operation', {Operations: [{op: 'move', path: 'a'}]}, 'invalidSyntax'],
    ['a remove without a path', {Operations: [{op: 'remove'}]}, 'noTarget'],
    ['a value without a path that is no object', {Operations: [{op: 'add', value: 'x'}]}, 'invalidValue'],
    ['no value', {Operations: [{op: 'add', path: 'title'}]}, 'invalidValue'],
    ['a path that is none', {Operations: [{op: 'add', path: 'a b', value: 1}]}, 'invalidPath'],
    ['an open filter', {Operations: [{op: 'add', path: 'emails[type eq "x"', value: 1}]}, 'invalidPath'],
    ['a filter that is none', {Operations: [{op: 'add', path: 'emails[type]', value: 1}]}, 'invalidFilter'],
    ['too many', {Operations: Array(10_001).fill({op: 'remove', path: 'title'})}, 'tooMany'],
  ])('%s', (_, body, scim_type) => {
    expect(() => readPatch(body as never)).toThrow(expect.objectContaining({status: 400, scim_type}))
  })
})
