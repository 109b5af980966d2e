import {crc32} from 'node:zlib'
import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {administeredBy} from '../../src/app/server.ts'
import {vendorOperation} from '../../src/providers/vendor-operations/find.ts'
import type {VendorOperation} from '../../src/providers/vendor-operations/operation.ts'
import {type LogRow, startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {forRing, generated, RING, seed} from '../support/ring.ts'
import {DRIVEN, type Driven} from './vendor-sweep/clients.ts'
import {COLLISIONS} from './vendor-sweep/collisions.ts'
import {type Drive, drive} from './vendor-sweep/drive.ts'
import {CHARGED_WHEN_ENDED, NOT_DRIVEN} from './vendor-sweep/not-driven.ts'
import {answerAs, IN, OUT} from './vendor-sweep/replies.ts'

let provider: FakeProvider
let gateway: TestGateway
let origin: string

beforeAll(async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  provider = await fakeProvider()
  origin = provider.url.replace(/\/v1$/, '')
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  const place = {custom_host: origin, vertex_project_id: 'p', vertex_region: 'us-central1', vertex_auth_type: 'basic'}
  await gateway.provider('openai', 'openai', provider.url)
  await gateway.provider('anthropic', 'anthropic', provider.url)
  await gateway.provider('google', 'google', origin)
  await gateway.provider('vertex-ai', 'vertex-ai', origin, {configurations: place})
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

/** Operations on an organisation, which no table needs to know. */
const ORGANISATION = /^(?:admin|organization|beta\.organization)\./
/**
 * A part of the methods in the own ring, another one by another seed, the same of both of Google's; all of them in the
 * others.
 */
const sampled = (name: string) => forRing({own: (crc32(name) + seed()) % 4 === 0, ci: true, full: true})
/** What a client says of a method that its vendor's other API has. */
const ELSEWHERE = /only supported (?:by|in) the Gemini|does not support/
const administered = administeredBy(OPERATIONS)
/** Of each client: what its methods asked of the provider, by the gateway and without it. */
const asked = new Map<Driven, Map<string, Drive>>()

/** The list of models is cut to what the key can call, in any words (doors 25): it is not the provider's own. */
const GATEWAYS_OWN: ReadonlySet<string> = new Set(['models.list', 'beta.models.list'])

describe.each(DRIVEN.map(driven => [driven.client, driven] as const))('every method of %s', (client, driven) => {
  const reasons = NOT_DRIVEN[driven.kind]!
  const all = driven.methods.filter(name => !reasons[name] && !ORGANISATION.test(name))
  const tried = all.filter(sampled)
  const direct = new Map<string, Drive>()
  const through = new Map<string, Drive>()
  const here = () => tried.filter(method => direct.get(method)!.received.length > 0)
  let rows: ReadonlyMap<string, readonly LogRow[]>

  beforeAll(async () => {
    for (const method of tried) {
      direct.set(method, await driveDirect(driven, method))
      through.set(method, await driveThrough(driven, method, `${client} ${method}`))
    }
    rows = await rowsByTrace()
    asked.set(driven, direct)
    generated(`vendor sweep ${client}`, here().length)
  }, 60_000)

  test('is driven, or stands on the list with a reason, and the list names no other', () => {
    expect(Object.keys(reasons).filter(name => !driven.methods.includes(name))).toEqual([])
    const silent = tried.filter(method => direct.get(method)!.received.length === 0)
    expect(
      silent
        .filter(method => !ELSEWHERE.test(direct.get(method)!.answer))
        .map(method => [method, direct.get(method)!.answer]),
    ).toEqual([])
    expect(here().filter(method => direct.get(method)!.is_error)).toEqual([])
  })

  test('leaves as it would without the gateway, and its answer comes back as it was', () => {
    for (const method of here()) {
      if (GATEWAYS_OWN.has(method)) continue
      const {answer, received} = direct.get(method)!
      expect({method, ...through.get(method)}).toMatchObject({
        method,
        answer,
        is_error: false,
        received: received.map(each => leaving(driven, each)),
      })
    }
  })

  test('is an operation of the table, has one row, and costs what the table says', () => {
    const faults = here().flatMap(method => {
      const operation = operationOf(driven, through.get(method)!)
      if (!operation) return [`${method}: the table lacks ${through.get(method)!.received[0]!.line}`]
      const mine = rows.get(`${client} ${method}`) ?? []
      const {passed} = through.get(method)!
      if (mine.length !== passed) return [`${method}: ${mine.length} rows of ${passed} requests`]
      return mine.flatMap(row => costFault(`${client} ${method}`, operation, row))
    })
    expect(faults).toEqual([])
  })

  test('that costs by no known rate says so when its reply tells no usage', async () => {
    const flagged = here().filter(method => operationOf(driven, through.get(method)!)?.money === 'flagged')
    for (const method of flagged) await driveThrough(driven, method, `${client} ${method} untold`, false)
    const response = await rowsByTrace()
    for (const method of flagged) {
      const sources = response.get(`${client} ${method} untold`)!.map(row => [method, row.cost, row.usage_source])
      expect(sources).toEqual([[method, 0, CHARGED_WHEN_ENDED[`${client} ${method}`] ? 'none' : 'unmetered']])
    }
  }, 60_000)
})

test('a method of Google’s that one of its APIs lacks is driven at the other', () => {
  const [google, vertex] = DRIVEN.filter(({kind}) => kind === 'google' || kind === 'vertex-ai')
  const received = new Set(
    [google!, vertex!].flatMap(each =>
      [...asked.get(each)!].filter(([, {received}]) => received.length > 0).map(([name]) => name),
    ),
  )
  expect([...asked.get(google!)!.keys()].filter(name => !received.has(name))).toEqual([])
})

test('paths that are of our administration too are these', () => {
  for (const driven of DRIVEN) {
    const paths = [...asked.get(driven)!.values()].flatMap(({received}) =>
      received.map(({line}) => belowVersion(line!.split(' ')[1]!)),
    )
    const found = [...new Set(paths.filter(path => administered(path).length > 0))].toSorted()
    const known = COLLISIONS[driven.kind] ?? []
    if (RING === 'own') expect(found.filter(path => !known.includes(path))).toEqual([])
    else expect(found).toEqual(known)
  }
})

test('operations on an organisation pass through', async () => {
  for (const driven of DRIVEN.slice(0, 2)) {
    const methods = driven.methods
      .filter(name => ORGANISATION.test(name))
      .filter((_, at) => at % forRing({own: 40, ci: 7, full: 1}) === 0)
    expect(methods.length).toBeGreaterThan(2)
    for (const method of methods) {
      const {answer, received} = await driveDirect(driven, method)
      const through = await driveThrough(driven, method, 'organisation')
      expect({method, ...through}).toEqual({method, answer, is_error: false, received, passed: received.length})
    }
  }
})

function driveDirect(driven: Driven, method: string): Promise<Drive> {
  provider.answer(answerAs(driven.kind, origin, true))
  return drive(driven, method, origin, {}, provider)
}

function driveThrough(driven: Driven, method: string, trace: string, tells_usage = true): Promise<Drive> {
  provider.answer(answerAs(driven.kind, origin, tells_usage))
  return drive(
    driven,
    method,
    gateway.url,
    {'x-gateway-provider': `@${driven.kind}`, 'x-gateway-trace-id': trace},
    provider,
  )
}

function leaving(driven: Driven, received: Drive['received'][number]): Drive['received'][number] {
  const [method, path] = received.line!.split(' ')
  return {...received, line: `${method} ${driven.leaves(path!)}`}
}

function operationOf({kind}: Driven, {received}: Drive): VendorOperation | undefined {
  const [method, path] = received[0]!.line!.split(' ')
  return vendorOperation(kind, method!, belowVersion(path!))?.operation
}

function belowVersion(path: string): string {
  return path.split('?', 1)[0]!.replace(/^\/v1(?=\/)/, '')
}

/** What is wrong with the row of a call whose reply told `IN` and `OUT`, whatever it was. */
function costFault(method: string, {name, money}: VendorOperation, row: LogRow): readonly string[] {
  const {cost, req_units, res_units, usage_source} = row
  const got = JSON.stringify({cost, req_units, res_units, usage_source})
  const is_free = cost === 0 && req_units === 0 && res_units === 0 && usage_source === 'none'
  const is_charged = Number(cost) > 0 && req_units === IN && res_units === OUT && usage_source === 'provider'
  const fits = money === 'free' || money === 'deferred' || CHARGED_WHEN_ENDED[method] ? is_free : is_charged
  return fits ? [] : [`${method}: ${name} is ${money}, but its row says ${got}`]
}

async function rowsByTrace(): Promise<ReadonlyMap<string, readonly LogRow[]>> {
  await gateway.app.flushed()
  const rows: LogRow[] = []
  for (let page = 0; rows.length === page * 100; page++)
    rows.push(...(await gateway.admin<{data: LogRow[]}>('GET', `/logs?page_size=100&current_page=${page}`)).data)
  return Map.groupBy(rows, row => String(row.trace_id))
}
