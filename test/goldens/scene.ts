import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Database from 'better-sqlite3'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type Asked, type ClientRequest, send} from './client.ts'
import type {Message} from './http.ts'
import {type RawProvider, type Reply, rawProvider} from './provider.ts'

/** A row of a golden: what is asked, and what providers answer to it. */
export interface Row {
  /** Its trace id too, by which its rows are found. */
  readonly name: string
  /** One behind the other. */
  readonly asks: readonly Partial<RowAsk>[]
  /** Answers of `@a` and `@b`, in their order. */
  readonly a?: readonly Reply[]
  readonly b?: readonly Reply[]
  /** A key of its own, with these limits. */
  readonly key?: object
  /** Asks by itself, and says what was heard. */
  readonly run?: (scene: Scene) => Promise<Heard>
}

export interface RowAsk extends Omit<ClientRequest, 'body'> {
  readonly body: Buffer | string | object
  /** When the client ends its connection. */
  readonly leaves: 'once heard' | 'at first bytes'
  /** Asks once the one before has come to the provider, which answers when all have joined. */
  readonly joins: true
}

export interface Heard {
  readonly asked: readonly ClientRequest[]
  /** What each client read; null for nothing. */
  readonly answers: readonly (Message | null)[]
  readonly providers: Readonly<
    Record<string, {readonly received: readonly Message[]; readonly answered: readonly Reply[]}>
  >
}

/** A column's value, by its name. */
export type Columns = Readonly<Record<string, unknown>>

export interface Recorded extends Heard {
  readonly logs: readonly Columns[]
  readonly entries: readonly Columns[]
}

export interface Scene {
  readonly gateway: TestGateway
  readonly port: number
  readonly a: RawProvider
  readonly b: RawProvider
  /** Ids and addresses of this run, and how goldens call them. */
  readonly names: ReadonlyMap<string, string>
  /**
   * Runs rows one behind the other, then reads all that was recorded of them. `logs` says how many rows of the log must
   * come of one; where it says null, they are those that are there after a while.
   */
  record(rows: readonly Row[], logs: (name: string) => number | null): Promise<ReadonlyMap<string, Recorded>>
  close(): Promise<void>
}

/** The one moment at which everything happens: days and hours of limits, ids and signatures hang on it. */
export const AT_MS = Date.parse('2026-03-04T05:06:07.008Z')
/** Enough turns of the event loop for a call, served by this very process, to come where it waits. */
const TURNS = 500
/** After this the last row is there, when goldens are written. */
const A_WHILE_MS = 300
const LATEST_MS = 10_000

