import {describe, expect, test} from 'vitest'
import {z} from 'zod'
import {fieldsOf, readInput} from '../../cli/fields.ts'
import {type AnyOperation, operation} from '../../src/admin/operation.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {fakeGateway, run} from './support.ts'

const OPERATION = operation({
  id: 'things.update',
  tag: 'Things',
  method: 'PUT',
  path: '/things/:slug',
  summary: 'Change a thing',
  scopes: null,
  audit: {resource: 'thing', action: 'update'},
  params: z.strictObject({slug: z.string()}),
  query: z.strictObject({workspace_id: z.string().optional(), page: z.preprocess(Number, z.int()).optional()}),
  body: z.strictObject({
    name: z.string(),
    workspace_id: z.string().optional(),
    isDefault: z.boolean().optional(),
    weight: z.number().nullable().optional(),
    scopes: z.array(z.string()).optional(),
    mode: z.enum(['a', 'b']).optional(),
    config: z.record(z.string(), z.unknown()).optional(),
  }),
  reply: z.strictObject({}),
  handle: async () => ({}),
})
const FIELDS = fieldsOf(OPERATION)
const read = (...words: string[]) => readInput(FIELDS, words, undefined, () => 'from a file\n')

describe('the fields of an operation', () => {
  test('are flags with hyphens, each with its place and form', () => {
    expect(
      FIELDS.map(({flag, place, kind, required}) => `${flag} ${place} ${kind}${required ? ' required' : ''}`),
    ).toEqual([
      'slug params text required',
      'workspace-id query text',
      'page query number',
      'name body text required',
      'is-default body boolean',
      'weight body number',
      'scopes body texts',
      'mode body text',
      'config body json',
    ])
  })

  test('are read into path, query and body', () => {
    const words = [
      'my-thing',
      '--name',
      'New',
      '--workspace_id=research',
      '--is-default',
      '--weight',
      '0.5',
      '--scopes',
      'a',
      '--scopes',
      'b',
      '--config',
      '{"x":[1]}',
      '--page=2',
    ]
    expect(read(...words)).toEqual({
      params: {slug: 'my-thing'},
      query: {workspace_id: 'research', page: 2},
      body: {name: 'New', isDefault: true, weight: 0.5, scopes: ['a', 'b'], config: {x: [1]}},
    })
  })

  test('take null where that clears, a list as JSON, a false switch, and any of them from a file', () => {
    expect(
      read('x', '--weight', 'null', '--scopes', '["a","b"]', '--isDefault', 'false', '--name-file', 'n').body,
    ).toEqual({
      weight: null,
      scopes: ['a', 'b'],
      isDefault: false,
      name: 'from a file',
    })
    expect(read('x', '--name', 'null').body).toEqual({name: 'null'})
  })

  test('go over a body that is given', () => {
    expect(readInput(FIELDS, ['x', '--name', 'New'], {name: 'Old', mode: 'a'}, String).body).toEqual({
      name: 'New',
      mode: 'a',
    })
  })

  test.each([
    [['x', '--nmae', 'New'], 'The operation has no field --nmae. The nearest is --name.'],
    [['x', 'y'], 'There is one word too many: y. Fields are given as --name value.'],
    [['x', '--name'], '--name needs a value.'],
    [['x', '--weight', 'heavy'], '--weight takes a number.'],
    [['x', '--is-default=maybe'], '--is-default takes true or false.'],
    [['x', '--config', '{'], 'What --config says is not JSON.'],
    [['--name', 'New'], '--slug is missing.'],
  ])('%j is refused', (words, sentence) => {
    expect(() => read(...words)).toThrow(expect.objectContaining({exit: 2}))
    try {
      read(...words)
    } catch (fault) {
      const {message, next} = fault as {message: string; next?: string}
      expect([message, next].filter(Boolean).join(' ')).toBe(sentence)
    }
  })

  test.each(OPERATIONS.map((each): [string, AnyOperation] => [each.id, each]))(
    'of %s are understood, one flag a field',
    (_, each) => {
      const fields = fieldsOf(each)
      expect(new Set(fields.map(({flag}) => flag)).size).toBe(fields.length)
      expect(fields.filter(({place}) => place === 'params').map(({name}) => name)).toEqual(
        [...each.path.matchAll(/:(\w+)/g)].map(match => match[1]),
      )
    },
  )
})

describe('gateway api', () => {
  test('calls an operation by its id', async () => {
    const {transport, requests} = fakeGateway({'POST /admin/workspaces': {slug: 'ws-research-1a2b3c'}})
    const said = await run(['api', 'workspaces.create', '--name', 'research', '--usage-limits', '{"credit_limit":5}'], {
      transport,
    })
    expect(said).toEqual({code: 0, stdout: '{\n  "slug": "ws-research-1a2b3c"\n}\n', stderr: ''})
    expect(requests).toEqual([
      {method: 'POST', path: '/v1/admin/workspaces', body: {name: 'research', usage_limits: {credit_limit: 5}}},
    ])
  })

  test.each([
    ['/configs?page_size=1', '/v1/configs?page_size=1'],
    ['/v1/configs?page_size=1', '/v1/configs?page_size=1'],
  ])('sends GET %s as it is, under /v1', async (path, sent) => {
    const {transport, requests} = fakeGateway({'GET /configs': {data: []}})
    expect((await run(['api', 'get', path], {transport})).code).toBe(0)
    expect(requests).toEqual([{method: 'GET', path: sent}])
  })

  test('takes global options among the fields', async () => {
    const {transport, requests} = fakeGateway({'POST /admin/workspaces': {}})
    await run(['--json', 'api', 'workspaces.create', '--name', 'research', '--quiet', '--description', 'x'], {
      transport,
    })
    expect(requests[0]!.body).toEqual({name: 'research', description: 'x'})
  })

  test('has help for an operation, with its fields and an example', async () => {
    const {code, stdout} = await run(['api', 'api_keys.create', '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('--subtype <service|user>')
    expect(stdout).toContain('$ gateway api api_keys.create <type> <subtype>')
  })

  test('lists every operation', async () => {
    const {stdout} = await run(['api', '--list', '--json'])
    expect((JSON.parse(stdout) as {id: string}[]).map(({id}) => id)).toEqual(OPERATIONS.map(({id}) => id))
  })

  test.each([
    [['api'], 'Name an operation, or a method and a path. gateway api --list shows the operations.'],
    [['api', 'workspace.create'], 'There is no operation workspace.create. The nearest is workspaces.create.'],
    [
      ['api', 'GET'],
      'After GET stands one path, for example /configs. A body is given with --body FILE, or --body - for stdin.',
    ],
    [
      ['api', 'GET', 'configs'],
      'After GET stands one path, for example /configs. A body is given with --body FILE, or --body - for stdin.',
    ],
  ])('%j is refused', async (argv, sentence) => {
    const {transport, requests} = fakeGateway({})
    expect(await run(argv, {transport})).toEqual({code: 2, stdout: '', stderr: `gateway: ${sentence}\n`})
    expect(requests).toEqual([])
  })
})
