import {cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {createApp} from '../../src/app/app.ts'
import {SealFault} from '../../src/base/seal.ts'
import {DataDirFault} from '../../src/store/data-dir.ts'
import {MigrationFault} from '../../src/store/migrate.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {forRing, generated, seed} from '../support/ring.ts'

const FILES = ['gateway.db', 'traffic.db'] as const
const MESSAGES = [{role: 'user', content: 'Hello'}]
let whole: string
const made: string[] = []

/** A directory in which calls were made, with databases of many pages; left as kill -9 leaves it, or closed. */
beforeAll(async () => {
  whole = folder()
  const gateway = await startGateway({}, {folder: whole})
  for (let n = 0; n < 20; n++)
    await (await gateway.chat({model: 'echo', messages: MESSAGES}, {'x-gateway-provider': '@demo'})).text()
  await gateway.logs()
  await gateway.close()
})

afterAll(() => {
  for (const each of made) rmSync(each, {recursive: true, force: true})
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-damage-'))
  made.push(path)
  return path
}

function copyOf(): string {
  const copy = folder()
  cpSync(whole, copy, {recursive: true})
  return copy
}

/** Starts on `at`; gives the fault it was refused with, or undefined when it served. */
async function start(at: string, options: {role?: 'operator'; accepts_loss?: boolean} = {}): Promise<unknown> {
  try {
    const gateway = await startOn(at, options)
    await gateway.close()
    return undefined
  } catch (fault) {
    return fault
  }
}

async function startOn(
  at: string,
  {role, accepts_loss}: {role?: 'operator'; accepts_loss?: boolean},
): Promise<Pick<TestGateway, 'close'>> {
  if (!role) return startGateway({}, {folder: at, ...(accepts_loss && {accepts_loss})})
  const {readSettings} = await import('../../src/settings/index.ts')
  const {createLog} = await import('../../src/base/log.ts')
  const {settings} = readSettings({env: {GATEWAY_DATA_DIR: at}})
  return createApp(settings, {role, log: createLog('error', 'gateway', () => undefined)})
}

describe('a directory in which a database is gone', () => {
  const gone = (...names: string[]) => {
    const at = copyOf()
    for (const name of names)
      for (const each of readdirSync(at)) if (each.startsWith(name)) rmSync(join(at, each), {recursive: true})
    return at
  }

  test.each([
    [
      'traffic.db',
      ['traffic.db'],
      undefined,
      /^traffic\.db is not in .*though gateway\.db is.*gateway serve --accept-loss/,
    ],
    ['traffic.db', ['traffic.db'], 'operator', /^traffic\.db is not in/],
    [
      'gateway.db',
      ['gateway.db'],
      undefined,
      /^gateway\.db is not in .*though traffic\.db is.*Put both databases back/,
    ],
    [
      'both',
      ['gateway.db', 'traffic.db'],
      undefined,
      /^gateway\.db and traffic\.db are not in .*though its journal is/,
    ],
  ] as const)('%s: is refused with a sentence, and nothing is made in it', async (_, names, role, sentence) => {
    const at = gone(...names)
    const before = readdirSync(at).sort()
    const fault = await start(at, {...(role && {role})})
    expect(fault).toBeInstanceOf(DataDirFault)
    expect((fault as Error).message).toMatch(sentence)
    expect(
      readdirSync(at)
        .filter(name => name !== 'run')
        .sort(),
    ).toEqual(before.filter(name => name !== 'run'))
  })

  test('the sentence names the newest copy here', async () => {
    const at = gone('traffic.db')
    for (const name of ['2026-01-01', '2026-02-01']) mkdirSync(join(at, 'backups', name), {recursive: true})
    expect(String(await start(at))).toContain(`the newest here is ${join(at, 'backups', '2026-02-01')}`)
  })

  test('traffic.db: begins anew when the operator says so, with a note, and serves', async () => {
    const at = gone('traffic.db')
    const gateway = await startGateway({}, {folder: at, accepts_loss: true})
    try {
      expect(gateway.app.notes.join()).toContain('begin anew, as --accept-loss says')
      expect((await gateway.chat({model: 'echo', messages: MESSAGES}, {'x-gateway-provider': '@demo'})).status).toBe(
        200,
      )
      expect(await gateway.logs()).not.toEqual([])
    } finally {
      await gateway.close()
    }
    expect(await start(at)).toBeUndefined()
  })

  test('one whose first start was cut off between two migrations is begun again', async () => {
    const at = gone('traffic.db', 'journal')
    const raw = new Sqlite(join(at, 'gateway.db'))
    raw.pragma('foreign_keys = OFF')
    const tables = raw
      .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
      .pluck()
      .all() as string[]
    for (const name of tables) raw.exec(`drop table "${name}"`)
    raw.exec('create table begun (n)')
    raw.close()
    expect(await start(at)).toBeUndefined()
  })

  test('one whose first start was cut off before it had tables is begun again', async () => {
    const at = folder()
    cpSync(join(whole, 'keys'), join(at, 'keys'), {recursive: true})
    for (const name of FILES) writeFileSync(join(at, name), '')
    expect(await start(at)).toBeUndefined()
  })
})

describe('a damaged page', () => {
  test.each([
    ['a header that is none', (bytes: Buffer) => bytes.fill('x', 0, 100)],
    ['a page of the schema', (bytes: Buffer) => bytes.fill(0xff, 100, 4096)],
    ['half of the file', (bytes: Buffer) => bytes.fill(0xa5, 4096)],
  ])('%s: the start is refused with a sentence that names the file and the way on', async (_, damage) => {
    for (const name of FILES) {
      const at = copyOf()
      const bytes = readFileSync(join(at, name))
      damage(bytes)
      writeFileSync(join(at, name), bytes)
      for (const role of [undefined, 'operator'] as const) {
        const fault = await start(at, {...(role && {role})})
        expect(fault, `${name} ${role ?? 'server'}`).toBeInstanceOf(DataDirFault)
        expect((fault as Error).message).toContain(`${name} in ${at} is damaged (`)
        expect((fault as Error).message).toContain('put both databases back from one backup')
      }
    }
  })

  test('after an unclean end, a page that nothing at the start reads is found', async () => {
    const at = copyOf()
    const path = join(at, 'traffic.db')
    const bytes = readFileSync(path)
    const page = bytes.readUInt16BE(16)
    bytes.fill(0xa5, bytes.length - page)
    writeFileSync(path, bytes)
    expect(existsSync(`${path}-wal`)).toBe(false)
    writeFileSync(`${path}-wal`, Buffer.alloc(32, 1)) // what a process that was killed leaves; SQLite reads none of it
    expect(String(await start(at))).toContain('traffic.db in')
  })

  test('a page that the demo provider is looked for in: the start is refused with a sentence', async () => {
    const db = new Sqlite(join(whole, 'gateway.db'), {readonly: true})
    const pages = db.prepare("select name, rootpage from sqlite_master where tbl_name = 'integration_workspaces'").all()
    db.close()
    for (const {name, rootpage} of pages as {name: string; rootpage: number}[]) {
      const at = copyOf()
      const path = join(at, 'gateway.db')
      const bytes = readFileSync(path)
      const page_bytes = bytes.readUInt16BE(16)
      bytes.fill(0xa5, (rootpage - 1) * page_bytes, rootpage * page_bytes)
      writeFileSync(path, bytes)
      const fault = await start(at)
      expect([name, fault instanceof DataDirFault || fault === undefined ? '' : String(fault)]).toEqual([name, ''])
    }
  })

  test(
    'no start on any one page of noise ends in anything but a sentence',
    async () => {
      const cases = forRing({own: 6, ci: 20, full: 100})
      const refused: string[] = []
      let drawn = seed()
      const draw = (below: number) => {
        drawn = (Math.imul(drawn, 1_103_515_245) + 12_345) >>> 0
        return Math.floor((drawn / 2 ** 32) * below)
      }
      for (let n = 0; n < cases; n++) {
        const at = copyOf()
        const name = FILES[n % 2]!
        const bytes = readFileSync(join(at, name))
        const page_bytes = bytes.readUInt16BE(16)
        const page = draw(bytes.length / page_bytes)
        for (let byte = page * page_bytes; byte < (page + 1) * page_bytes; byte++) bytes[byte] = draw(256)
        writeFileSync(join(at, name), bytes)
        if (n % 4 < 2) writeFileSync(join(at, `${name}-wal`), Buffer.alloc(32, 1))
        const fault = await start(at)
        rmSync(at, {recursive: true})
        if (fault === undefined) continue
        const is_sentence = [DataDirFault, SealFault, MigrationFault].some(Kind => fault instanceof Kind)
        expect(is_sentence ? '' : `${name} page ${page}: ${(fault as Error).stack}`).toBe('')
        refused.push(name)
      }
      generated('a page of noise in a database', cases)
      expect(refused.length).toBeGreaterThan(0)
    },
    forRing({own: 120_000, ci: 120_000, full: 600_000}),
  )
})
