import {rmSync} from 'node:fs'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {legacyClient, type McpClient, modernClient} from './mcp/client.ts'
import {type McpUpstream, startUpstream} from './mcp/upstream.ts'
import {cpuUs, freePort, listens, type Program, rssMb, start} from './processes.ts'
import {median} from './rounds.ts'
import {administer, gatewayCommand, type Served, serve} from './subjects/gateway.ts'

/** The cost of a tool call and of a session. Microseconds of processor time for one call, the best round of each. */
export interface McpCost {
  /** A proxy that copies bytes, beside which the others are measured, by the era of client and server. */
  readonly copied_us: Readonly<Record<Era, number>>
  /** By the eras of client and server. */
  readonly ways: Readonly<Record<EraPair, number>>
  /** What a modern call of a modern server adds to p50 with one client, in milliseconds. */
  readonly added_p50_ms: number
  /** Sessions that the gateway began at the server during the rounds. */
  readonly initialized: number
  /** Resident memory that idle sessions take in a gateway of their own, each with its open stream. */
  readonly idle: IdleMemory
}

export interface IdleMemory {
  readonly sessions: number
  readonly legacy_mb: number
  readonly modern_mb: number
}

export const WAYS = ['modern x modern', 'legacy x legacy', 'modern x legacy', 'legacy x modern'] as const
export type EraPair = (typeof WAYS)[number]
export type Era = 'modern' | 'legacy'

/** A way's processor time to that of the proxy in the era of its client. */
export function toProxy({copied_us, ways}: Pick<McpCost, 'copied_us' | 'ways'>, way: EraPair): number {
  return ways[way] / copied_us[way.startsWith('modern') ? 'modern' : 'legacy']
}

const LANES = 16
const SESSIONS = 1_000
/** A principal may hold 50 sessions. */
const KEYS = 25
const LATE_WRITES_MS = 150
const SEQUENTIAL = 300
const TRUSTED = {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}

/** Measures all ways beside the copying proxy, in turn; then the memory of idle sessions. */
export async function mcpCost(
  {rounds, seconds, is_binary}: {rounds: number; seconds: number; is_binary: boolean},
  {folder, processors}: {folder: string; processors: string | undefined},
): Promise<McpCost> {
  const upstream = await startUpstream()
  const proxy = await startProxy(upstream.origin, processors)
  const at = async <T>(work: (served: Served, keys: readonly string[]) => Promise<T>): Promise<T> => {
    const data_dir = join(folder, 'mcp')
    rmSync(data_dir, {recursive: true, force: true})
    const served = await serve(gatewayCommand(is_binary), data_dir, {processors, env: TRUSTED})
    try {
      return await work(served, await furnish(served.origin, upstream))
    } finally {
      await served.program.stop()
      rmSync(data_dir, {recursive: true, force: true})
    }
  }
  try {
    const calls = await at(async ({origin, program}, keys) => {
      const subjects = await subjectsAt(origin, proxy, program, keys)
      const before = upstream.initialized()
      const {'copied modern': modern, 'copied legacy': legacy, ...ways} = await costsOf(subjects, rounds, seconds)
      const copied_us = {modern, legacy}
      const initialized = upstream.initialized() - before
      const added_p50_ms = await addedP50(subjects['modern x modern'].client, upstream)
      for (const {client} of Object.values(subjects)) client.close()
      return {copied_us, ways, initialized, added_p50_ms}
    })
    return {...calls, idle: await at(({origin, program}, keys) => idleMemory(origin, program.pid, keys))}
  } finally {
    await proxy.program.stop()
    upstream.stop()
  }
}

interface Measurable {
  readonly client: McpClient
  readonly pid: number
}

async function startProxy(upstream: string, processors: string | undefined) {
  const port = await freePort()
  const file = join(import.meta.dirname, 'mcp/copying-proxy.ts')
  const program = start([process.execPath, file, String(port), upstream], {processors})
  await listens(port, program)
  return {origin: `http://127.0.0.1:${port}`, program}
}

