import {createVerify, generateKeyPairSync} from 'node:crypto'
import {expect, test} from 'vitest'
import {NOW_MS, sent} from '../catalog/ask.ts'
import {recorded} from './fetches.ts'

const {privateKey, publicKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
const ACCOUNT = {
  type: 'service_account',
  project_id: 'my-project',
  private_key_id: '370ab79b4513eb9bad7c9bd16a95cb76b5b2a56a',
  private_key: privateKey.export({type: 'pkcs8', format: 'pem'}).toString(),
  client_email: '761326798069-r5mljlln1rd4lrbhg75efgigp36m78j5@developer.gserviceaccount.com',
  token_uri: 'https://attacker.test/token',
}
const CHAT = {model: 'gemini-2.5-flash', messages: [{role: 'user', content: 'Hi'}]}
const TOKEN = {
  access_token: '1/8xbJqaOZXSUZbHLl5EOtu1pxz3fmmetKx9W8CV4t79M',
  scope: 's',
  token_type: 'Bearer',
  expires_in: 3600,
}

const decoded = (part: string | undefined) => JSON.parse(Buffer.from(part!, 'base64url').toString())

test('a service account: the documented grant, header and claims, signed with its key; its project is the usual one', async () => {
  const {calls, logins} = recorded(() => ({body: TOKEN}))
  const {url, headers} = await sent('vertex-ai', {
    options: {vertex_service_account_json: JSON.stringify(ACCOUNT)},
    body: CHAT,
    key: null,
    logins,
  })
  expect(url).toBe(
    'https://us-central1-aiplatform.googleapis.com/v1/projects/my-project/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent',
  )
  expect(headers.authorization).toBe(`Bearer ${TOKEN.access_token}`)
  expect(calls.map(({method, url, headers}) => ({method, url, headers}))).toEqual([
    {
      method: 'POST',
      url: 'https://oauth2.googleapis.com/token',
      headers: {'content-type': 'application/x-www-form-urlencoded'},
    },
  ])
  expect(calls[0]!.body).toMatch(/^grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=/)
  const jwt = new URLSearchParams(calls[0]!.body).get('assertion')!.split('.')
  expect(decoded(jwt[0])).toEqual({alg: 'RS256', typ: 'JWT', kid: ACCOUNT.private_key_id})
  expect(decoded(jwt[1])).toEqual({
    iss: ACCOUNT.client_email,
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: 'https://oauth2.googleapis.com/token',
    iat: NOW_MS / 1000,
    exp: NOW_MS / 1000 + 3600,
  })
  expect(createVerify('RSA-SHA256').update(`${jwt[0]}.${jwt[1]}`).verify(publicKey, jwt[2]!, 'base64url')).toBe(true)
})

test('the machine’s own account: the metadata service, asked once', async () => {
  const {calls, logins} = recorded(() => ({body: TOKEN}))
  const options = {vertex_auth_type: 'workload', vertex_project_id: 'p'}
  await Promise.all([1, 2].map(() => sent('vertex-ai', {options, body: CHAT, key: null, logins})))
  expect(calls).toEqual([
    {
      method: 'GET',
      url: 'http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token',
      headers: {'metadata-flavor': 'Google'},
    },
  ])
  await expect(
    sent('vertex-ai', {options, body: CHAT, key: null, custom_host: 'https://googleapis.com.example.com', logins}),
  ).rejects.toThrow('The gateway shows its own Google identity to hosts of Google alone.')
})

test.each([
  ['not JSON', 'expected the JSON of a service account'],
  ['null', 'expected the JSON of a service account'],
  [JSON.stringify({client_email: 'a@b'}), 'expected the key file of a service account: client_email and private_key'],
  [
    JSON.stringify({...ACCOUNT, private_key: 'secret words'}),
    'The private key of the service account cannot be read: expected a private key in PEM form.',
  ],
])('a key file that is none is told without being quoted: %#', async (vertex_service_account_json, expected) => {
  const {logins} = recorded(() => ({body: TOKEN}))
  const options = {vertex_service_account_json, vertex_project_id: 'p'}
  const fault: unknown = await sent('vertex-ai', {options, body: CHAT, key: null, logins}).catch(error => error)
  expect((fault as Error).message).toContain(expected)
  expect((fault as Error).message).not.toContain('secret words')
})

test('a token of one’s own goes as it is', async () => {
  const {headers} = await sent('vertex-ai', {options: {vertex_auth_type: 'basic', vertex_project_id: 'p'}, body: CHAT})
  expect(headers).toEqual({'content-type': 'application/json', authorization: 'Bearer k'})
})
