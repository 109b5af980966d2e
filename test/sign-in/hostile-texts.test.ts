import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {commandWord} from '../../src/sign-in/command-codes.ts'
import {type OidcHouse, openOidc} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'

const WORD = 'x'.repeat(43)
const COMMAND = commandWord({port: 5000, state: WORD, challenge: WORD, host: 'a\0b'})

/** Every entrance with a text that PostgreSQL keeps in no column, and the part of the sentence that names it. */
const ROWS: readonly (readonly [string, string, string, object?])[] = [
  ['GET', '/v2/auth/ways?organisation_id=a%00', 'organisation_id'],
  ['GET', '/v2/auth/ways?email=a%00@example.test', 'email'],
  ['GET', '/v2/auth/login?organisation_id=a%00', 'organisation_id'],
  ['GET', '/v1/auth/login?sso_client_id=a%00', 'sso_client_id'],
  ['GET', '/v2/auth/login?connection=a%00', 'connection'],
  ['POST', '/v2/auth/login', 'organisation_id', {organisation_id: 'a\0'}],
  ['POST', '/v2/auth/ldap', 'organisation_id', {organisation_id: 'a\0', username: 'a', password: 'b'}],
  ['POST', '/v2/auth/password', 'email', {email: 'a\0@example.test', password: 'b'}],
  ['POST', '/v1/auth/device', 'host', {client: 'cli', host: 'a\0'}],
  ['POST', '/v1/auth/device/token', 'device_code', {device_code: 'a\0'}],
  ['POST', '/v1/auth/cli/token', 'code', {code: 'a\0', code_verifier: 'b'}],
  ['POST', '/v1/auth/switch', 'organisation_id', {organisation_id: 'a\0'}],
  ['POST', '/v2/auth/cli', 'request', {decision: 'approve', request: COMMAND}],
  ['GET', `/v2/auth/cli/request?request=${COMMAND}`, 'request'],
  ['DELETE', '/v1/auth/sessions/a%00', 'the path'],
  ['GET', '/v2/auth/saml/metadata/a%00', 'the path'],
  ['POST', '/v2/auth/saml/callback/a%00', 'the path', {SAMLResponse: 'AAAA'}],
  ['POST', '/albus/v2/auth/saml/callback/a', 'RelayState', {SAMLResponse: 'AAAA', RelayState: 'a\0'}],
]

describe.each(KINDS)('texts that a database does not keep, on %s', kind => {
  let house: OidcHouse
  let browser: ReturnType<OidcHouse['gateway']['browser']>
  beforeAll(async () => {
    house = await openOidc(kind)
    browser = (await house.signIn()).browser
  })
  afterAll(() => house?.close())

  const rows = ROWS.map(([method, path, name, body]) => ({method, path, name, body}))
  test.each(rows)('$method $path: 400 that names $name', async ({method, path, name, body}) => {
    const reply = await browser.go(path, {method, body, headers: {accept: 'application/json'}})
    expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01'])
    expect(reply.body.data.message).toContain(`${name}: `)
    expect(reply.text).not.toContain('\\u0000')
  })
})
