import {expect, test} from 'vitest'
import {EgressFault} from '../../src/base/egress/faults.ts'
import {Refusal} from '../../src/base/errors.ts'
import {find} from '../../src/providers/registry.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'
import {authorized} from '../../src/proxy/upstream/credentials.ts'

const coded = (code: string) => Object.assign(new Error(code), {code})

/** What a call is refused with whose login fails so. */
async function refusedWith(fault: unknown): Promise<unknown> {
  const login = {authorize: () => Promise.reject(fault), usesOwnIdentity: () => false}
  const target = {provider: find('openai')!, options: {}}
  const request = {method: 'POST', url: new URL('http://a.test'), headers: {}, body: null}
  return authorized(
    {login, key: null} as never,
    request as never,
    target as never,
    {logins: {}} as ProxyServices,
  ).catch(response => response)
}

test.each([
  ['ECONNRESET', 'closed the connection'],
  ['UND_ERR_SOCKET', 'closed the connection'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'closed the connection'],
  ['HPE_INVALID_EOF_STATE', 'closed the connection'],
  ['HPE_INVALID_CONSTANT', 'does not begin with HTTP/1'],
  ['UND_ERR_HEADERS_OVERFLOW', 'its head is too long'],
  ['ECONNREFUSED', 'the connection was refused'],
  ['UND_ERR_CONNECT_TIMEOUT', 'did not answer in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'did not answer in time'],
  ['UND_ERR_BODY_TIMEOUT', 'did not answer in time'],
])('a token service that fails with %s is the login that failed: another target may be asked', async (code, words) => {
  const refused = await refusedWith(coded(code))
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({code: 'provider.login_failed', status: 502, message: expect.stringContaining(words)})
})

test('a token service that cannot be reached is so too; a drain is a drain, and a fault of ours stays one', async () => {
  expect(await refusedWith(new EgressFault('unreachable', 'no way'))).toMatchObject({code: 'provider.login_failed'})
  for (const code of ['UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])
    expect(await refusedWith(coded(code))).toMatchObject({code: 'draining'})
  expect(await refusedWith(new TypeError('no'))).toMatchObject({code: 'internal'})
})
