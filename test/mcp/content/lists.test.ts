import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {LISTS, type ListMethod} from '../../../src/mcp/content/entries.ts'
import {checkedCursor, checkedList, type ListEras} from '../../../src/mcp/content/lists.ts'
import {legacyResult, modernResult, repairedResult} from '../../../src/mcp/content/results.ts'
import {edited} from '../../../src/mcp/wire/edits.ts'
import {legacyClient, modernClient} from '../../support/mcp-clients.ts'
import {forRing} from '../../support/ring.ts'

const ERAS: readonly ListEras[] = [
  {client: 'legacy', upstream: 'legacy'},
  {client: 'legacy', upstream: 'modern'},
  {client: 'modern', upstream: 'legacy'},
  {client: 'modern', upstream: 'modern'},
]

/** A page as a client of an era gets it. */
function pageFor(method: ListMethod, text: string, eras: ListEras) {
  const result = JSON.parse(text)
  const {edits, listed, left_out} = checkedList(method, result, eras)
  const more =
    eras.client === 'legacy'
      ? legacyResult(result)
      : eras.upstream === 'legacy'
        ? modernResult(method, '{"name":"up","version":"1"}', 0)
        : repairedResult(method, result)
  return {text: edited(text, [...edits, ...more]), keys: listed.map(({key}) => key), left_out}
}

/** The names in a list as the real client of the era reads it: it throws where it refuses the list. */
async function namesReadBy(method: ListMethod, text: string, {client: era}: ListEras): Promise<readonly string[]> {
  const client = era === 'modern' ? await modernClient({[method]: text}) : await legacyClient({[method]: text})
  const lists = {
    'tools/list': async () => (await client.listTools()).tools,
    'prompts/list': async () => (await client.listPrompts()).prompts,
    'resources/list': async () => (await client.listResources()).resources,
    'resources/templates/list': async () => (await client.listResourceTemplates()).resourceTemplates,
  }
  const entries = await lists[method]()
  return entries.map(entry => (entry as Record<string, unknown>)[LISTS[method].key] as string)
}

const OBJECT = {type: 'object'}
const GOOD: Readonly<Record<ListMethod, readonly string[]>> = {
  'tools/list': [
    '{"name":"one","inputSchema":{"type":"object","maxProperties":1e2},"later":{"n":12345678901234567890}}',
    '{ "name" : "two", "inputSchema" : {"type":"object","properties":{"a":{"type":"string"}}} }',
  ],
  'prompts/list': ['{"name":"one","arguments":[{"name":"a","required":true}]}', '{ "name":"two" , "later":1.0}'],
  'resources/list': ['{"name":"one","uri":"one","size":1.0}', '{"name":"one","uri":"two"}'],
  'resources/templates/list': ['{"name":"one","uriTemplate":"one"}', '{"name":"one","uriTemplate":"two"}'],
}