export async function openScene(env: Record<string, string> = {}): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-goldens-'))
  const [a, b] = await Promise.all([rawProvider(), rawProvider()])
  const gateway = await startGateway(
    {TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env},
    {folder, now: () => AT_MS, demo: false},
  )
  const port = Number(new URL(gateway.url).port)
  const names = new Map([
    [`127.0.0.1:${a.port}`, 'a.test'],
    [`127.0.0.1:${b.port}`, 'b.test'],
    [`127.0.0.1:${port}`, 'gateway.test'],
  ])
  await gateway.provider('a', 'openai', `http://127.0.0.1:${a.port}/v1`)
  await gateway.provider('b', 'openai', `http://127.0.0.1:${b.port}/v1`)
  await gateway.provider('claude', 'anthropic', `http://127.0.0.1:${a.port}/v1`)
  const idsOf = async (path: string) =>
    (await gateway.admin<{data: {id: string; slug?: string; organisation_id?: string}[]}>('GET', path)).data
  const [workspace] = await idsOf('/admin/workspaces')
  names.set(workspace!.id, 'workspace')
  for (const {id, slug, organisation_id} of await idsOf('/integrations')) {
    names.set(id, `integration ${slug}`)
    if (organisation_id) names.set(organisation_id, 'organisation')
  }
  for (const {id, slug} of await idsOf(`/providers?workspace_id=${workspace!.id}`)) names.set(id, `provider ${slug}`)
  for (const {id} of await idsOf('/api-keys')) names.set(id, 'key')
  const {readRows, close: closeRows} = openRows(folder)

  const keyOf = async ({name, key}: Row) => {
    if (!key) return WORKSPACE_KEY
    const body = {name, workspace_id: workspace!.id, scopes: ['completions.write'], ...key}
    const made = await gateway.admin<{id: string; key: string}>('POST', '/api-keys/workspace/service', body)
    names.set(made.id, 'own key')
    return made.key
  }
  const ask = async (row: Row): Promise<Heard> => {
    const key = await keyOf(row)
    const asked: ClientRequest[] = []
    const under_way: Asked[] = []
    const all_joined = Promise.withResolvers<void>()
    const joins = row.asks.some(each => each.joins)
    a.play((row.a ?? []).map(reply => (joins ? {...reply, waits: () => all_joined.promise} : reply)))
    b.play(row.b ?? [])
    for (const {leaves, joins: _, ...each} of row.asks) {
      const one = askOf(row.name, key, a, each)
      const sent = send(port, one)
      asked.push(one)
      under_way.push(sent)
      if (leaves) {
        await (leaves === 'once heard' ? a.until(1) : sent.begun)
        await turns()
        sent.leave()
      } else if (joins) {
        await a.until(1)
        await turns()
      } else await sent.answer
    }
    all_joined.resolve()
    const answers = []
    for (const {answer} of under_way) answers.push(await answer)
    return {asked, answers, providers: {a, b}}
  }
  const scene: Scene = {
    gateway,
    port,
    a,
    b,
    names,
    async record(rows, wanted) {
      const received = new Map<string, Heard>()
      for (const row of rows) {
        const {asked, answers, providers} = await within(row.name, row.run ? row.run(scene) : ask(row))
        const kept = Object.entries(providers).map(([name, {received, answered}]) => [
          name,
          {received: [...received], answered: [...answered]},
        ])
        received.set(row.name, {asked, answers, providers: Object.fromEntries(kept)})
      }
      if (rows.some(({name}) => wanted(name) === null)) await new Promise(resolve => setTimeout(resolve, A_WHILE_MS))
      await gateway.app.flushed()
      const recorded = new Map<string, Recorded>()
      for (const {name} of rows) recorded.set(name, {...received.get(name)!, ...(await rowsOf(name, wanted(name)))})
      return recorded
    },
    async close() {
      closeRows()
      await gateway.close()
      await a.close()
      await b.close()
      rmSync(folder, {recursive: true, force: true})
    },
  }
  /** A call that its client left is recorded when it has ended, which nothing tells. */
  const rowsOf = async (name: string, wanted: number | null) => {
    const until_ms = performance.now() + LATEST_MS
    for (;;) {
      const rows = readRows(name)
      if (wanted === null || rows.logs.length >= wanted || performance.now() > until_ms) return rows
      await turns()
      await gateway.app.flushed()
    }
  }
  return scene
}

export async function turns() {
  for (let turn = 0; turn < TURNS; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** `{a}` in a header is the address of `@a`. */
function askOf(
  name: string,
  key: string,
  a: RawProvider,
  {method = 'POST', path = '/v1/chat/completions', headers = {}, body = ''}: Partial<RowAsk>,
): ClientRequest {
  const is_bytes = typeof body === 'string' || Buffer.isBuffer(body)
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const said = Object.entries(headers).map(([field, value]) => [field, value.replace('{a}', `127.0.0.1:${a.port}`)])
  return {
    method,
    path,
    headers: {
      ...(is_bytes ? {} : {'content-type': 'application/json'}),
      'x-gateway-api-key': key,
      'x-gateway-trace-id': name,
      // no row finds in the cache what another left there
      ...(headers['x-gateway-config']?.includes('"cache"') && {'x-gateway-cache-namespace': name}),
      ...Object.fromEntries(said),
    },
    body: bytes,
  }
}

async function within<T>(name: string, running: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} comes to no end`)), LATEST_MS)
  })
  try {
    return await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Rows as SQL has them: every column, whatever the code calls it. */
function openRows(folder: string) {
  const db = new Database(join(folder, 'traffic.db'), {readonly: true})
  const logs = db.prepare('select * from logs where trace_id = ? order by rowid')
  const entries = db.prepare('select * from ledger_entries where trace_id = ? order by sequence')
  return {
    readRows: (trace_id: string) => ({
      logs: logs.all(trace_id) as Columns[],
      entries: entries.all(trace_id) as Columns[],
    }),
    close: () => void db.close(),
  }
}
