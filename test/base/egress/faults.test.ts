import {errors} from 'undici'
import {expect, test} from 'vitest'
import {EgressFault, faultOf, refusalOf} from '../../../src/base/egress/faults.ts'
import {Refusal} from '../../../src/base/errors.ts'
import {CALLER, egress, get, serveSilence} from './harness.ts'

const coded = (code: string) => Object.assign(new Error(`connect ${code} 10.1.2.3:8080`), {code})

test.each([
  ['ENOTFOUND', 'its host name does not resolve'],
  ['EAI_AGAIN', 'its host name could not be looked up now'],
  ['ECONNREFUSED', 'the connection was refused'],
  ['ETIMEDOUT', 'the connection was not answered'],
  ['EHOSTUNREACH', 'there is no route to it'],
  ['CERT_HAS_EXPIRED', 'its TLS certificate has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its TLS certificate is for another host name'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'the TLS handshake failed'],
  ['EWHATEVER', 'the connection failed'],
])('%s while connecting is 503 and says: %s', (code, reason) => {
  const cause = coded(code)
  const fault = faultOf(cause)
  expect(fault).toMatchObject({kind: 'unreachable', reason, cause})
  const refusal = refusalOf(fault, 'groq')
  expect(refusal).toMatchObject({
    code: 'upstream.unreachable',
    status: 503,
    message: `The provider groq could not be reached: ${reason}.`,
  })
  expect(JSON.stringify([refusal.message, refusal.details])).not.toContain('10.1.2.3')
})

test('what the wall stops is an invalid custom host, and a full queue is a busy provider', () => {
  expect(refusalOf(new EgressFault('blocked', 'it leads to a private or reserved address'), 'groq')).toMatchObject({
    code: 'host.blocked',
    status: 400,
    message: 'Invalid custom host: it leads to a private or reserved address.',
  })
  expect(refusalOf(new EgressFault('queue_full', ''), 'groq')).toMatchObject({
    code: 'upstream.queue_full',
    status: 503,
    message: 'Too many calls wait for groq; try again shortly.',
  })
})

test.each([new errors.SocketError('other side closed'), coded('ECONNRESET'), coded('EPIPE')])(
  '%s after connecting is 502, and within an answer it is told as that',
  error => {
    expect(refusalOf(error, 'groq')).toMatchObject({code: 'upstream.broken', status: 502, cause: error})
    expect(refusalOf(error, 'groq', true)).toMatchObject({code: 'upstream.cut', status: 502, cause: error})
  },
)

test.each([
  [coded('HPE_INVALID_VERSION'), 'its version of HTTP is not 1.0 or 1.1'],
  [coded('HPE_UNEXPECTED_CONTENT_LENGTH'), 'it has two content-lengths'],
  [coded('HPE_SOMETHING_NEW'), 'it is not HTTP/1.1'],
  [new errors.HeadersOverflowError(), 'its head is too long'],
])('%s is told as what was wrong', (error, reason) =>
  expect(refusalOf(error, 'groq')).toMatchObject({
    code: 'upstream.bad_reply',
    status: 502,
    cause: error,
    message: `Invalid response received from groq: ${reason}.`,
  }),
)

test('an answer that ends before its length is told as that', () =>
  expect(refusalOf(new errors.ResponseContentLengthMismatchError(), 'groq')).toMatchObject({
    code: 'upstream.cut',
    message: 'The answer of groq ended before it was whole.',
  }))

test('our own closing is draining, a refusal stays itself, and a mistake of ours is internal', () => {
  expect(refusalOf(new errors.ClientDestroyedError(), 'groq').code).toBe('draining')
  expect(refusalOf(new errors.ClientClosedError(), 'groq').code).toBe('draining')
  const refusal = new Refusal('client.gone')
  expect(refusalOf(refusal, 'groq')).toBe(refusal)
  expect(refusalOf(new TypeError('x is not a function'), 'groq')).toMatchObject({code: 'internal', status: 500})
  expect(refusalOf('thrown text', 'groq').code).toBe('internal')
})

test('a socket that closes before the reply is broken, not unreachable', async () => {
  const upstream = await serveSilence()
  const way = egress(['models.example'], {'models.example': ['127.0.0.1']})
  const call = get(way, way.destination(`http://models.example:${upstream.port}`, CALLER)).catch(
    error => refusalOf(error, 'groq').code,
  )
  while (upstream.sockets.length === 0) await new Promise(resolve => setImmediate(resolve))
  upstream.sockets[0]!.end()
  expect(await call).toBe('upstream.broken')
})
