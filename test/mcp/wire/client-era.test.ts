import {classifyInboundRequest} from '@modelcontextprotocol/server'
import {describe, expect, test} from 'vitest'
import {checkBatch, clientEra, type LegacyPost, sessionOfStream} from '../../../src/mcp/wire/client-era.ts'
import {readBody} from '../../../src/mcp/wire/messages.ts'

const MODERN = '2026-07-28'
const KEY = 'io.modelcontextprotocol/'

interface Post {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly params?: object
  readonly id?: unknown
  readonly is_notification?: boolean
}

const envelope = (version: unknown, more: object = {}) => ({
  [`${KEY}protocolVersion`]: version,
  [`${KEY}clientCapabilities`]: {},
  ...more,
})
const standard = (method: string, version = MODERN) => ({'mcp-protocol-version': version, 'mcp-method': method})

function textOf({method = 'tools/list', params, id = 1, is_notification}: Post): string {
  return JSON.stringify({jsonrpc: '2.0', ...(!is_notification && {id}), method, params})
}

const read = (post: Post) => clientEra(post.headers ?? {}, readBody(textOf(post)))

/** Posts that are served: the era and more of what is read. The oracle is the classification of SDK v2. */
const SERVED: readonly (readonly [name: string, post: Post, expected: object])[] = [
  [
    'an envelope of a served version',
    {headers: standard('tools/list'), params: {_meta: envelope(MODERN)}},
    {era: 'modern', kind: 'request', version: MODERN, envelope: {client_info: null, log_level: null}},
  ],
  [
    'an envelope with everything',
    {
      method: 'server/discover',
      headers: standard('server/discover'),
      params: {
        _meta: envelope(MODERN, {
          [`${KEY}clientInfo`]: {name: 'c', version: '1', later: true},
          [`${KEY}logLevel`]: 'warning',
          progressToken: 0,
          traceparent: 'x',
        }),
      },
    },
    {era: 'modern', envelope: {client_info: {name: 'c', later: true}, log_level: 'warning'}},
  ],
  [
    'a session header beside an envelope',
    {headers: {...standard('tools/list'), 'mcp-session-id': 's'}, params: {_meta: envelope(MODERN)}},
    {era: 'modern', kind: 'request'},
  ],
  [
    'initialize of a known revision',
    {method: 'initialize', id: 0, params: {protocolVersion: '2025-06-18', capabilities: {}}},
    {era: 'legacy', kind: 'initialize', version: '2025-06-18'},
  ],
  [
    'initialize of an unknown revision',
    {method: 'initialize', params: {protocolVersion: '2023-01-01', capabilities: {}}},
    {era: 'legacy', kind: 'initialize', version: '2025-11-25'},
  ],
  [
    'initialize of a modern revision',
    {method: 'initialize', params: {protocolVersion: MODERN, capabilities: {}}},
    {era: 'legacy', kind: 'initialize', version: '2025-11-25'},
  ],
  [
    'initialize with a dead session',
    {
      method: 'initialize',
      headers: {'mcp-session-id': 'dead', 'mcp-protocol-version': '2025-11-25'},
      params: {protocolVersion: '2025-11-25'},
    },
    {era: 'legacy', kind: 'initialize', version: '2025-11-25'},
  ],
  [
    'a session',
    {headers: {'mcp-session-id': 's', 'mcp-protocol-version': '2025-03-26'}},
    {era: 'legacy', kind: 'messages', version: '2025-03-26', session_id: 's', is_batch: false},
  ],
  ['no session, no version', {}, {era: 'legacy', version: null, session_id: null}],
  ['an empty session header', {headers: {'mcp-session-id': ''}}, {era: 'legacy', session_id: null}],
  ['_meta without a claim', {params: {_meta: {progressToken: 1}}}, {era: 'legacy', session_id: null}],
  ['a claim that a prototype has', {params: {_meta: JSON.parse('{"__proto__":{"a":1}}')}}, {era: 'legacy'}],
  [
    'a notification of a session',
    {is_notification: true, method: 'notifications/initialized', headers: {'mcp-session-id': 's'}},
    {era: 'legacy', session_id: 's'},
  ],
  [
    'a notification under a modern header',
    {is_notification: true, method: 'notifications/cancelled', headers: {'mcp-protocol-version': MODERN}},
    {era: 'modern', kind: 'notification', version: MODERN},
  ],
  [
    'a notification with a claim alone',
    {is_notification: true, method: 'notifications/cancelled', params: {_meta: envelope(MODERN)}},
    {era: 'modern', kind: 'notification'},
  ],
]

