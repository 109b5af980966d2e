import {describe, expect, test} from 'vitest'
import {type RpcAnswer, readMessage} from '../../../src/mcp/wire/messages.ts'
import {
  answerIn,
  disprovesModern,
  eraVerdict,
  initializeVerdict,
  isModernError,
  type ProbeCredential,
  saysSessionLost,
} from '../../../src/mcp/wire/upstream-era.ts'

const JSON_TYPE = {'content-type': 'application/json'}
const SSE = {'content-type': 'text/event-stream; charset=utf-8'}
const discover = (versions: unknown) =>
  `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":${JSON.stringify(versions)}}}`
const error = (code: number, data?: object) =>
  JSON.stringify({jsonrpc: '2.0', id: 1, error: {code, message: 'm', ...(data && {data})}})
const MODERN = '2026-07-28'

/** Each row of the table of eras: status, body, verdict. */
const PROBES: readonly (readonly [what: string, status: number, body: string, expected: object])[] = [
  ['a modern version', 200, discover([MODERN]), {verdict: 'modern', version: MODERN}],
  [
    'a modern version among others',
    200,
    discover(['2027-01-01', MODERN, '2025-11-25']),
    {verdict: 'modern', version: MODERN},
  ],
  ['legacy versions alone', 200, discover(['2025-11-25']), {verdict: 'legacy'}],
  ['versions to come alone', 200, discover(['2027-01-01']), {verdict: 'none'}],
  ['a version to come and a legacy one', 200, discover(['2027-01-01', '2025-06-18']), {verdict: 'legacy'}],
  ['no versions', 200, discover([]), {verdict: 'legacy'}],
  ['versions of another kind', 200, discover('2026-07-28'), {verdict: 'legacy'}],
  ['versions that are no texts', 200, discover([20260728, null]), {verdict: 'legacy'}],
  ['a result without versions', 200, '{"jsonrpc":"2.0","id":1,"result":{}}', {verdict: 'legacy'}],
  ['-32022 that names ours', 400, error(-32022, {supported: [MODERN]}), {verdict: 'modern_version', version: MODERN}],
  ['-32022 that names legacy ones', 400, error(-32022, {supported: ['2025-11-25', '2024-10-07']}), {verdict: 'legacy'}],
  ['-32022 that names versions to come', 400, error(-32022, {supported: ['2027-01-01']}), {verdict: 'none'}],
  ['-32022 without data', 400, error(-32022), {verdict: 'legacy'}],
  ['-32020', 400, error(-32020), {verdict: 'modern_fault'}],
  ['-32021', 400, error(-32021, {requiredCapabilities: {}}), {verdict: 'modern_fault'}],
  ['-32022 with 200', 200, error(-32022, {supported: [MODERN]}), {verdict: 'legacy'}],
  ['the reference server of old', 400, error(-32000), {verdict: 'legacy'}],
  ['an unknown method', 200, error(-32601), {verdict: 'legacy'}],
  ['an unknown method with 404', 404, error(-32601), {verdict: 'legacy'}],
  ['404', 404, 'Not Found', {verdict: 'legacy'}],
  ['405', 405, '', {verdict: 'legacy'}],
  ['406', 406, '{"error":"Accept"}', {verdict: 'legacy'}],
  ['410', 410, '', {verdict: 'legacy'}],
  ['HTML with 200', 200, '<!doctype html><p>Hello', {verdict: 'legacy'}],
  ['no body', 200, '', {verdict: 'legacy'}],
  ['a redirect', 302, '', {verdict: 'legacy'}],
  ['33: 503', 503, '', {verdict: 'none'}],
  ['500 with a modern result', 500, discover([MODERN]), {verdict: 'none'}],
  ['502', 502, '<html>', {verdict: 'none'}],
  ['504', 504, '', {verdict: 'none'}],
  ['33: 429', 429, '', {verdict: 'none'}],
  ['408', 408, '', {verdict: 'none'}],
]

