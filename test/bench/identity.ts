import {rmSync} from 'node:fs'
import {join} from 'node:path'
import {directoryAt, type ScimClient} from './identity/directory.ts'
import {refusedAfter} from './identity/refused.ts'
import {gatewayCommand, type Served, serve} from './subjects/gateway.ts'

/** How quick a directory is served, in milliseconds. */
export interface IdentityFigures {
  /** PATCH of a group with 1,000 members, by what it does to them. */
  readonly patches: readonly PatchTimes[]
  /** From the reply that a person is switched off to the first refusal of his key. */
  readonly refused_ms: number
  /** The same in another process on one PostgreSQL; null without TEST_DATABASE_URL. */
  readonly refused_elsewhere_ms: number | null
  readonly synchronised: Synchronised
}

export interface PatchTimes {
  readonly what: string
  readonly p50_ms: number
  readonly p95_ms: number
}

export interface Synchronised {
  readonly users: number
  readonly groups: number
  readonly took_s: number
}

const MEMBERS = 1_000
const PATCHES = 40
const USERS = 10_000
const GROUPS = 500
/** A quick look has a tenth of it. */
const QUICK = 10
/** Requests that a directory has on the way at once. */
const AT_ONCE = 8
const DOMAINS = {AUTH_VERIFIED_DOMAINS: 'example.com'}

/** Serves a directory of many people, each figure from a gateway over HTTP. */
export async function identityFigures(
  {
    is_binary,
    is_quick,
    folder,
    processors,
  }: {
    readonly is_binary: boolean
    readonly is_quick: boolean
    readonly folder: string
    readonly processors: string | undefined
  },
  tell: (text: string) => void,
): Promise<IdentityFigures> {
  const data_dir = join(folder, 'identity')
  rmSync(data_dir, {recursive: true, force: true})
  const served = await serve(gatewayCommand(is_binary), data_dir, {processors, env: DOMAINS})
  try {
    const directory = await directoryAt(served.origin)
    tell(`identity: PATCH of a group of ${MEMBERS}`)
    const patches = await patchTimes(directory)
    // said as they come: the last part takes long, and a run may be left before it ends
    for (const {what, p50_ms, p95_ms} of patches)
      tell(`identity: ${what}: p50 ${p50_ms.toFixed(1)} ms, p95 ${p95_ms.toFixed(1)} ms`)
    tell('identity: a person is switched off')
    const refused_ms = await refusedAfter(directory, served.origin, [served.origin])
    const refused_elsewhere_ms = await elsewhere(is_binary, folder, processors)
    tell(`identity: refused after ${refused_ms.toFixed(0)} ms, elsewhere ${refused_elsewhere_ms?.toFixed(0) ?? '-'} ms`)
    const share = is_quick ? QUICK : 1
    tell(`identity: ${USERS / share} users and ${GROUPS / share} groups`)
    const synchronised = await synchronise(directory, USERS / share, GROUPS / share)
    return {patches, refused_ms, refused_elsewhere_ms, synchronised}
  } finally {
    await stop(served, data_dir)
  }
}

async function patchTimes({make, patch}: ScimClient): Promise<readonly PatchTimes[]> {
  const ids = await inTurn(MEMBERS + 1, at => make('/Users', {userName: `member-${at}@example.com`}))
  const members = ids.slice(0, MEMBERS).map(value => ({value}))
  const one = ids[MEMBERS]!
  const group = await make('/Groups', {displayName: 'everyone', members})
  const [adds, removes, replaces]: number[][] = [[], [], []]
  for (let round = 0; round < PATCHES; round++) {
    adds!.push(await patch(`/Groups/${group}`, {op: 'add', path: 'members', value: [{value: one}]}))
    removes!.push(await patch(`/Groups/${group}`, {op: 'remove', path: `members[value eq "${one}"]`}))
    // another one each time, so that there is something to write
    const value = [...members.slice(0, -1), {value: round % 2 ? one : members.at(-1)!.value}]
    replaces!.push(await patch(`/Groups/${group}`, {op: 'replace', path: 'members', value}))
    await patch(`/Groups/${group}`, {op: 'replace', path: 'members', value: members})
  }
  return [
    timesOf('adds one member', adds!),
    timesOf('removes one member', removes!),
    timesOf('replaces all members', replaces!),
  ]
}

function timesOf(what: string, ms: readonly number[]): PatchTimes {
  const sorted = ms.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return {what, p50_ms: at(0.5), p95_ms: at(0.95)}
}

async function synchronise({make}: ScimClient, users: number, groups: number): Promise<Synchronised> {
  const began_ms = performance.now()
  const ids = await inTurn(users, at => make('/Users', {userName: `person-${at}@example.com`, externalId: `ext-${at}`}))
  const each = users / groups
  await inTurn(groups, at => {
    const members = ids.slice(at * each, (at + 1) * each).map(value => ({value}))
    return make('/Groups', {displayName: `group-${at}`, members})
  })
  return {users, groups, took_s: (performance.now() - began_ms) / 1000}
}

/** Does a number of things, a few at a time; gives what came of each, in order. */
async function inTurn<T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> {
  const done = new Array<T>(count)
  let next = 0
  const worker = async () => {
    for (let at = next++; at < count; at = next++) done[at] = await work(at)
  }
  await Promise.all(Array.from({length: AT_ONCE}, worker))
  return done
}

/** Two processes on one database: the directory speaks with the first, the person calls the second. */
async function elsewhere(is_binary: boolean, folder: string, processors: string | undefined): Promise<number | null> {
  if (!process.env.TEST_DATABASE_URL) return null
  const {testStore} = await import('../support/stores.ts')
  const database = await testStore('postgres')
  const {options} = database
  const connection = options.kind === 'postgres' ? options.connection : {}
  const env = {
    ...DOMAINS,
    DATABASE_URL: 'connectionString' in connection ? String(connection.connectionString) : '',
    GATEWAY_SEALING_KEY: Buffer.alloc(32, 3).toString('base64'),
  }
  const running: [Served, string][] = []
  try {
    for (const name of ['identity-first', 'identity-second']) {
      const data_dir = join(folder, name)
      rmSync(data_dir, {recursive: true, force: true})
      running.push([await serve(gatewayCommand(is_binary), data_dir, {processors, env}), data_dir])
    }
    const [first, second] = running.map(([{origin}]) => origin) as [string, string]
    return await refusedAfter(await directoryAt(first), first, [second])
  } finally {
    for (const [served, data_dir] of running) await stop(served, data_dir)
    await database.close()
  }
}

async function stop({program}: Served, data_dir: string) {
  await program.stop()
  rmSync(data_dir, {recursive: true, force: true})
}
