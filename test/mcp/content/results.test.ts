import {InitializeResultSchema} from '@modelcontextprotocol/sdk/types.js'
import {describe, expect, test} from 'vitest'
import {
  clientCapabilitiesText,
  discoverFromInitialize,
  initializeFromDiscover,
  serverInfoText,
} from '../../../src/mcp/content/capabilities.ts'
import {errorForModern, statusOfError} from '../../../src/mcp/content/errors.ts'
import {checkedList} from '../../../src/mcp/content/lists.ts'
import {
  isCacheable,
  kindOfResult,
  legacyResult,
  modernResult,
  privateResult,
  repairedResult,
} from '../../../src/mcp/content/results.ts'
import {structuredForLegacy} from '../../../src/mcp/content/structured.ts'
import {edited} from '../../../src/mcp/wire/edits.ts'
import {SERVED_VERSIONS} from '../../../src/mcp/wire/versions.ts'
import {legacyClient, modernClient} from '../../support/mcp-clients.ts'

const INFO = '"io.modelcontextprotocol/serverInfo"'

describe('56: structured content for legacy clients', () => {
  const cases: readonly (readonly [what: string, text: string, is_wrapped: boolean, expected: string])[] = [
    ['none', '{"content":[]}', true, '{"content":[]}'],
    [
      'an object of an object',
      '{"content":[],"structuredContent":{"n":1.0}}',
      false,
      '{"content":[],"structuredContent":{"n":1.0}}',
    ],
    [
      'an object of another schema',
      '{"content":[],"structuredContent":{"n":1.0}}',
      true,
      '{"content":[],"structuredContent":{"result":{"n":1.0}}}',
    ],
    [
      'a list beside its text',
      '{"structuredContent":[1.0, 2],"content":[{"type":"text","text":"1, 2"}]}',
      true,
      '{"structuredContent":{"result":[1.0, 2]},"content":[{"type":"text","text":"1, 2"}]}',
    ],
    [
      'a list without text',
      '{"structuredContent":[1.0, "a"],"content":[{"type":"image","data":"","mimeType":"x"}]}',
      true,
      '{"structuredContent":{"result":[1.0, "a"]},' +
        '"content":[{"type":"image","data":"","mimeType":"x"},{"type":"text","text":"[1.0, \\"a\\"]"}]}',
    ],
    [
      'a list without content',
      '{"structuredContent":[]}',
      false,
      '{"structuredContent":{"result":[]},"content":[{"type":"text","text":"[]"}]}',
    ],
    [
      'null',
      '{"structuredContent":null,"content":[]}',
      true,
      '{"structuredContent":{"result":null},"content":[{"type":"text","text":"null"}]}',
    ],
  ]
  test.each(cases)('%s', (_what, text, is_wrapped, expected) => {
    const result = JSON.parse(text)
    const own_text = /"structuredContent":(.*?)(?:,"content"|\}$)/.exec(text)?.[1]
    expect(edited(text, structuredForLegacy(result, own_text, is_wrapped))).toBe(expected)
  })

  test('SDK v1 takes the value of an array by the schema that it was given', async () => {
    const schema = {type: 'array', items: {$ref: '#/$defs/n'}, $defs: {n: {type: 'integer'}}}
    const list = JSON.stringify({tools: [{name: 'rows', inputSchema: {type: 'object'}, outputSchema: schema}]})
    const {edits} = checkedList('tools/list', JSON.parse(list), {client: 'legacy', upstream: 'modern'})
    const call = (value: string) => {
      const text = `{"resultType":"complete","structuredContent":${value},"content":[]}`
      const result = JSON.parse(text)
      return edited(text, [...structuredForLegacy(result, value, true), ...legacyResult(result)])
    }
    const replies = {'tools/list': edited(list, edits), 'tools/call': call('[1, 2]')}
    const client = await legacyClient(replies)
    await client.listTools()
    expect(await client.callTool({name: 'rows'})).toEqual({
      structuredContent: {result: [1, 2]},
      content: [{type: 'text', text: '[1, 2]'}],
    })
    const wrong = await legacyClient({...replies, 'tools/call': call('["a"]')})
    await wrong.listTools()
    await expect(wrong.callTool({name: 'rows'})).rejects.toThrow(/does not match/)
  })
})