/** Makes both servers and the keys that call them. */
async function furnish(origin: string, upstream: McpUpstream): Promise<readonly string[]> {
  const call = administer(origin)
  const [workspace] = (await call<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const workspace_id = workspace!.id
  for (const slug of ['modern', 'legacy']) {
    const integration = {name: slug, slug: `${slug}-server`, url: `${upstream.origin}/${slug}`, auth_type: 'none'}
    await call('POST', '/mcp-integrations', {...integration, transport: 'http', workspace_id})
    await call('POST', '/mcp-servers', {name: slug, slug, mcp_integration_id: `${slug}-server`, workspace_id})
  }
  const keys: string[] = []
  for (let at = 0; at < KEYS; at++) {
    const made = {name: `bench-${at}`, workspace_id, scopes: ['mcp.invoke']}
    keys.push((await call<{key: string}>('POST', '/api-keys/workspace/service', made)).key)
  }
  return keys
}

async function subjectsAt(
  origin: string,
  proxy: {origin: string; program: Program},
  gateway: Program,
  keys: readonly string[],
): Promise<Readonly<Record<EraPair | `copied ${Era}`, Measurable>>> {
  const modern = `${origin}/modern/mcp`
  const legacy = `${origin}/legacy/mcp`
  const {pid} = gateway
  const subjects = {
    'copied modern': {client: modernClient(`${proxy.origin}/modern`, []), pid: proxy.program.pid},
    'copied legacy': {client: await legacyClient(`${proxy.origin}/legacy`, [], LANES), pid: proxy.program.pid},
    'modern x modern': {client: modernClient(modern, keys), pid},
    'legacy x legacy': {client: await legacyClient(legacy, keys, LANES), pid},
    'modern x legacy': {client: modernClient(legacy, keys), pid},
    'legacy x modern': {client: await legacyClient(modern, keys, LANES), pid},
  }
  // each lane has called once, so that what follows begins no session
  for (const {client} of Object.values(subjects)) await forLanes(LANES, lane => client.call(lane))
  return subjects
}

/** The best round of each subject, in turn; the first round warms up. */
async function costsOf<Name extends string>(
  subjects: Readonly<Record<Name, Measurable>>,
  rounds: number,
  seconds: number,
): Promise<Record<Name, number>> {
  const names = Object.keys(subjects) as Name[]
  const best = Object.fromEntries(names.map(name => [name, Number.POSITIVE_INFINITY])) as Record<Name, number>
  for (let round = 0; round <= rounds; round++)
    for (const name of names) {
      const us = await costOf(subjects[name], seconds)
      if (round > 0) best[name] = Math.min(best[name], us)
    }
  return best
}

async function costOf({client, pid}: Measurable, seconds: number): Promise<number> {
  const before_us = cpuUs(pid)
  const late = performance.now() + seconds * 1000
  let calls = 0
  await forLanes(LANES, async lane => {
    while (performance.now() < late) {
      await client.call(lane)
      calls++
    }
  })
  await sleep(LATE_WRITES_MS)
  return (cpuUs(pid) - before_us) / calls
}

/** One client, call after call, in turn with the server itself. */
async function addedP50(ours: McpClient, upstream: McpUpstream): Promise<number> {
  const direct = modernClient(`${upstream.origin}/modern`, [])
  const times = {ours: [] as number[], direct: [] as number[]}
  for (let at = 0; at < SEQUENTIAL; at++) {
    times.direct.push(await timed(() => direct.call(0)))
    times.ours.push(await timed(() => ours.call(0)))
  }
  direct.close()
  return median(times.ours)! - median(times.direct)!
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** What idle sessions of both eras take, at rest; each has its stream open. */
async function idleMemory(origin: string, pid: number, keys: readonly string[]): Promise<IdleMemory> {
  const opened = async (client: McpClient) => {
    const before = await atRest(pid)
    const ends: (() => void)[] = []
    await forLanes(LANES, async first => {
      for (let lane = first; lane < SESSIONS; lane += LANES) ends.push(await client.listen(lane))
    })
    const mb = (await atRest(pid)) - before
    for (const end of ends) end()
    client.close()
    return mb
  }
  // what a first call loads is no part of a session
  for (const slug of ['modern', 'legacy']) {
    const first = modernClient(`${origin}/${slug}/mcp`, keys)
    await first.call(0)
    first.close()
  }
  const modern_mb = await opened(modernClient(`${origin}/modern/mcp`, keys))
  const before = await atRest(pid)
  const sessions = await legacyClient(`${origin}/legacy/mcp`, keys, SESSIONS)
  const made_mb = (await atRest(pid)) - before
  return {sessions: SESSIONS, modern_mb, legacy_mb: made_mb + (await opened(sessions))}
}

/** Resident memory once it has not changed by a megabyte for two seconds. */
async function atRest(pid: number): Promise<number> {
  let last = rssMb(pid)
  for (let tries = 0; tries < 30; tries++) {
    await sleep(2000)
    const now = rssMb(pid)
    if (Math.abs(now - last) < 1) return now
    last = now
  }
  return last
}

async function forLanes(lanes: number, work: (lane: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({length: lanes}, (_, lane) => work(lane)))
}