/** Posts that are refused: status and code. `alone`: the SDK checks it elsewhere than where it classifies. */
const REFUSED: readonly (readonly [name: string, post: Post, http: number, code: number, alone?: 'alone'])[] = [
  [
    '20: a legacy version in an envelope',
    {headers: standard('tools/list', '2025-11-25'), params: {_meta: envelope('2025-11-25')}},
    400,
    -32022,
    'alone',
  ],
  [
    '20: a version to come in an envelope',
    {headers: standard('tools/list', '2027-01-01'), params: {_meta: envelope('2027-01-01')}},
    400,
    -32022,
    'alone',
  ],
  ['20: a version that is no text', {headers: standard('tools/list'), params: {_meta: envelope(5)}}, 400, -32602],
  [
    '20: no capabilities',
    {headers: standard('tools/list'), params: {_meta: {[`${KEY}protocolVersion`]: MODERN}}},
    400,
    -32602,
  ],
  [
    '20: capabilities that are no object',
    {headers: standard('tools/list'), params: {_meta: envelope(MODERN, {[`${KEY}clientCapabilities`]: []})}},
    400,
    -32602,
  ],
  [
    '20: client info without a name',
    {headers: standard('tools/list'), params: {_meta: envelope(MODERN, {[`${KEY}clientInfo`]: {version: '1'}})}},
    400,
    -32602,
  ],
  [
    '20: an unknown log level',
    {headers: standard('tools/list'), params: {_meta: envelope(MODERN, {[`${KEY}logLevel`]: 'loud'})}},
    400,
    -32602,
  ],
  [
    '20: an unknown method',
    {method: 'tools/shout', headers: standard('tools/shout'), params: {_meta: envelope(MODERN)}},
    404,
    -32601,
    'alone',
  ],
  ['20: ping', {method: 'ping', headers: standard('ping'), params: {_meta: envelope(MODERN)}}, 404, -32601, 'alone'],
  [
    '20: a method that prototypes have',
    {method: 'constructor', headers: standard('constructor'), params: {_meta: envelope(MODERN)}},
    404,
    -32601,
    'alone',
  ],
  [
    '20: initialize with an envelope',
    {method: 'initialize', headers: standard('initialize'), params: {_meta: envelope(MODERN)}},
    404,
    -32601,
    'alone',
  ],
  [
    '19: another version in the header',
    {headers: standard('tools/list', '2025-11-25'), params: {_meta: envelope(MODERN)}},
    400,
    -32020,
  ],
  [
    '19: no version in the header',
    {headers: {'mcp-method': 'tools/list'}, params: {_meta: envelope(MODERN)}},
    400,
    -32020,
    'alone',
  ],
  ['19: another method in the header', {headers: standard('ping'), params: {_meta: envelope(MODERN)}}, 400, -32020],
  [
    '19: no method in the header',
    {headers: {'mcp-protocol-version': MODERN}, params: {_meta: envelope(MODERN)}},
    400,
    -32020,
    'alone',
  ],
  [
    '19: no name in the header',
    {method: 'tools/call', headers: standard('tools/call'), params: {name: 'x', _meta: envelope(MODERN)}},
    400,
    -32020,
    'alone',
  ],
  [
    '19: initialize under a modern header',
    {method: 'initialize', headers: {'mcp-protocol-version': MODERN}, params: {protocolVersion: '2025-11-25'}},
    400,
    -32020,
  ],
  ['20: no envelope under a modern header', {headers: standard('tools/list')}, 400, -32602],
  [
    '20: no envelope under the header of a version to come',
    {headers: standard('tools/list', '2027-01-01')},
    400,
    -32602,
    'alone',
  ],
  ['20: an unknown legacy version', {headers: {'mcp-protocol-version': '2023-01-01'}}, 400, -32022, 'alone'],
  ['20: a version that is no date', {headers: {'mcp-protocol-version': 'latest'}}, 400, -32022, 'alone'],
  ['initialize without a version', {method: 'initialize', params: {}}, 200, -32602, 'alone'],
  ['initialize without params', {method: 'initialize'}, 200, -32602, 'alone'],
  [
    '19: a notification of two versions',
    {
      is_notification: true,
      method: 'notifications/cancelled',
      headers: {'mcp-protocol-version': '2025-11-25'},
      params: {_meta: envelope(MODERN)},
    },
    400,
    -32020,
  ],
  [
    '19: a notification with another method in the header',
    {is_notification: true, method: 'notifications/cancelled', headers: standard('ping')},
    400,
    -32020,
  ],
]

