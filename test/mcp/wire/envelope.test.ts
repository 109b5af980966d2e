import {describe, expect, test} from 'vitest'
import {edited} from '../../../src/mcp/wire/edits.ts'
import {
  claimedVersion,
  envelopeEdits,
  isLogLevel,
  progressTokenEdit,
  readEnvelope,
  withoutEnvelope,
} from '../../../src/mcp/wire/envelope.ts'
import {isModernMethod, isStatelessMethod, nameMemberOf} from '../../../src/mcp/wire/methods.ts'
import {
  allowsBatches,
  claimsModern,
  eraOf,
  negotiated,
  olderOf,
  SERVED_VERSIONS,
} from '../../../src/mcp/wire/versions.ts'

const KEY = 'io.modelcontextprotocol/'

describe('envelopes', () => {
  const foreign = '"com.example/x" : 1.0,"traceparent":"t"'

  test('one is written among foreign keys, which keep their bytes', () => {
    const text = `{"name":"x","_meta":{ ${foreign},"progressToken":7.0}}`
    const edits = envelopeEdits(
      {
        version: '2026-07-28',
        client_info: '{ "name":"c","version":"1" }',
        client_capabilities: '{"n":1.0}',
        log_level: 'info',
        progress_token: '"ours"',
      },
      [],
    )
    expect(edited(text, edits)).toBe(
      `{"name":"x","_meta":{ ${foreign},"progressToken":"ours","${KEY}protocolVersion":"2026-07-28",` +
        `"${KEY}clientInfo":{ "name":"c","version":"1" },"${KEY}clientCapabilities":{"n":1.0},` +
        `"${KEY}logLevel":"info"}}`,
    )
  })

  test('it takes the place of another, and leaves nothing of it', () => {
    const info = '{"name":"old","version":"0"}'
    const rest = `"${KEY}logLevel":"debug","${KEY}protocolVersion":"1"`
    const text = `{"params":{"_meta":{"${KEY}clientInfo":${info},${rest}}}}`
    const edits = envelopeEdits({version: '2026-07-28', client_info: null, client_capabilities: '{}'}, ['params'])
    expect(JSON.parse(edited(text, edits))).toEqual({
      params: {_meta: {[`${KEY}protocolVersion`]: '2026-07-28', [`${KEY}clientCapabilities`]: {}}},
    })
  })

  test('it is written into nothing', () => {
    const edits = envelopeEdits({version: '2026-07-28', client_info: null, client_capabilities: '{}'}, [])
    expect(readEnvelope(JSON.parse(edited('{}', edits)))).toEqual({
      version: '2026-07-28',
      client_info: null,
      client_capabilities: {},
      log_level: null,
    })
  })

  test('it is taken out: keys of the trace, the token and foreign ones stay', () => {
    const rest = `"progressToken":1.0,"${KEY}logLevel":"info","${KEY}clientInfo":1`
    const text = `{"_meta":{"${KEY}protocolVersion":"x",${foreign},"${KEY}clientCapabilities":{},${rest}}}`
    expect(edited(text, withoutEnvelope([]))).toBe(`{"_meta":{${foreign},"progressToken":1.0}}`)
    expect(edited(text, [progressTokenEdit(null, [])])).not.toContain('progressToken')
  })

  test('no claim: nothing, and other kinds of _meta', () => {
    for (const params of [undefined, {}, {_meta: null}, {_meta: []}, {_meta: 'x'}, {_meta: {}}])
      expect(claimedVersion(params as never)).toBeNull()
  })

  test('levels of the log', () => {
    expect(['debug', 'emergency'].every(isLogLevel)).toBe(true)
    expect(['trace', '', null, 5, 'constructor'].some(isLogLevel)).toBe(false)
  })
})

describe('versions', () => {
  test('20: served ones are named newest first, each of one era', () => {
    expect(SERVED_VERSIONS).toEqual(SERVED_VERSIONS.toSorted().toReversed())
    expect(SERVED_VERSIONS.map(eraOf)).toEqual(['modern', 'legacy', 'legacy', 'legacy', 'legacy'])
    expect(['', '2024-10-07', '2027-01-01', 'constructor'].map(eraOf)).toEqual([null, null, null, null])
  })

  test('any date since the first modern revision claims to be modern', () => {
    expect(['2026-07-28', '2026-07-29', '2030-01-01'].every(claimsModern)).toBe(true)
    expect(['2026-07-27', '2025-11-25', 'latest', '9', '2026-07-28x', ''].some(claimsModern)).toBe(false)
  })

  test('initialize is answered with the requested revision, else with the newest legacy one', () => {
    expect(['2024-11-05', '2025-06-18', '2026-07-28', 'x'].map(negotiated)).toEqual([
      '2024-11-05',
      '2025-06-18',
      '2025-11-25',
      '2025-11-25',
    ])
    expect(olderOf('2025-06-18', '2025-03-26')).toBe('2025-03-26')
    expect(SERVED_VERSIONS.filter(allowsBatches)).toEqual(['2025-03-26', '2024-11-05'])
  })

  test('methods of prototypes are none', () => {
    for (const method of ['constructor', '__proto__', 'toString'])
      expect([isModernMethod(method), nameMemberOf(method), isStatelessMethod(method)]).toEqual([false, null, false])
    expect(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe'].some(isModernMethod)).toBe(false)
    expect(['subscriptions/listen', 'resources/subscribe', 'logging/setLevel'].some(isStatelessMethod)).toBe(false)
  })
})