describe('23: members of results', () => {
  test('those of 2026-07-28 are added for modern clients', () => {
    const text = '{"content":[ ],"n":1.0}'
    expect(edited(text, modernResult('tools/call', null, 5))).toBe('{"content":[ ],"n":1.0,"resultType":"complete"}')
    expect(edited('{"contents":[]}', modernResult('resources/read', '{"name":"s"}', 5))).toBe(
      `{"contents":[],"resultType":"complete","ttlMs":5,"cacheScope":"private","_meta":{${INFO}:{"name":"s"}}}`,
    )
    expect(['tools/call', 'prompts/get', 'completion/complete', 'x'].some(isCacheable)).toBe(false)
  })

  test('none of them is left for legacy clients; other keys keep their bytes', () => {
    const members = `"resultType":"complete","n":1.0,"ttlMs":5,"cacheScope":"public"`
    const cases: readonly (readonly [string, string])[] = [
      [`{${members}}`, '{"n":1.0}'],
      [`{${members},"_meta":{${INFO}:{"name":"s"}}}`, '{"n":1.0}'],
      [`{${members},"_meta":{"a":1.0,${INFO}:{}}}`, '{"n":1.0,"_meta":{"a":1.0}}'],
      ['{"_meta":5}', '{"_meta":5}'],
      ['{"n":1.0}', '{"n":1.0}'],
    ]
    for (const [text, expected] of cases) expect(edited(text, legacyResult(JSON.parse(text)))).toBe(expected)
  })

  test('a modern result that lacks them, or has them wrong, is repaired', async () => {
    const tools = '"tools":[{"name":"t","inputSchema":{"type":"object"}}]'
    const repaired = (method: string, text: string) => edited(text, repairedResult(method, JSON.parse(text)))
    for (const wrong of ['', '"ttlMs":-1,', '"ttlMs":1.5,"cacheScope":"all",', '"ttlMs":null,"resultType":5,']) {
      const text = repaired('tools/list', `{${wrong}${tools}}`)
      expect(JSON.parse(text)).toMatchObject({resultType: 'complete', ttlMs: 0, cacheScope: 'private'})
      const client = await modernClient({'tools/list': text})
      expect((await client.listTools()).tools).toHaveLength(1)
    }
    const good = `{"resultType":"complete","ttlMs":7,"cacheScope":"public",${tools}}`
    expect(repaired('tools/list', good)).toBe(good)
    const asking = '{"resultType":"input_required","inputRequests":{}}'
    expect(repaired('resources/read', asking)).toBe(asking)
    expect(repaired('tools/call', '{}')).toBe('{"resultType":"complete"}')
  })

  test('24: a filtered list is private and short-lived', () => {
    const made = (text: string) => edited(text, privateResult(JSON.parse(text), 60_000))
    expect(made('{"cacheScope":"public","ttlMs":90000.0,"n":1.0}')).toBe(
      '{"cacheScope":"private","ttlMs":60000,"n":1.0}',
    )
    expect(made('{"cacheScope":"private","ttlMs":5}')).toBe('{"cacheScope":"private","ttlMs":5}')
    expect(made('{}')).toBe('{}')
  })

  test('kinds', () => {
    expect(
      [
        '{}',
        '{"resultType":"task"}',
        '{"resultType":"input_required"}',
        '{"resultType":"later"}',
        '{"resultType":5}',
      ].map(text => kindOfResult(JSON.parse(text))),
    ).toEqual(['complete', 'task', 'input_required', 'other', 'other'])
  })
})

describe('errors', () => {
  test('-32002 and -32042 are never sent to a modern client; texts stay', () => {
    const made = (text: string) => errorForModern(JSON.parse(text), text)
    expect(made('{"code":-32002,"message":"\\u0041","data":{"uri":"x"}}')).toBe(
      '{"code":-32602,"message":"\\u0041","data":{"uri":"x"}}',
    )
    expect(JSON.parse(made('{"code":-32042,"message":"m","data":{"elicitations":[]}}'))).toEqual({
      code: -32021,
      message: 'm',
      data: {requiredCapabilities: {elicitation: {url: {}}}},
    })
    for (const code of [-32602, -32601, -32000, 5]) {
      const text = `{"code": ${code}.0,"message":"m"}`
      expect(made(text)).toBe(text)
    }
  })

  test.each([
    [-32020, 400],
    [-32021, 400],
    [-32022, 400],
    [-32601, 404],
    [-32602, 200],
    [-32603, 200],
    [5, 200],
  ])('%i has the status %i for modern clients, 200 for legacy ones', (code, status) => {
    expect([statusOfError(code, 'modern'), statusOfError(code, 'legacy')]).toEqual([status, 200])
  })
})

