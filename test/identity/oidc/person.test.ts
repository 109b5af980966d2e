import {describe, expect, test} from 'vitest'
import {claims, ENDLESS, type HostileCase, HTML, HUGE, judge, SHORT_MS} from './judge.ts'
import {type Lies, RawReply} from './lying-provider.ts'

const {judged, each} = judge()

const GOOD = JSON.stringify({sub: 'subject-1', email: 'mia@example.test', email_verified: true})
const NO_ADDRESS = {email: undefined, email_verified: undefined}
const OF_ADDRESSES: readonly HostileCase[] = [
  ['not verified', 'email_unverified', () => claims({email_verified: false})],
  ['not verified, as text', 'email_unverified', () => claims({email_verified: 'false'})],
  ['not verified, in capitals', 'email_unverified', () => claims({email_verified: 'False'})],
  ['not verified, as a number', 'email_unverified', () => claims({email_verified: 0})],
  ['verified, as text', 'accepted', () => claims({email_verified: 'true'}), {email_verified: 'true'}],
  ['nothing of verified', 'accepted', () => claims({email_verified: undefined})],
  [
    'nothing of verified where it must be',
    'email_unverified',
    () => claims({email_verified: undefined}),
    {email_verified: 'true'},
  ],
  [
    'not verified, and another claim has an address',
    'email_unverified',
    () =>
      claims({
        email_verified: false,
        email: undefined,
        preferred_username: 'mia@example.test',
        upn: 'mia@example.test',
      }),
  ],
  [
    'not verified, and UserInfo says otherwise',
    'email_unverified',
    () => claims({email: undefined, email_verified: false}),
  ],
  [
    'not verified in UserInfo alone',
    'email_unverified',
    () => ({...claims(NO_ADDRESS), userinfo: good => ({...good, email_verified: 'false'})}),
  ],
  [
    'verified is another address than that of the claim which was chosen',
    'email_unverified',
    () => claims({mail: 'olga@example.test', email_verified: true}),
    {email_claim: 'mail', email_verified: 'true'},
  ],
  [
    'verified is no name to sign in with',
    'email_unverified',
    () => ({claims: {email: undefined, upn: 'olga@example.test'}}),
    {email_verified: 'true'},
  ],
  [
    'verified is the claim that was chosen where there is no other',
    'accepted',
    () => claims({email: undefined, mail: 'mia@example.test'}),
    {email_claim: 'mail', email_verified: 'true'},
  ],
  // UserInfo
  ['UserInfo', 'accepted', () => claims(NO_ADDRESS)],
  ['UserInfo of another', 'userinfo_invalid', () => userinfo({sub: 'subject-2'})],
  ['UserInfo of no one', 'userinfo_invalid', () => userinfo({sub: undefined})],
  ['UserInfo of a list', 'userinfo_invalid', () => userinfo({sub: ['subject-1']})],
  ['UserInfo that is HTML', 'userinfo_invalid', () => lost(HTML)],
  [
    'UserInfo that is a token',
    'userinfo_invalid',
    () => lost(new RawReply(200, 'a.b.c', {'content-type': 'application/jwt'})),
  ],
  ['UserInfo as text', 'userinfo_invalid', () => lost(new RawReply(200, GOOD, {'content-type': 'text/plain'}))],
  ['UserInfo that is a list', 'userinfo_invalid', () => lost(new RawReply(200, '[]'))],
  [
    'UserInfo with sub twice',
    'userinfo_invalid',
    () => lost(new RawReply(200, '{"sub":"subject-2","sub":"subject-1"}')),
  ],
  ['UserInfo that is refused', 'userinfo_invalid', () => lost(new RawReply(401, GOOD))],
  ['UserInfo that redirects', 'userinfo_invalid', () => lost(new RawReply(302, '', {location: '/elsewhere'}))],
  ['UserInfo that fails', 'provider_unreachable', () => lost(new RawReply(502, '{}'))],
  ['UserInfo of 100 MB', 'provider_unreachable', () => lost(HUGE)],
  ['UserInfo that never ends', 'provider_unreachable', () => lost(ENDLESS), {}, SHORT_MS],
]

describe('31, 32: addresses and UserInfo', () => each(OF_ADDRESSES))

const EMAIL = 'mia@example.test'