/** Entries that break the revision of their list. `era`: only those of one. */
const tool = (more: object) => JSON.stringify({name: 'bad', inputSchema: OBJECT, ...more})
const BAD_TOOLS: readonly string[] = [
  'null',
  '"bad"',
  '[]',
  '{}',
  '{"name":"bad"}',
  '{"inputSchema":{"type":"object"}}',
  tool({name: 5}),
  tool({name: null}),
  tool({description: null}),
  tool({title: 1}),
  tool({inputSchema: null}),
  tool({inputSchema: []}),
  tool({inputSchema: {}}),
  tool({inputSchema: {type: 'string'}}),
  tool({inputSchema: {type: ['object']}}),
  tool({outputSchema: null}),
  tool({outputSchema: true}),
  tool({outputSchema: 'x'}),
  tool({annotations: null}),
  tool({annotations: {readOnlyHint: 'yes'}}),
  tool({icons: {}}),
  tool({icons: [{}]}),
  tool({icons: [{src: 'x', sizes: '48x48'}]}),
  tool({icons: [{src: 'x', theme: 'blue'}]}),
  tool({_meta: null}),
  tool({_meta: []}),
]
const BAD: readonly (readonly [ListMethod, string])[] = [
  ...BAD_TOOLS.map(text => ['tools/list', text] as const),
  ['tools/list', '{"name":"one","inputSchema":{"type":"object"}}'],
  ['prompts/list', '{"name":"bad","arguments":{}}'],
  ['prompts/list', '{"name":"bad","arguments":[{"required":true}]}'],
  ['prompts/list', '{"name":"bad","arguments":[{"name":"a","required":"yes"}]}'],
  ['prompts/list', '{"name":"one"}'],
  ['resources/list', '{"name":"bad"}'],
  ['resources/list', '{"uri":"bad"}'],
  ['resources/list', '{"name":"bad","uri":"bad","size":"5"}'],
  ['resources/list', '{"name":"bad","uri":"bad","mimeType":null}'],
  ['resources/list', '{"name":"bad","uri":"bad","annotations":{"priority":2}}'],
  ['resources/list', '{"name":"bad","uri":"bad","annotations":{"audience":["all"]}}'],
  ['resources/list', '{"name":"bad","uri":"bad","annotations":{"lastModified":"yesterday"}}'],
  ['resources/list', '{"name":"other","uri":"one"}'],
  ['resources/templates/list', '{"name":"bad","uri":"bad"}'],
  ['resources/templates/list', '{"name":"bad","uriTemplate":"bad","description":5}'],
]

describe('67: entries that break their revision', () => {
  test.each(BAD)('%s: %s is left out for all, and its neighbours are whole', async (method, bad) => {
    const {member} = LISTS[method]
    const [one, two] = GOOD[method]
    const text = `{"ttlMs":5,"cacheScope":"public","${member}":[${one}, ${bad} ,${two}],"resultType":"complete"}`
    for (const eras of ERAS) {
      const page = pageFor(method, text, eras)
      expect(page.text).toContain(`"${member}":[${one} ,${two}]`)
      expect(page.keys).toEqual(['one', 'two'])
      expect(page.left_out).toMatchObject([{for: 'all', reason: expect.stringMatching(/\S/)}])
      expect(await namesReadBy(method, page.text, eras)).toEqual(['one', 'two'])
    }
  })

  test('what is left out here would have cost the client its whole list', async () => {
    const twice = /"name":"one"|"uri":"one"/
    for (const [method, bad] of BAD) {
      if (twice.test(bad)) continue
      const {member} = LISTS[method]
      const text = `{"ttlMs":0,"cacheScope":"private","resultType":"complete","${member}":[${bad}]}`
      await expect(namesReadBy(method, text, ERAS[0]!), bad).rejects.toThrow()
      await expect(namesReadBy(method, text, ERAS[3]!), bad).rejects.toThrow()
    }
  })

  test('a broken entry takes its name from none, and a name of an earlier page is taken', () => {
    const seen = new Set(['old'])
    const tools = [
      '{"name":"a"}',
      '{"name":"a","inputSchema":{"type":"object"}}',
      '{"name":"old","inputSchema":{"type":"object"}}',
    ]
    const {listed, left_out} = checkedList('tools/list', JSON.parse(`{"tools":[${tools}]}`), ERAS[0]!, seen)
    expect(listed.map(({at}) => at)).toEqual([1])
    expect(left_out.map(({key}) => key)).toEqual(['a', 'old'])
    expect([...seen]).toEqual(['old', 'a'])
  })

  test.each(['{}', '{"tools":{}}', '{"tools":null}'])('%s is no list: 502', text => {
    expect(() => checkedList('tools/list', JSON.parse(text), ERAS[0]!)).toThrow(
      expect.objectContaining({reason: 'upstream_nonsense', http: 502}),
    )
  })

  test('whatever entries are made of, the list that is passed is taken by both clients', async () => {
    const wild = fc.oneof(fc.constantFrom<unknown>(null, 5, 'text', true, [], {}, ['x'], {type: 'object'}))
    const entry = fc.record(
      {
        name: fc.constantFrom<unknown>('a', 'b', 'c', '__proto__', '', 5),
        title: wild,
        description: wild,
        inputSchema: fc.oneof(
          fc.constant(OBJECT),
          fc.record(
            {
              type: fc.constant('object'),
              properties: fc.dictionary(fc.constantFrom('p', '__proto__'), wild),
              required: wild,
            },
            {requiredKeys: ['type']},
          ),
          wild,
        ),
        outputSchema: fc.oneof(
          wild,
          fc.record({type: wild, $schema: wild, properties: fc.dictionary(fc.string(), wild)}, {requiredKeys: []}),
        ),
        annotations: fc.oneof(wild, fc.record({title: wild, readOnlyHint: wild}, {requiredKeys: []})),
        execution: fc.oneof(wild, fc.record({taskSupport: fc.constantFrom<unknown>('required', 'optional', 'x', 1)})),
        icons: fc.oneof(
          wild,
          fc.array(fc.record({src: wild, sizes: wild, theme: wild}, {requiredKeys: []}), {maxLength: 2}),
        ),
        _meta: wild,
      },
      {requiredKeys: ['name', 'inputSchema']},
    )
    const method = 'tools/list'
    await fc.assert(
      fc.asyncProperty(fc.array(entry, {minLength: 1, maxLength: 8}), async tools => {
        const text = JSON.stringify({tools, resultType: 'complete', ttlMs: 0, cacheScope: 'private'})
        for (const eras of ERAS) {
          const page = pageFor(method, text, eras)
          expect(await namesReadBy(method, page.text, eras)).toEqual(page.keys)
        }
      }),
      {numRuns: forRing({own: 60, ci: 500, full: 5_000})},
    )
  })
})

