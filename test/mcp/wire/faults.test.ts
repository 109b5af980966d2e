import {describe, expect, test} from 'vitest'
import {REFUSALS, Refusal} from '../../../src/base/errors.ts'
import {
  errorText,
  faultOfRefusal,
  MCP_FAULTS,
  McpFault,
  type McpFaultReason,
  printable,
  versionUnserved,
} from '../../../src/mcp/wire/faults.ts'
import {SERVED_VERSIONS} from '../../../src/mcp/wire/versions.ts'

/** The table of the reference: status for modern and for legacy clients, and the code. */
const STATED: Readonly<Record<string, readonly [http: number, legacy_http: number, code: number]>> = {
  unauthenticated: [401, 401, 401],
  forbidden: [403, 403, 403],
  insufficient_scope: [403, 403, 403],
  not_found: [404, 404, 404],
  session_unknown: [404, 404, 404],
  exhausted: [412, 412, 412],
  rate_limited: [429, 429, 429],
  header_mismatch: [400, 400, -32020],
  capability_missing: [400, 400, -32021],
  version_unserved: [400, 400, -32022],
  method_unknown: [404, 200, -32601],
  meta_missing: [400, 400, -32602],
  params_invalid: [200, 200, -32602],
  state_invalid: [200, 200, -32602],
  capability_unknown: [200, 200, -32602],
  parse_error: [400, 400, -32700],
  request_invalid: [400, 400, -32600],
  upstream_unreachable: [502, 502, 502],
  upstream_nonsense: [502, 502, 502],
  upstream_timeout: [504, 504, 504],
  upstream_sign_in: [200, 200, 401],
  url_elicitation: [200, 200, -32042],
  result_too_large: [502, 502, 502],
  no_room: [503, 503, 503],
  call_lost: [200, 200, -32603],
  body_too_large: [413, 413, 413],
  media_type: [415, 415, 415],
  origin_refused: [403, 403, 403],
  host_refused: [403, 403, 403],
  method_not_allowed: [405, 405, 405],
}

describe('faults', () => {
  test.each(Object.entries(STATED))('%s', (reason, [http, legacy_http, code]) => {
    const fault = new McpFault(reason as McpFaultReason)
    expect([fault.http, fault.httpFor('legacy'), fault.code]).toEqual([http, legacy_http, code])
    expect(fault.httpFor('modern')).toBe(http)
  })

  test('a code of ours is the status; any other is one of the protocol', () => {
    const strange = Object.values(MCP_FAULTS).filter(({http, code}) => code > 0 && code !== http && http !== 200)
    expect(strange).toEqual([])
    const codes = new Set<string>(Object.values(REFUSALS).map(({admin}) => admin))
    expect(Object.values(MCP_FAULTS).filter(({admin}) => admin !== null && !codes.has(admin))).toEqual([])
  })

  test('20: -32022 has supported, the newest first, and requested', () => {
    const fault = versionUnserved('2025-11-25', SERVED_VERSIONS, '0')
    expect(JSON.parse(errorText(fault.id_text, fault))).toEqual({
      jsonrpc: '2.0',
      id: 0,
      error: {
        code: -32022,
        message: 'Unsupported protocol version: 2025-11-25.',
        data: {
          errorCode: 'AB01',
          supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
          requested: '2025-11-25',
        },
      },
    })
  })

  test('a name that is switched off and one that is quarantined get the same words', () => {
    const fault = new McpFault('capability_unknown', {kind: 'tool', name: 'greet'})
    expect(JSON.parse(errorText('"a"', fault))).toMatchObject({
      id: 'a',
      error: {code: -32602, message: 'Unknown tool: greet'},
    })
  })

  test('a fact that is missing leaves no gap, and one of others is cut and printable', () => {
    expect(new McpFault('upstream_nonsense', {reason: 'x'}).message).toBe('The MCP server answered what is no MCP: x.')
    const {message} = new McpFault('capability_unknown', {kind: 'tool', name: `a\u0000\u202e${'b'.repeat(5_000)}`})
    expect(message.length).toBeLessThan(1_300)
    expect(message).not.toMatch(/[\u0000\u202e]/)
    expect(printable('a\ud800{b}')).toBe('a\ufffd{b}')
    expect(new McpFault('params_invalid', {reason: '{reason}'}).message).toBe('Invalid params: {reason}.')
  })

  test.each([
    ['key.unknown', 401, 'unauthenticated', 'AB05'],
    ['scope.missing', 403, 'forbidden', 'AB03'],
    ['key.exhausted', 412, 'exhausted', 'AB03'],
    ['key.rate_reached', 429, 'rate_limited', 'AB06'],
    ['token.keys_silent', 503, 'unavailable', 'AB04'],
    ['value.unfit', 400, 'refused', 'AB01'],
  ] as const)('5: the refusal %s keeps its status, its words and its code', (code, http, reason, errorCode) => {
    const refusal = new Refusal(code, {key: 'k', limit: 'l', scope: 'mcp.invoke', retry_after_s: 7})
    const fault = faultOfRefusal(refusal)
    expect(fault).toMatchObject({http, reason, code: http, message: refusal.message, data: {errorCode}})
    expect(fault.facts.retry_after_s).toBe(7)
  })

  test('the cause and the words of a defect stay in the log', () => {
    const fault = faultOfRefusal(new Refusal('body.not_encoded'))
    expect(errorText(null, fault)).toContain('"id":null')
    const defect = new McpFault('internal', {reason: 'secret'}, {cause: new Error('secret')})
    expect(errorText('1', defect)).not.toContain('secret')
  })
})
