import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {createLog} from '../../src/base/log.ts'
import {KeptJudgements} from '../../src/proxy/lookups/judged-files.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const PLACE = {managed: {id: 'p'}, provider: {slug: 'openai'}, destination: null, options: {}}
const DAY_MS = 24 * 3_600_000

describe.each(KINDS)('fact 22: files that were judged, on %s', kind => {
  let open: TestStore
  let now_ms = 0

  beforeEach(async () => {
    now_ms = Date.UTC(2026, 0, 1)
    open = await testStore(kind)
  })
  afterEach(() => open.close())

  const memory = async () => new KeptJudgements(await open.again(), () => now_ms, createLog('silent', 'test'))
  const count = async () => (await open.store.db.selectFrom('judged_files').select('key').execute()).length

  async function kept(rows: number) {
    for (let tries = 0; tries < 500 && (await count()) !== rows; tries++)
      await new Promise(resolve => setTimeout(resolve, 10))
    expect(await count()).toBe(rows)
  }

  test('are known at once, to other processes, and after a restart', async () => {
    const first = await memory()
    first.note('w', PLACE, 'file-1', 'digest')
    expect(await first.isJudged('w', PLACE, 'file-1', 'digest')).toBe(true)
    await kept(1)
    expect(await (await memory()).isJudged('w', PLACE, 'file-1', 'digest')).toBe(true)
  })

  test('are others in another workspace, at another place, and under other guardrails', async () => {
    ;(await memory()).note('w', PLACE, 'file-1', 'digest')
    await kept(1)
    const second = await memory()
    expect(await second.isJudged('x', PLACE, 'file-1', 'digest')).toBe(false)
    expect(await second.isJudged('w', {...PLACE, managed: {id: 'q'}}, 'file-1', 'digest')).toBe(false)
    expect(
      await second.isJudged(
        'w',
        {...PLACE, destination: {origin: 'https://other.example', basePath: ''}},
        'file-1',
        'digest',
      ),
    ).toBe(false)
    expect(await second.isJudged('w', PLACE, 'file-1', 'other')).toBe(false)
  })

  test('are forgotten after 30 days, and their rows with them', async () => {
    ;(await memory()).note('w', PLACE, 'file-1', 'digest')
    await kept(1)
    now_ms += 31 * DAY_MS
    const later = await memory()
    expect(await later.isJudged('w', PLACE, 'file-1', 'digest')).toBe(false)
    later.note('w', PLACE, 'file-2', 'digest')
    later.note('w', PLACE, 'file-2', 'newer')
    await kept(1)
    expect(await later.isJudged('w', PLACE, 'file-2', 'newer')).toBe(true)
  })

  test('are judged again where the database does not say', async () => {
    const broken = await open.again()
    const asked = new KeptJudgements(broken, () => now_ms, createLog('silent', 'test'))
    await open.store.db.schema.dropTable('judged_files').execute()
    expect(await asked.isJudged('w', PLACE, 'file-1', 'digest')).toBe(false)
    asked.note('w', PLACE, 'file-1', 'digest')
    expect(await asked.isJudged('w', PLACE, 'file-1', 'digest')).toBe(true)
  })
})
