import {expect, test} from 'vitest'
import {readAddress, readDomain} from '../../src/base/address.ts'
import {mappingIn} from '../../src/scim/group-mapping.ts'

test.each([
  ['Ada@Example.COM', 'Ada@example.com'.toLowerCase()],
  ['jürgen@example.com', 'jürgen@example.com'],
  ['ju\u0308rgen@example.com', 'jürgen@example.com'],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
])('%s is the address %s', (text, address) => {
  expect(readAddress(text)?.address).toBe(address)
})

test.each([
  ['two at signs', 'a@b@example.com'],
  ['no local part', '@example.com'],
  ['no domain', 'ada@'],
  ['one label', 'ada@localhost'],
  ['a space', 'ada king@example.com'],
  ['quotes', '"ada"@example.com'],
  ['a comma', 'ada,bob@example.com'],
  ['a bracket', 'ada<x>@example.com'],
  ['a dot at its end', 'ada@example.com.'],
  ['a control character', 'ada\u0007@example.com'],
  ['a sign that lower case makes a k', '\u212Aate@example.com'],
  ['a ligature', 'ﬁona@example.com'],
  ['full-width letters in the domain', 'ada@ｅxample.com'],
  ['another dot in the domain', 'ada@example。com'],
  ['a soft hyphen in the domain', 'ada@exam\u00ADple.com'],
  ['more than 254 bytes', `${'a'.repeat(250)}@example.com`],
  ['no text', 7],
])('%s is no address', (_, text) => {
  expect(readAddress(text)).toBeUndefined()
})

test.each([
  ['Example.com', 'example.com'],
  ['example', undefined],
  ['-x.example', undefined],
  ['a..example', undefined],
  ['example.com/x', undefined],
])('the domain %s is %s', (text, domain) => {
  expect(readDomain(text)).toBe(domain)
})

const RULES = {workspace_prefix: 'ws-', role_separator: '-role-'}
test.each([
  ['ws-Search-role-admin', {workspace: 'Search', role: 'admin'}],
  ['ws-Search-role-Manager', {workspace: 'Search', role: 'manager'}],
  ['ws-A-role-B-role-member', {workspace: 'A-role-B', role: 'member'}],
  ['ws-Search-role-owner', null],
  ['ws--role-admin', null],
  ['Search-role-admin', null],
  ['ws-Search', null],
])('the group %s maps %j', (name, expected) => {
  expect(mappingIn(name, RULES)).toEqual(expected)
})