describe('capabilities', () => {
  const ACROSS = {client: 'modern', upstream: 'legacy'} as const
  const SAME = {client: 'modern', upstream: 'modern'} as const
  const UI = '"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"], "n":1.0}'
  const TASKS = '"io.modelcontextprotocol/tasks":{}'

  test.each([
    [`{"extensions":{${TASKS},${UI}},"tasks":{}}`, `{"extensions":{${UI}}}`],
    [`{"roots":{},"extensions":{${TASKS}}}`, '{"roots":{}}'],
    [`{"extensions":{${UI}},"later":{}}`, `{"extensions":{${UI}},"later":{}}`],
    ['{"extensions":5}', '{"extensions":5}'],
    ['{}', '{}'],
  ])('68: of %s all but tasks passes to the other era, and everything within one', (text, expected) => {
    expect(clientCapabilitiesText(text, JSON.parse(text), ACROSS)).toBe(expected)
    expect(clientCapabilitiesText(text, JSON.parse(text), {client: 'legacy', upstream: 'modern'})).toBe(expected)
    expect(clientCapabilitiesText(text, JSON.parse(text), SAME)).toBe(text)
  })

  test('initialize is answered from server/discover, and SDK v1 takes it', () => {
    const info = '{"name":"up","version":"2","later":1.0}'
    const offered = '"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true}'
    const text =
      '{"resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":5,"cacheScope":"public",' +
      `"instructions":"\\u0041","capabilities":{${offered},"extensions":{${TASKS},${UI}}},"_meta":{${INFO}:${info}}}`
    const made = initializeFromDiscover(JSON.parse(text), text, '2025-06-18', {name: 'slug'})
    expect(made).toBe(
      `{"protocolVersion":"2025-06-18","capabilities":{${offered},"extensions":{${UI}}},` +
        `"serverInfo":${info},"instructions":"\\u0041"}`,
    )
    expect(InitializeResultSchema.safeParse(JSON.parse(made)).success).toBe(true)
    const bare = initializeFromDiscover({}, '{}', '2025-11-25', {name: 'slug'})
    expect(InitializeResultSchema.parse(JSON.parse(bare))).toMatchObject({serverInfo: {name: 'slug'}, capabilities: {}})
  })

  test.each([
    '{}',
    '{"_meta":5}',
    '{"_meta":"{\\"a\\":1}"}',
    `{"_meta":{${INFO}:{"name":"x"}}}`,
    `{"_meta":{${INFO}:null}}`,
  ])('%s has no server info', text => {
    expect(serverInfoText(JSON.parse(text), text)).toBeNull()
  })

  test('server/discover is answered from initialize, and SDK v2 connects with it', async () => {
    const info = '{"name":"up","version":"2","n":1.0}'
    const more = '"experimental":{"x":{"n":1.0}}'
    const text =
      `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{}},${more}},` +
      `"serverInfo":${info},"instructions":"i"}`
    const made = discoverFromInitialize(JSON.parse(text), text, 60_000)
    expect(made).toBe(
      `{"resultType":"complete","supportedVersions":${JSON.stringify(SERVED_VERSIONS)},"capabilities":{"tools":{},${more}},` +
        `"instructions":"i","ttlMs":60000,"cacheScope":"private","_meta":{${INFO}:${info}}}`,
    )
    const client = await modernClient({'server/discover': made})
    expect(client.getServerCapabilities()).toMatchObject({tools: {}})
    expect(client.getInstructions()).toBe('i')
    expect(JSON.parse(discoverFromInitialize({}, '{}', 0))).not.toHaveProperty('_meta')
  })
})