describe('the era of a POST', () => {
  test.each(SERVED)('%s', (_name, post, expected) => {
    expect(read(post)).toMatchObject(expected)
    expect(oracle(post).kind).toBe((expected as {era: string}).era)
  })

  for (const [name, post, http, code, alone] of REFUSED)
    test(name, () => {
      const id_text = post.is_notification ? null : '1'
      expect(() => read(post)).toThrow(expect.objectContaining({http, code, id_text}))
      if (!alone) expect(oracle(post)).toMatchObject({kind: 'reject', httpStatus: http, code})
    })

  test('20: -32022 says what is served and what was requested', () => {
    const run = () => read({headers: standard('tools/list', '2030-01-01'), params: {_meta: envelope('2030-01-01')}})
    expect(run).toThrow(
      expect.objectContaining({
        data: {
          errorCode: 'AB01',
          supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
          requested: '2030-01-01',
        },
      }),
    )
  })

  test('an answer belongs to a legacy session, and is no POST of a modern client', () => {
    const answer = readBody('{"jsonrpc":"2.0","id":7,"result":{}}')
    expect(clientEra({'mcp-session-id': 's'}, answer)).toMatchObject({era: 'legacy', session_id: 's'})
    const run = () => clientEra({'mcp-protocol-version': MODERN}, answer)
    expect(run).toThrow(expect.objectContaining({http: 400, code: -32600}))
  })
})

describe('batches', () => {
  const two = `[${textOf({})},${textOf({id: 2, method: 'ping'})}]`

  test.each([
    [{}, null],
    [{'mcp-protocol-version': '2025-03-26'}, null],
    [{'mcp-protocol-version': '2024-11-05', 'mcp-session-id': 's'}, '2025-03-26'],
  ] as const)('one under %j in a session of %s is taken', (headers, session_version) => {
    const post = clientEra(headers, readBody(two)) as LegacyPost
    expect(post).toMatchObject({era: 'legacy', is_batch: true, messages: [{id: 1}, {id: 2}]})
    expect(() => checkBatch(post, session_version)).not.toThrow()
  })

  test.each([
    ['2025-06-18', two],
    ['2025-11-25', two],
    [MODERN, two],
    ['2027-01-01', two],
    [undefined, `[${textOf({params: {_meta: envelope(MODERN)}})}]`],
    [undefined, `[${textOf({method: 'initialize', params: {protocolVersion: '2025-03-26'}})}]`],
  ])('one under %s is refused', (version, text) => {
    const headers = version === undefined ? {} : {'mcp-protocol-version': version}
    expect(() => clientEra(headers, readBody(text))).toThrow(
      expect.objectContaining({http: 400, code: -32600, id_text: null}),
    )
  })

  test('one in a session of a later revision is refused', () => {
    const post = clientEra({'mcp-session-id': 's'}, readBody(two)) as LegacyPost
    expect(() => checkBatch(post, '2025-06-18')).toThrow(expect.objectContaining({http: 400, code: -32600}))
  })
})

describe('20: GET and DELETE', () => {
  test.each(['GET', 'DELETE'] as const)('%s', method => {
    const refused = expect.objectContaining({http: 405})
    expect(() => sessionOfStream(method, {'mcp-protocol-version': MODERN, 'mcp-session-id': 's'})).toThrow(refused)
    expect(() => sessionOfStream(method, {})).toThrow(refused)
    expect(sessionOfStream(method, {'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 's'})).toBe('s')
  })
})

/** The same POST as SDK v2 classifies it. */
function oracle({headers = {}, ...post}: Post) {
  const [version, method] = [headers['mcp-protocol-version'], headers['mcp-method']]
  return classifyInboundRequest({
    httpMethod: 'POST',
    body: JSON.parse(textOf(post)),
    ...(version !== undefined && {protocolVersionHeader: version}),
    ...(method !== undefined && {mcpMethodHeader: method}),
  })
}
