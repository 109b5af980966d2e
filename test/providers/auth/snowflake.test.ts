import {createHash, createVerify, generateKeyPairSync} from 'node:crypto'
import {expect, test} from 'vitest'
import {NOW_MS, sent} from '../catalog/ask.ts'
import {recorded} from './fetches.ts'

const {privateKey, publicKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
const CHAT = {model: 'claude-4-sonnet', messages: [{role: 'user', content: 'Hi'}]}
const PLACE = {snowflake_account: 'myorganization-myaccount'}
const jwt = (claims: object) =>
  `${['{}', JSON.stringify(claims)].map(part => Buffer.from(part).toString('base64url')).join('.')}.s`

test('a private key becomes the documented token, made once', async () => {
  const {clock, logins} = recorded(() => ({body: ''}))
  const snowflake_private_key = privateKey.export({type: 'pkcs8', format: 'pem'}).toString()
  const ask = async () =>
    (
      await sent('cortex', {
        options: {...PLACE, snowflake_user: 'myuser', snowflake_private_key},
        body: CHAT,
        key: null,
        logins,
      })
    ).headers
  const headers = await ask()
  expect(headers['x-snowflake-authorization-token-type']).toBe('KEYPAIR_JWT')
  const [header, claims, signature] = headers.authorization!.slice('Bearer '.length).split('.')
  const fingerprint = createHash('sha256')
    .update(publicKey.export({type: 'spki', format: 'der'}))
    .digest('base64')
  expect(JSON.parse(Buffer.from(header!, 'base64url').toString())).toEqual({alg: 'RS256', typ: 'JWT'})
  expect(JSON.parse(Buffer.from(claims!, 'base64url').toString())).toEqual({
    iss: `MYORGANIZATION-MYACCOUNT.MYUSER.SHA256:${fingerprint}`,
    sub: 'MYORGANIZATION-MYACCOUNT.MYUSER',
    iat: NOW_MS / 1000,
    exp: NOW_MS / 1000 + 3600,
  })
  expect(createVerify('RSA-SHA256').update(`${header}.${claims}`).verify(publicKey, signature!, 'base64url')).toBe(true)
  clock.now_ms += 60_000
  expect((await ask()).authorization).toBe(headers.authorization)
  clock.now_ms += 3400_000
  expect((await ask()).authorization).not.toBe(headers.authorization)
})

test.each([
  ['opaque', {}, 'PROGRAMMATIC_ACCESS_TOKEN'],
  [jwt({iss: 'https://snowflake'}), {}, 'PROGRAMMATIC_ACCESS_TOKEN'],
  [jwt({iss: 'ORG-ACC.USER.SHA256:abc'}), {}, 'KEYPAIR_JWT'],
  ['opaque', {snowflake_token_type: 'OAUTH'}, 'OAUTH'],
])('a token is sent with its kind: %#', async (key, options, expected) => {
  const {headers} = await sent('cortex', {options: {...PLACE, ...options}, body: CHAT, key})
  expect(headers).toMatchObject({authorization: `Bearer ${key}`, 'x-snowflake-authorization-token-type': expected})
})
