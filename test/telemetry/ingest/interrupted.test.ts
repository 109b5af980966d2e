import {execFileSync} from 'node:child_process'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {expect, onTestFinished, test} from 'vitest'
import {startGateway, type TestGateway} from '../../support/gateway.ts'
import {encoded} from '../decoder.ts'
import {ns, span} from './house.ts'

const LANES = (['traces', 'logs'] as const).flatMap(signal =>
  (['json', 'protobuf'] as const).map(encoding => ({signal, encoding})),
)
const REQUESTS = 2

/** A request, and the names of its items that can be kept; one beside them cannot. */
interface SentRequest {
  readonly path: string
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
  readonly names: readonly string[]
}

function requestsOf(): readonly SentRequest[] {
  return LANES.flatMap(({signal, encoding}) =>
    Array.from({length: REQUESTS}, (_, at) => {
      const names = ['a', 'b'].map(word => `${signal} ${encoding} ${at} ${word}`)
      const long_ago = {startTimeUnixNano: '1', endTimeUnixNano: '1'}
      const items =
        signal === 'traces'
          ? [...names.map(name => span({name})), span(long_ago)]
          : [...names.map(severityText => ({severityText, timeUnixNano: ns(1_000)})), {timeUnixNano: '1'}]
      const message =
        signal === 'traces'
          ? {resourceSpans: [{scopeSpans: [{spans: items}]}]}
          : {resourceLogs: [{scopeLogs: [{logRecords: items}]}]}
      return {
        path: `/v1/otel/v1/${signal}`,
        type: encoding === 'json' ? 'application/json' : 'application/x-protobuf',
        body: new Uint8Array(encoding === 'json' ? Buffer.from(JSON.stringify(message)) : encoded(signal, message)),
        names,
      }
    }),
  )
}

/** The status of the answer; 0 where none came. */
async function sent(gateway: TestGateway, {path, type, body}: SentRequest): Promise<number> {
  try {
    const reply = await gateway.call(path, {method: 'POST', body, headers: {'content-type': type}})
    const {status} = reply
    await reply.arrayBuffer()
    if (status === 200) return status
    expect([429, 503]).toContain(status)
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    return status
  } catch (fault) {
    if (fault instanceof TypeError) return 0
    throw fault
  }
}

/** A gateway over what a kill would leave now of another: another process copies its folder. */
async function afterKill({folder}: TestGateway): Promise<TestGateway> {
  const copy = mkdtempSync(join(tmpdir(), 'gateway-ingest-'))
  onTestFinished(() => rmSync(copy, {recursive: true, force: true}))
  execFileSync('cp', ['-r', `${folder}/.`, copy])
  const next = await startGateway({}, {folder: copy})
  onTestFinished(() => next.close())
  return next
}

type Send = () => Promise<readonly number[]>

function locked({folder}: TestGateway) {
  const other = new Sqlite(join(folder, 'traffic.db'))
  onTestFinished(() => void other.close())
  other.exec('begin immediate')
  return other
}

/** Each sends the requests while something happens, and gives their answers, and the gateway that has the log then. */
const INTERRUPTIONS: Readonly<
  Record<string, (gateway: TestGateway, send: Send) => Promise<readonly [readonly number[], TestGateway]>>
> = {
  nothing: async (gateway, send) => [await send(), gateway],
  'a database that another process holds': async (gateway, send) => {
    const other = locked(gateway)
    const answers = await send()
    expect(answers.some(status => status === 503)).toBe(true)
    other.exec('rollback')
    return [answers, gateway]
  },
  'a kill when the journal alone has them': async (gateway, send) => {
    const other = locked(gateway)
    const answers = await send()
    const next = await afterKill(gateway)
    other.exec('rollback')
    return [answers, next]
  },
  'a kill when the database has them': async (gateway, send) => {
    const answers = await send()
    await gateway.app.flushed()
    return [answers, await afterKill(gateway)]
  },
  'a stop while they are sent': async (gateway, send) => {
    const answers = send()
    await gateway.app.drain()
    return [await answers, await afterKill(gateway)]
  },
}

test.each(Object.keys(INTERRUPTIONS))(
  'with %s between, each acknowledged item is in the log, and all are there once when they come again',
  async name => {
    const gateway = await startGateway({DB_QUERY_TIMEOUT_MS: '250'})
    onTestFinished(() => gateway.close())
    const requests = requestsOf()
    const send: Send = () => Promise.all(requests.map(one => sent(gateway, one)))
    const [answers, next] = await INTERRUPTIONS[name]!(gateway, send)
    const names = async () => (await next.logs()).filter(({source}) => source === 'otel').map(row => row.span_name)
    const before = await names()
    expect(before.length).toBe(new Set(before).size)
    const acknowledged = requests.filter((_, at) => answers[at] === 200)
    for (const one of acknowledged) expect(before).toEqual(expect.arrayContaining([...one.names]))
    // what an exporter had no answer for it sends again, and may send what it had one for
    for (const one of requests) await expect.poll(() => sent(next, one), {timeout: 10_000}).toBe(200)
    expect((await names()).toSorted()).toEqual(requests.flatMap(one => one.names).toSorted())
    const usage = await next.admin<{data: object[]}>('GET', '/admin/usage?by=model&since=2020-01-01T00:00:00Z')
    expect(usage.data).toEqual([])
  },
  30_000,
)