test.each([
  ['email', {}, {}, [EMAIL, true]],
  ['nothing of verified', {email_verified: undefined}, {}, [EMAIL, null]],
  ['the claim that was chosen', {mail: 'm@example.test'}, {email_claim: 'mail'}, ['m@example.test', null]],
  ['the claim that was chosen, as verified as email', {mail: EMAIL}, {email_claim: 'mail'}, [EMAIL, true]],
  ['preferred_username', {email: undefined, preferred_username: EMAIL}, {}, [EMAIL, null]],
  ['upn', {email: undefined, preferred_username: 'mia', upn: EMAIL}, {}, [EMAIL, null]],
  ['email that is none, and upn', {email: 'mia', upn: EMAIL}, {}, [EMAIL, null]],
  [
    'what looks like one, as it came',
    {email: ' Mia <mia@example.test>\n', upn: EMAIL},
    {},
    [' Mia <mia@example.test>\n', true],
  ],
])('32: the address is %s', async (_, values, settings, expected) => {
  const {statement, lines} = await judged(claims({email_verified: true, ...values}), settings)
  expect([statement?.email, statement?.email_verified]).toEqual(expected)
  expect(lines).not.toContain('GET /userinfo')
})

test.each([
  ['two @', 'eve@example.test@evil.test'],
  ['a list', [EMAIL]],
  ['an object', {v: EMAIL}],
  ['1,100 characters', `${'e'.repeat(1100)}@example.test`],
])('32: no address is made of %s', async (_, email) => {
  const lies = {claims: {email, email_verified: undefined}, userinfo: (good: object) => ({...good, email})}
  expect((await judged(lies)).statement?.email).toBeNull()
})

test('32: UserInfo is read for a missing address alone, with the access token', async () => {
  const {statement, lines} = await judged(claims(NO_ADDRESS))
  expect([statement?.email, statement?.email_verified]).toEqual([EMAIL, true])
  expect(lines.filter(line => line.endsWith('/userinfo'))).toEqual(['GET /userinfo'])
  const none = await judged({...claims(NO_ADDRESS), discovery: good => ({...good, userinfo_endpoint: null})})
  expect([none.outcome, none.statement?.email, none.lines.includes('GET /userinfo')]).toEqual(['accepted', null, false])
})

test.each([
  ['both', {given_name: ' Mia ', family_name: 'Moll', name: 'Other'}, ['Mia', 'Moll']],
  ['the whole name alone', {name: 'Mia Moll'}, ['Mia Moll', null]],
  ['the family name and the whole one', {name: 'Mia Moll', family_name: 'Moll'}, [null, 'Moll']],
  ['no texts', {given_name: ['Mia'], family_name: 7, name: {}}, [null, null]],
  ['blanks', {given_name: ' \u0000\n', family_name: ''}, [null, null]],
  ['signs that terminals obey', {given_name: 'M\u001b[31mia\u0000', family_name: 'Mo\r\nll'}, ['M [31mia', 'Mo ll']],
  ['too long', {given_name: 'm'.repeat(300), family_name: `${'l'.repeat(254)}😀`}, ['m'.repeat(255), 'l'.repeat(254)]],
])('names: %s', async (_, values, expected) => {
  const {statement} = await judged(claims(values))
  expect([statement?.first_name, statement?.last_name]).toEqual(expected)
})

test.each([
  ['in the ID token', {claims: {groups: ['a']}}, {kind: 'known', names: ['a'], dropped: 0}, false],
  ['in UserInfo', {userinfo: with_groups(['b'])}, {kind: 'known', names: ['b'], dropped: 0}, true],
  ['in both', {claims: {groups: []}, userinfo: with_groups(['b'])}, {kind: 'known', names: [], dropped: 0}, false],
  ['in neither', {}, {kind: 'known', names: [], dropped: 0}, true],
  [
    'too many for the token',
    {claims: {_claim_names: {groups: 'src1'}}, userinfo: with_groups(['b'])},
    {kind: 'unknown', reason: 'groups not in token'},
    false,
  ],
  [
    'in UserInfo that fails',
    {userinfo: () => new RawReply(500, '')},
    {kind: 'unknown', reason: 'UserInfo could not be read'},
    true,
  ],
  ['in UserInfo that is HTML', {userinfo: () => HTML}, {kind: 'unknown', reason: 'UserInfo could not be read'}, true],
] as readonly (readonly [string, Lies, unknown, boolean])[])(
  'groups %s',
  async (_, lies, expected, is_userinfo_read) => {
    const {statement, lines} = await judged(lies, {groups_claim: 'groups'})
    expect([statement?.groups, lines.includes('GET /userinfo')]).toEqual([expected, is_userinfo_read])
  },
)

test('31: UserInfo of another is refused when it is read for groups, too', async () => {
  const lies: Lies = {userinfo: () => ({sub: 'subject-2', groups: ['gw-admins']})}
  expect((await judged(lies, {groups_claim: 'groups'})).outcome).toBe('userinfo_invalid')
})

function with_groups(groups: unknown) {
  return (good: object) => ({...good, groups})
}

function userinfo(values: Record<string, unknown>): Lies {
  return {...claims(NO_ADDRESS), userinfo: good => ({...good, ...values})}
}

function lost(reply: RawReply): Lies {
  return {...claims(NO_ADDRESS), userinfo: () => reply}
}