describe('the era of an upstream', () => {
  test.each(PROBES)('%s (%i)', (_what, status, body, expected) => {
    for (const credential of ['none', 'person', 'standing'] as const)
      expect(eraVerdict({status, headers: JSON_TYPE, body}, credential)).toMatchObject(expected)
  })

  test.each([
    [401, 'none', 'sign_in'],
    [403, 'none', 'sign_in'],
    [401, 'person', 'sign_in'],
    [403, 'person', 'sign_in'],
    [401, 'standing', 'legacy_if_let_in'],
    [403, 'standing', 'legacy_if_let_in'],
  ] as const)('34, 65: %i with the credential "%s" is %s', (status, credential, verdict) => {
    const bodies = ['', discover([MODERN]), error(-32022, {supported: [MODERN]})]
    for (const body of bodies) expect(eraVerdict({status, headers: JSON_TYPE, body}, credential)).toEqual({verdict})
  })

  test('a result that comes as events is one', () => {
    const body = `id: 1\ndata:\n\nevent: message\ndata: ${discover([MODERN])}\n\n`
    const verdict = eraVerdict({status: 200, headers: SSE, body}, 'none')
    expect(verdict).toMatchObject({verdict: 'modern', answer: {id: 1}})
  })
})

describe('an answer to initialize', () => {
  const result = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}'
  const cases: readonly (readonly [status: number, body: string, ProbeCredential, sse: boolean, verdict: string])[] = [
    [200, result, 'none', true, 'legacy'],
    [200, result, 'person', false, 'legacy'],
    [400, error(-32000), 'none', true, 'try_sse'],
    [404, '', 'none', true, 'try_sse'],
    [405, '', 'none', true, 'try_sse'],
    [404, '', 'none', false, 'none'],
    [405, '', 'standing', false, 'none'],
    [401, '', 'none', true, 'sign_in'],
    [403, '', 'person', true, 'sign_in'],
    [401, '', 'standing', true, 'none'],
    [403, '', 'standing', true, 'none'],
    [503, '', 'none', true, 'none'],
    [200, error(-32603), 'none', true, 'none'],
    [200, '<html>', 'none', true, 'none'],
  ]
  test.each(cases)('65: %i %s with "%s", SSE allowed: %s, is %s', (status, body, credential, may_be_sse, verdict) => {
    expect(initializeVerdict({status, headers: JSON_TYPE, body}, credential, may_be_sse).verdict).toBe(verdict)
  })
})

describe('what a status says to a request', () => {
  const answer = (code: number) => readMessage(error(code)) as RpcAnswer
  /** modern error, disproves modern, session lost */
  const cases: readonly (readonly [status: number, code: number | null, boolean, boolean, boolean])[] = [
    [400, -32020, true, false, false],
    [400, -32021, true, false, false],
    [400, -32022, true, false, false],
    [400, -32602, true, false, false],
    [400, -32000, false, true, true],
    [400, null, false, true, true],
    [404, -32601, true, false, true],
    [404, -32001, false, true, true],
    [404, null, false, true, true],
    [200, -32020, false, false, false],
    [500, -32603, false, false, false],
    [410, null, false, false, false],
  ]
  test.each(cases)('31: %i with the code %s', (status, code, modern, disproved, lost) => {
    const read = code === null ? null : answer(code)
    expect([isModernError(status, read), disprovesModern(status, read), saysSessionLost(status, read)]).toEqual([
      modern,
      disproved,
      lost,
    ])
  })

  test('an answer is found in JSON and in events, and nowhere else', () => {
    expect(answerIn(JSON_TYPE, error(-1))?.error?.code).toBe(-1)
    expect(answerIn({}, error(-1))?.error?.code).toBe(-1)
    expect(answerIn(SSE, `data: {"jsonrpc":"2.0","method":"n"}\r\n\r\ndata: ${error(-1)}`)?.error?.code).toBe(-1)
    for (const body of ['', 'data: x\n\n', '[]', '{"jsonrpc":"2.0","method":"x"}']) {
      expect(answerIn(JSON_TYPE, body)).toBeNull()
      expect(answerIn(SSE, body)).toBeNull()
    }
  })
})
