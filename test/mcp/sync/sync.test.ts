import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {openLegacy} from '../../support/mcp/legacy-server.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {openRaw, RAW_INITIALIZE, type RawFixture, type Scripts} from '../../support/mcp/raw-server.ts'
import {openReference} from '../../support/mcp/reference-server.ts'
import {START_MS, SyncTests} from '../../support/mcp/syncs.ts'
import {KINDS} from '../../support/stores.ts'

const OBJECT = {type: 'object'}
const tool = (name: string, more: object = {}) => ({name, description: `Does ${name}.`, inputSchema: OBJECT, ...more})

describe.each(KINDS)('syncs of MCP servers, on %s', kind => {
  let on: SyncTests
  const servers: {close(): Promise<void>}[] = []
  beforeEach(async () => {
    on = await SyncTests.open(kind)
  }, 30_000)
  afterEach(async () => {
    await on.close()
    await Promise.all(servers.splice(0).map(each => each.close()))
  })

  async function raw(scripts: Scripts = {}): Promise<RawFixture> {
    const server = await openRaw(scripts)
    servers.push(server)
    return server
  }
  const lists = (tools: () => readonly unknown[], more: Scripts = {}): Scripts => ({
    'tools/list': answer => answer.result({tools: tools()}),
    'resources/list': answer => answer.result({resources: []}),
    'resources/templates/list': answer => answer.result({resourceTemplates: []}),
    ...more,
  })

  test('44: the reference server shows 17 tools, not 13, and none of them is called', async () => {
    const server = await openReference('streamableHttp')
    servers.push(server)
    await on.integration(server.url)
    await on.sync(on.syncs())
    const names = await on.names()
    expect(names.filter(name => name.startsWith('tool '))).toHaveLength(17)
    expect(await on.metadata()).toMatchObject({
      ...{sync_status: 'synced', sync_error: null, server_name: 'mcp-servers/everything'},
      ...{protocol_version: '2025-11-25', last_synced_at: new Date(START_MS).toISOString()},
    })
  }, 30_000)

  test.each([
    ['legacy', openLegacy, '2025-11-25', ['DELETE']],
    ['modern', openModern, '2026-07-28', []],
  ] as const)(
    'lists of the official %s server become rows, and its session is ended',
    async (_, open, version, ends) => {
      const server = await open()
      servers.push(server)
      await on.integration(server.url)
      await on.sync(on.syncs())
      expect(await on.metadata()).toMatchObject({sync_status: 'synced', protocol_version: version, sync_warnings: []})
      const names = await on.names()
      for (const type of ['tool', 'prompt', 'resource', 'resource_template'])
        expect([type, names.some(name => name.startsWith(`${type} `))]).toEqual([type, true])
      expect(server.of('tools/call')).toEqual([])
      expect(server.of('DELETE').map(({method}) => method)).toEqual(ends)
      expect(await on.db.selectFrom('mcp_eras').selectAll().execute()).toEqual([
        {
          ...{mcp_integration_id: 'i', url: server.url, era: version === '2026-07-28' ? 'modern' : 'legacy'},
          ...{transport: 'http', found_at: new Date(START_MS).toISOString()},
        },
      ])
    },
  )

  test('a server of HTTP+SSE is read where the integration says so', async () => {
    const server = await openReference('sse')
    servers.push(server)
    await on.integration(server.url, {transport: 'sse'})
    await on.sync(on.syncs())
    expect(await on.metadata()).toMatchObject({sync_status: 'synced', sync_error: null})
    expect((await on.names()).length).toBeGreaterThan(0)
  })

  test('questions of a server are declined, and its pages are read on', async () => {
    const asked: Record<string, unknown> = {}
    const server = await raw({
      ...lists(() => []),
      'tools/list': answer => {
        answer.stream()
        for (const [id, method] of [
          ['q1', 'elicitation/create'],
          ['q2', 'sampling/createMessage'],
          ['q3', 'roots/list'],
        ])
          answer.event({jsonrpc: '2.0', id, method, params: {}})
        answer.done({tools: [tool('a')]})
      },
      answer: (answer, {message}) => {
        asked[String(message!.id)] = message!.result ?? message!.error?.code
        answer.status(202)
      },
    })
    await on.integration(server.url)
    await on.sync(on.syncs())
    expect(await on.names()).toEqual(['tool a'])
    await expect.poll(() => asked).toEqual({q1: {action: 'decline'}, q2: -32601, q3: -32601})
  })

  describe('66: cursors', () => {
    test('one that does not move ends the walk, with a warning', async () => {
      const server = await raw({
        ...lists(() => []),
        'tools/list': answer => answer.result({tools: [tool('a')], nextCursor: '8'}),
      })
      await on.integration(server.url)
      await on.sync(on.syncs())
      expect(server.of('tools/list').map(({message}) => message?.params?.cursor)).toEqual([undefined, '8'])
      expect(await on.names()).toEqual(['tool a'])
      expect((await on.metadata()).sync_warnings.join()).toContain(
        'nextCursor is the cursor that the page was asked with',
      )
    })

    test('the empty text is one', async () => {
      const server = await raw({
        ...lists(() => []),
        'tools/list': (answer, {message}) =>
          answer.result(message?.params?.cursor === '' ? {tools: [tool('b')]} : {tools: [tool('a')], nextCursor: ''}),
      })
      await on.integration(server.url)
      await on.sync(on.syncs())
      expect(await on.names()).toEqual(['tool a', 'tool b'])
    })

    test('one that leads back ends the walk; new ones without end do so at 200 pages', async () => {
      let page = 0
      const server = await raw({
        ...lists(() => []),
        'tools/list': answer => answer.result({tools: [tool(`t${page}`)], nextCursor: String(++page % 2)}),
      })
      await on.integration(server.url)
      const syncs = on.syncs()
      await on.sync(syncs)
      expect(await on.names()).toEqual(['tool t0', 'tool t1', 'tool t2'])
      server.play({'tools/list': answer => answer.result({tools: [tool('x')], nextCursor: `n${++page}`})})
      const before = server.of('tools/list').length
      await on.sync(syncs)
      expect(server.of('tools/list').length - before).toBe(200)
      expect(await on.metadata()).toMatchObject({
        sync_status: 'failed',
        sync_error: 'tools/list: it has more than the 200 pages that are read',
      })
      expect(await on.names()).toEqual(['tool t0', 'tool t1', 'tool t2'])
    })
  })

  test('67: malformed entries are left out with a warning; their neighbours are whole', async () => {
    const server = await raw(
      lists(() => [
        tool('good', {_meta: {ui: {resourceUri: 'ui://x'}}}),
        {name: 'x', inputSchema: {anyOf: [OBJECT]}},
        {name: 'y', description: null, inputSchema: OBJECT},
        {inputSchema: OBJECT},
        null,
        tool('good', {description: 'Another.'}),
        tool('a\0b'),
      ]),
    )
    await on.integration(server.url)
    await on.sync(on.syncs())
    expect(await on.names()).toEqual(['tool good'])
    expect((await on.capability('good')).pin!.approved_definition).toEqual({
      ...tool('good'),
      _meta: {ui: {resourceUri: 'ui://x'}},
    })
    const {sync_warnings, sync_status} = await on.metadata()
    expect(sync_status).toBe('synced')
    expect(sync_warnings).toHaveLength(6)
    expect(sync_warnings[0]).toContain('(x): inputSchema')
    expect(sync_warnings[5]).toContain('a b cannot be named')
  })

  test('limits: 5,000 capabilities and 2 MiB', async () => {
    const server = await raw(lists(() => Array.from({length: 5_001}, (_, at) => tool(`t${at}`))))
    await on.integration(server.url)
    const syncs = on.syncs()
    await on.sync(syncs)
    expect((await on.metadata()).sync_error).toContain('5000 capabilities')
    server.play(lists(() => [tool('big', {description: 'x'.repeat(2 * 2 ** 20)})]))
    await on.sync(syncs)
    expect((await on.metadata()).sync_error).toContain('2097152 bytes')
    expect(await on.names()).toEqual([])
  })

  test('a list that fails leaves its type alone; a method that is unknown is an empty list', async () => {
    let fails = false
    const server = await raw({
      ...lists(() => [tool('a')]),
      'resources/list': answer =>
        fails ? answer.refuse(200, -32603, 'disk full') : answer.result({resources: [{uri: 'file:///a', name: 'a'}]}),
      'resources/templates/list': answer => answer.refuse(200, -32601, 'Method not found'),
    })
    await on.integration(server.url)
    const syncs = on.syncs()
    await on.sync(syncs)
    expect(await on.metadata()).toMatchObject({sync_status: 'synced', sync_error: null})
    fails = true
    server.play(lists(() => [tool('b')], {'resources/list': answer => answer.refuse(200, -32603, 'disk full')}))
    await on.sync(syncs)
    expect(await on.names()).toEqual(['tool b', 'resource a'])
    expect(await on.metadata()).toMatchObject({
      sync_status: 'failed',
      sync_error: 'resources/list: the error -32603: disk full',
    })
  })

  test('resources of one name: the second is named by its address, whatever the order of a later list', async () => {
    const one = {uri: 'file:///1', name: 'r'}
    const two = {uri: 'file:///2', name: 'r'}
    const server = await raw(lists(() => [], {'resources/list': answer => answer.result({resources: [one, two]})}))
    await on.integration(server.url)
    const syncs = on.syncs()
    await on.sync(syncs)
    const found = async () => (await on.capabilities()).map(({name, uri}) => [name, uri])
    const expected = [
      ['file:///2', 'file:///2'],
      ['r', 'file:///1'],
    ]
    expect(await found()).toEqual(expected)
    server.play({'resources/list': answer => answer.result({resources: [two, one]})})
    await on.sync(syncs)
    expect(await found()).toEqual(expected)
  })

  test('a server that shows other names each time has a bound, and what is switched off is kept', async () => {
    let tools = [tool('kept')]
    const server = await raw(lists(() => tools))
    await on.integration(server.url)
    const syncs = on.syncs()
    await on.sync(syncs)
    await on.db.updateTable('mcp_capabilities').set({enabled: 0}).execute()
    for (let round = 0; round < 4; round++) {
      tools = Array.from({length: 2_600}, (_, at) => tool(`r${round}-${at}`))
      on.timers.now_ms += 60_000
      await on.sync(syncs)
    }
    const rows = await on.capabilities()
    expect(rows.filter(({gone_at}) => gone_at !== null)).toHaveLength(5_000)
    expect(await on.capability('kept')).toMatchObject({enabled: 0})
    const rounds = Map.groupBy(rows, ({name}) => name.split('-')[0])
    expect([0, 1, 2, 3].map(round => rounds.get(`r${round}`)?.length ?? 0)).toEqual([0, 2_399, 2_600, 2_600])
  }, 120_000)

  test('what vanished is kept 30 days as gone, with its switch, and comes back with both', async () => {
    let tools = [tool('a'), tool('b')]
    const server = await raw(lists(() => tools))
    await on.integration(server.url)
    const syncs = on.syncs()
    await on.sync(syncs)
    await on.db.updateTable('mcp_capabilities').set({enabled: 0}).where('name', '=', 'b').execute()
    tools = [tool('a')]
    await on.sync(syncs)
    expect(await on.capability('b')).toMatchObject({gone_at: new Date(START_MS).toISOString(), enabled: 0})
    tools = [tool('a'), tool('b')]
    await on.sync(syncs)
    expect(await on.capability('b')).toMatchObject({gone_at: null, enabled: 0, pin_state: 'approved'})
    tools = [tool('a')]
    await on.sync(syncs)
    on.timers.now_ms += 31 * 86_400_000
    await on.sync(syncs)
    expect((await on.capabilities()).map(({name}) => name)).toEqual(['a'])
  })

  test('a sync that finds nothing new writes no capability row, and says so', async () => {
    const server = await raw(lists(() => [tool('a')]))
    await on.integration(server.url)
    const syncs = on.syncs()
    await on.sync(syncs)
    expect(on.changed).toEqual(['i'])
    on.timers.now_ms += 1_000
    await on.sync(syncs)
    expect((await on.capability('a')).last_updated_at).toBe(new Date(START_MS).toISOString())
    expect(on.changed).toEqual(['i'])
  })

  describe('what fails is in the status, and rows stay', () => {
    test.each([
      ['503', {'server/discover': answer => answer.status(503)}, 'failed', 'status 503'],
      [
        'a page',
        {
          initialize: answer => answer.status(200, '<html>', 'text/html'),
          'server/discover': answer => answer.status(404),
        },
        'failed',
        'status 200',
      ],
      ['401', {'server/discover': answer => answer.status(401)}, 'auth_required', 'sign in'],
    ] as const satisfies readonly (readonly [string, Scripts, string, string])[])(
      '%s',
      async (_, scripts, status, words) => {
        const server = await raw(lists(() => [tool('a')]))
        await on.integration(server.url)
        const syncs = on.syncs()
        await on.sync(syncs)
        const {last_synced_at} = await on.metadata()
        server.play(scripts)
        on.timers.now_ms += 25 * 3_600_000 // the verdict `legacy` is old: it is probed
        await on.sync(syncs)
        const metadata = await on.metadata()
        expect(metadata).toMatchObject({sync_status: status, server_name: 'raw', last_synced_at})
        expect(metadata.sync_error).toContain(words)
        expect(await on.names()).toEqual(['tool a'])
      },
    )

    test('a dead one, a credential that is refused, one that wants a person, and one that cannot be had', async () => {
      const server = await raw({
        'server/discover': answer => answer.status(403),
        initialize: answer => answer.status(403),
      })
      await on.integration(server.url)
      const errorOf = async (credential: Parameters<SyncTests['syncs']>[0]) => {
        await on.sync(on.syncs(credential))
        const {sync_status, sync_error} = await on.metadata()
        return `${sync_status}: ${sync_error}`
      }
      const refused = await errorOf({credential: {headers: () => ({a: 'b'}), credential: 'standing'}})
      expect(refused).toBe('failed: it refused the credential with status 403')
      expect(await errorOf({credential: {auth_required: true}})).toMatch(/^auth_required: /)
      const broken = () => {
        throw new Error('no vault')
      }
      expect(await errorOf({credential: broken})).toBe('failed: its credential could not be had')
      const dead = await raw()
      await dead.close()
      await on.db.updateTable('mcp_integrations').set({url: dead.url}).execute()
      expect(await errorOf({})).toBe('failed: the connection was refused')
    })
  })

  test('33: one 503 changes no verdict; a legacy one is probed again after 24 h', async () => {
    const server = await raw(lists(() => [tool('a')]))
    await on.integration(server.url)
    const syncs = on.syncs()
    await on.sync(syncs)
    const era = async () => (await on.db.selectFrom('mcp_eras').selectAll().executeTakeFirst())?.era
    server.play({initialize: answer => answer.status(503)})
    await on.sync(syncs)
    expect(await era()).toBe('legacy')
    server.play({initialize: answer => answer.headers({'mcp-session-id': 'raw-2'}).result(RAW_INITIALIZE)})
    await on.sync(syncs)
    expect(server.of('server/discover')).toHaveLength(1)
    server.play({
      'server/discover': answer =>
        answer.result({
          ...{supportedVersions: ['2026-07-28'], capabilities: {tools: {}}, resultType: 'complete', ttlMs: 0},
          ...{cacheScope: 'public', _meta: {'io.modelcontextprotocol/serverInfo': {name: 'new', version: '9'}}},
        }),
    })
    on.timers.now_ms += 24 * 3_600_000
    await on.sync(syncs)
    expect([await era(), (await on.metadata()).server_name]).toEqual(['modern', 'new'])
  })

  test('an integration that is changed while it is read keeps nothing of that look, and is read again', async () => {
    const server = await raw(lists(() => [tool('a')]))
    const other = await raw(lists(() => [tool('other')]))
    await on.integration(server.url)
    server.play({
      'tools/list': async answer => {
        await on.db.updateTable('mcp_integrations').set({url: other.url}).execute()
        answer.result({tools: [tool('old')]})
      },
    })
    const syncs = on.syncs()
    await on.sync(syncs)
    expect(await on.names()).toEqual([])
    await on.pass(1_000, syncs)
    expect(await on.names()).toEqual(['tool other'])
  })

  test('51: a try says what came of it, writes nothing, and is done within its time', async () => {
    const server = await raw(lists(() => [tool('a')]))
    const row = await on.integration(server.url)
    const syncs = on.syncs()
    expect(await syncs.tried(row, null)).toMatchObject({
      ...{success: true, status_code: 200, server_name: 'raw', protocol_version: '2025-11-25', error: null},
    })
    server.play({'server/discover': answer => answer.status(503)})
    expect(await syncs.tried(row, null)).toMatchObject({success: false, status_code: 503, server_name: null})
    server.play({'server/discover': () => undefined})
    const trying = syncs.tried(row, null)
    await expect.poll(() => server.of('server/discover').length).toBe(3)
    await on.timers.pass(15_000, async () => undefined)
    expect(await trying).toMatchObject({success: false, status_code: null, error: expect.stringMatching(/15000 ms/)})
    expect([await on.names(), (await on.row()).metadata]).toEqual([[], null])
  })
})