describe('tools across the eras', () => {
  const listOf = (...tools: readonly object[]) =>
    JSON.stringify({resultType: 'complete', ttlMs: 9, cacheScope: 'public', tools})
  const [LEGACY, DOWN, UP, MODERN] = ERAS as [ListEras, ListEras, ListEras, ListEras]

  test('56: a tool with an array for its output is listed to SDK v1, and unchanged for SDK v2', async () => {
    const array = {name: 'rows', inputSchema: OBJECT, outputSchema: {type: 'array', items: {type: 'integer'}}}
    const text = listOf({name: 'before', inputSchema: OBJECT}, array, {name: 'behind', inputSchema: OBJECT})
    const down = pageFor('tools/list', text, DOWN)
    expect(await namesReadBy('tools/list', down.text, DOWN)).toEqual(['before', 'rows', 'behind'])
    expect(JSON.parse(down.text).tools[1].outputSchema).toEqual({
      type: 'object',
      properties: {result: array.outputSchema},
      required: ['result'],
    })
    expect(pageFor('tools/list', text, MODERN).text).toBe(text)
  })

  test('a tool with booleans for properties is listed to SDK v1', async () => {
    const properties = {a: true, b: false}
    const text = listOf({name: 't', inputSchema: {...OBJECT, properties}, outputSchema: {...OBJECT, properties}})
    const down = pageFor('tools/list', text, DOWN)
    expect(await namesReadBy('tools/list', down.text, DOWN)).toEqual(['t'])
    expect(pageFor('tools/list', text, MODERN).text).toBe(text)
  })

  test.each([
    {inputSchema: {...OBJECT, required: 'a'}},
    {inputSchema: {...OBJECT, properties: {a: 5}}},
    {inputSchema: {...OBJECT, properties: []}},
    {outputSchema: {...OBJECT, properties: {a: 'x'}}},
    {execution: {taskSupport: 'sometimes'}},
  ])('67: a modern tool with %j is hidden from legacy clients alone', async more => {
    const text = listOf({name: 'bad', inputSchema: OBJECT, ...more}, {name: 't', inputSchema: OBJECT})
    const down = pageFor('tools/list', text, DOWN)
    expect(down).toMatchObject({keys: ['t'], left_out: [{key: 'bad', for: 'era'}]})
    expect(await namesReadBy('tools/list', down.text, DOWN)).toEqual(['t'])
    expect(pageFor('tools/list', text, MODERN).text).toBe(text)
    expect(await namesReadBy('tools/list', text, MODERN)).toEqual(['bad', 't'])
  })

  test('a tool that only runs as a task is hidden across the eras', () => {
    const text = listOf(
      {name: 'slow', inputSchema: OBJECT, execution: {taskSupport: 'required'}},
      {name: 't', inputSchema: OBJECT, execution: {taskSupport: 'optional'}},
    )
    expect(pageFor('tools/list', text, UP).keys).toEqual(['t'])
    expect(pageFor('tools/list', text, DOWN).keys).toEqual(['t'])
    expect(pageFor('tools/list', text, UP).left_out).toMatchObject([{key: 'slow', for: 'era'}])
    expect(pageFor('tools/list', text, LEGACY).keys).toEqual(['slow', 't'])
  })

  test('a tool with a bad x-mcp-header is hidden from modern clients alone', () => {
    const bad = {...OBJECT, properties: {a: {type: 'number', 'x-mcp-header': 'A'}}}
    const text = listOf({name: 'bad', inputSchema: bad}, {name: 't', inputSchema: OBJECT})
    for (const eras of [MODERN, UP]) {
      expect(pageFor('tools/list', text, eras)).toMatchObject({keys: ['t'], left_out: [{key: 'bad', for: 'era'}]})
    }
    for (const eras of [LEGACY, DOWN]) expect(pageFor('tools/list', text, eras).keys).toEqual(['bad', 't'])
  })

  test('68: the metadata of an app pass through all four as they came', () => {
    const meta = '"_meta":{"ui":{"resourceUri":"ui://a", "visibility":["app"]},"n":1.0}'
    const text = `{"tools":[{"name":"t","inputSchema":{"type":"object"},${meta}}]}`
    for (const eras of ERAS) expect(pageFor('tools/list', text, eras).text).toContain(meta)
  })

  test('23: lists of a legacy upstream have the members of 2026-07-28 for modern clients, and no others', () => {
    for (const method of Object.keys(LISTS) as ListMethod[]) {
      const text = `{"${LISTS[method].member}":[${GOOD[method]}],"nextCursor":""}`
      expect(JSON.parse(pageFor(method, text, UP).text)).toMatchObject({
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        nextCursor: '',
        _meta: {'io.modelcontextprotocol/serverInfo': {name: 'up'}},
      })
      expect(pageFor(method, text, LEGACY).text).toBe(text)
    }
  })
})

describe('66: cursors', () => {
  test.each([
    ['{}', undefined, null],
    ['{"nextCursor":"b"}', undefined, 'b'],
    ['{"nextCursor":"b"}', 'a', 'b'],
    ['{"nextCursor":""}', 'a', ''],
    ['{"nextCursor":""}', undefined, ''],
  ])('%s, asked with %s, goes on with %j', (text, asked_with, next) => {
    expect(checkedCursor(JSON.parse(text), asked_with)).toEqual({edits: [], next, warning: null})
  })

  test.each([
    ['{"tools":[],"nextCursor":"a"}', 'a'],
    ['{"tools":[],"nextCursor":""}', ''],
    ['{"tools":[],"nextCursor":null}', 'a'],
    ['{"tools":[],"nextCursor":5}', undefined],
  ])('%s, asked with %j, is the last page, with a warning', (text, asked_with) => {
    const {edits, next, warning} = checkedCursor(JSON.parse(text), asked_with)
    expect([next, edited(text, edits)]).toEqual([null, '{"tools":[]}'])
    expect(warning).toMatch(/nextCursor/)
  })
})
