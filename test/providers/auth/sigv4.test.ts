import {createHash} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {amzTime, type Signable, sign} from '../../../src/providers/auth/sigv4.ts'

/**
 * Published by Amazon: the Signature Version 4 test suite, and the worked examples of the IAM and S3 guides; `request`
 * is what they share.
 */
const {request: shared, vectors} = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/sigv4/vectors.json'), 'utf8'),
) as {
  request: Signable
  vectors: readonly {name: string; request: Partial<Signable>; signed: string; signature: string}[]
}

test.each(vectors)('$name', ({request, signed, signature}) => {
  const asked = {...shared, ...request}
  const time = amzTime(asked.now_ms)
  const scope = `${asked.credentials.access_key_id}/${time.slice(0, 8)}/us-east-1/${asked.service}/aws4_request`
  expect(sign(asked).authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${signed}, Signature=${signature}`,
  )
})

test('what is added is what was signed, and nothing else', () => {
  const {authorization, ...added} = sign(shared)
  expect(added).toEqual({host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z'})
  expect(authorization).not.toContain(shared.credentials.secret_access_key)
  const s3 = sign({...shared, s3: true, credentials: {...shared.credentials, session_token: 'token'}})
  expect(s3).toMatchObject({
    'x-amz-security-token': 'token',
    'x-amz-content-sha256': createHash('sha256').digest('hex'),
  })
})

test('a body, its bytes and its hash sign alike', () => {
  const body = '{"text":"čaj"}'
  const sha256 = createHash('sha256').update(body).digest('hex')
  expect(sign({...shared, body: Buffer.from(body)})).toEqual(sign({...shared, body}))
  expect(sign({...shared, body: {sha256}})).toEqual(sign({...shared, body}))
  expect(sign({...shared, body: `${body} `})).not.toEqual(sign({...shared, body}))
})

test('headers that change on their way are not signed', () => {
  const headers = {'user-agent': 'a', Connection: 'close', 'x-amzn-trace-id': 'b', authorization: 'c'}
  expect(sign({...shared, headers})).toEqual(sign(shared))
})

test('a percent-encoded path is encoded once more, for all services but S3', () => {
  const at = (path: string, s3: boolean) => sign({...shared, path, s3, body: ''}).authorization
  expect(at('/model/a%3A0/converse', false)).not.toBe(at('/model/a:0/converse', false))
  // S3 takes the path as it stands on the wire: signed there, it is what another service signs of the path before its
  // encoding.
  const {host, 'x-amz-date': time, 'x-amz-content-sha256': hash} = sign({...shared, path: '/a%3A0', s3: true})
  expect(sign({...shared, path: '/a:0', headers: {'x-amz-content-sha256': hash!}})).toMatchObject({
    host,
    'x-amz-date': time,
    authorization: at('/a%3A0', true),
  })
})

test('the order of headers and of query members does not matter, and each of their letters does', () => {
  const member = fc.tuple(fc.stringMatching(/^[a-z]{1,5}$/), fc.stringMatching(/^[A-Za-z0-9 ]{0,5}$/))
  fc.assert(
    fc.property(fc.uniqueArray(member, {selector: ([name]) => name, minLength: 1, maxLength: 5}), members => {
      const headers = (list: typeof members) =>
        Object.fromEntries(list.map(([name, value]) => [`x-${name}`, `v${value}`]))
      const query = (list: typeof members) =>
        list.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
      const signed = sign({...shared, headers: headers(members), query: query(members)})
      const reversed = members.toReversed()
      expect(sign({...shared, headers: headers(reversed), query: query(reversed)})).toEqual(signed)
      const [[name, value] = ['', ''], ...rest] = members
      const changed: typeof members = [[name, `${value}x`], ...rest]
      expect(sign({...shared, headers: headers(members), query: query(changed)})).not.toEqual(signed)
      expect(sign({...shared, headers: headers(changed), query: query(members)})).not.toEqual(signed)
    }),
    {numRuns: 50},
  )
})

test('a query that is badly encoded is signed and does not throw', () => {
  expect(sign({...shared, query: '%=%zz&&=a'}).authorization).toMatch(/Signature=[0-9a-f]{64}$/)
})
