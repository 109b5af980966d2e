import {describe, expect, test} from 'vitest'
import type {JsonValue} from '../../src/base/json-member.ts'
import {matches} from '../../src/scim/filter/matches.ts'
import {readFilter} from '../../src/scim/filter/parse.ts'
import {narrowGroups, narrowUsers} from '../../src/scim/narrowing.ts'

const ADA = {
  id: 'A1',
  externalId: 'Ext-1',
  userName: 'Ada@Example.com',
  name: {givenName: 'Ada', familyName: 'King'},
  active: true,
  emails: [
    {value: 'ada@example.com', type: 'work', primary: true},
    {value: 'ada@home.example', type: 'home'},
  ],
  meta: {created: '2026-03-04T05:06:07.000Z'},
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': {department: 'R&D', manager: {value: 'B2'}},
}
const finds = (filter: string) => matches(ADA as unknown as JsonValue, readFilter(filter))

describe('a filter finds', () => {
  test.each([
    ['userName eq "ada@example.com"', true],
    ['USERNAME EQ "ADA@EXAMPLE.COM"', true],
    ['userName ne "ada@example.com"', false],
    ['userName co "@example"', true],
    ['userName sw "ada"', true],
    ['userName ew ".com"', true],
    ['externalId eq "Ext-1"', true],
    ['externalId eq "ext-1"', false],
    ['id eq "a1"', false],
    ['name.givenName eq "ada"', true],
    ['name.familyName pr', true],
    ['title pr', false],
    ['title eq null', true],
    ['active eq true', true],
    ['active eq "True"', true],
    ['active eq false', false],
    ['emails eq "ada@home.example"', true],
    ['emails.value eq "ada@home.example"', true],
    ['emails[type eq "work"].value eq "ada@example.com"', true],
    ['emails[type eq "work"].value eq "ada@home.example"', false],
    ['emails[type eq "work" and value co "home"]', false],
    ['emails[primary eq "True"]', true],
    ['not (emails.type eq "fax")', true],
    ['userName eq "x" or active eq true and name.givenName eq "Ada"', true],
    ['(userName eq "x" or active eq true) and name.givenName eq "Bob"', false],
    ['meta.created gt "2026-01-01T00:00:00Z"', true],
    ['meta.created le "2026-03-04T06:06:07+01:00"', true],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "ADA"', true],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "r&d"', true],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager.value eq "B2"', true],
    ['userName eq "\\u0061da@example.com"', true],
    ['userName eq "ada@example.com\' or 1=1 --"', false],
    ['userName co "%"', false],
    ['constructor pr', false],
  ])('%s: %s', (filter, expected) => {
    expect(finds(filter)).toBe(expected)
  })
})

describe('a filter is refused with invalidFilter', () => {
  test.each([
    ['nothing', ''],
    ['no operator', 'userName'],
    ['no value', 'userName eq'],
    ['a bare value', 'userName eq ada'],
    ['an unknown operator', 'userName like "x"'],
    ['an open text', 'userName eq "ada'],
    ['a text that is none', 'userName eq "\\x"'],
    ['an open group', '(userName pr'],
    ['an open list', 'emails[type eq "work"'],
    ['more after its end', 'userName pr userName pr'],
    ['an object’s own workings', '__proto__ pr'],
    ['an attribute that is none', 'user name eq "x"'],
    ['a depth of 1,000', `${'('.repeat(1000)}userName pr${')'.repeat(1000)}`],
    ['a depth of 21', `${'('.repeat(21)}userName pr${')'.repeat(21)}`],
    ['51 terms', Array(51).fill('userName pr').join(' or ')],
    ['more than 4 KB', `userName eq "${'x'.repeat(4096)}"`],
  ])('%s', (_, filter) => {
    expect(() => readFilter(filter)).toThrow(expect.objectContaining({status: 400, scim_type: 'invalidFilter'}))
  })
})

describe('what indexes know of a filter', () => {
  test.each([
    ['userName eq "Ada@X.com"', {by: {user_name: 'ada@x.com'}, is_whole: true}],
    ['externalId eq "E" and active eq true', {by: {external_id: 'E'}, is_whole: false}],
    ['emails[type eq "work"].value eq "A@x.com"', {by: {address: 'a@x.com'}, is_whole: false}],
    ['emails[type eq "work" and value eq "A@x.com"]', {by: {address: 'a@x.com'}, is_whole: false}],
    ['id eq "1" and id eq "2"', {by: {id: '1'}, is_whole: false}],
    ['userName eq "a" or userName eq "b"', {by: {}, is_whole: false}],
    ['not (userName eq "a")', {by: {}, is_whole: false}],
    ['userName sw "a"', {by: {}, is_whole: false}],
  ])('%s', (filter, expected) => {
    expect(narrowUsers(readFilter(filter))).toEqual(expected)
  })

  test('of groups', () => {
    const filter = readFilter('id eq "G" and members eq "U"')
    expect(narrowGroups(filter)).toEqual({by: {id: 'G', member: 'U'}, is_whole: true})
    expect(narrowGroups(readFilter('displayName eq "Search"'))).toEqual({by: {name: 'search'}, is_whole: true})
  })
})
