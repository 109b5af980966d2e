import {mkdirSync, readdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, describe, expect, test} from 'vitest'
import {newId} from '../../src/base/ids.ts'
import {exportById, insertExport} from '../../src/store/log-exports.ts'
import {insertOrganisation} from '../../src/store/organisations.ts'
import type {LogExportsTable} from '../../src/store/tables/analytics.ts'
import {insertWorkspace} from '../../src/store/workspaces.ts'
import {exportsJob} from '../../src/workers/retain-exports.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const AT = '2026-03-04T05:00:00.000Z'
const DAY_MS = 86_400_000
const DAYS = {log_retention_days: 90, log_body_retention_days: 30}

let database: TestStore | undefined
afterEach(async () => {
  await database?.close()
  database = undefined
})

async function open(kind: 'sqlite' | 'postgres', days: Partial<typeof DAYS> = {}) {
  database = await testStore(kind)
  const {store, folder: parent} = database
  const folder = join(parent, 'exports')
  const times = {created_at: AT, last_updated_at: AT}
  await insertOrganisation(store.db, {id: 'o', slug: 'o', name: 'O', ...times})
  const empty = {description: null, icon: null, defaults: null, usage_limits: null, rate_limits: null}
  await insertWorkspace(store.db, {
    id: 'w',
    slug: 'w',
    organisation_id: 'o',
    name: 'W',
    is_default: 0,
    status: 'active',
    ...times,
    ...empty,
  })
  const job = exportsJob({store, folder, ...DAYS, ...days})
  return {
    folder,
    /** An export that was done at `AT`, with its file. */
    async exported(row: Partial<LogExportsTable> = {}) {
      const id = newId()
      mkdirSync(folder, {recursive: true})
      writeFileSync(join(folder, `${id}.jsonl`), '{}\n')
      await insertExport(store.db, {
        ...{
          id,
          organisation_id: 'o',
          workspace_id: 'w',
          filters: '{}',
          visible: '{}',
          requested_data: '["id"]',
          status: 'success',
        },
        ...{run: 'r', rows: 1, error: null, created_by: 'u', user_id: null, ...times, ...row},
      })
      return id
    },
    row: (id: string) => exportById(store.db, id),
    files: () => readdirSync(folder).toSorted(),
    run: (days: number, lost = new AbortController().signal) => job.run({now_ms: Date.parse(AT) + days * DAY_MS, lost}),
  }
}

describe.each(KINDS)('files of exports on %s', kind => {
  test('are deleted after a week, and their export can be started again', async () => {
    const {exported, files, row, run} = await open(kind)
    const id = await exported()
    await run(6.999)
    expect([files(), (await row(id))!.status]).toEqual([[`${id}.jsonl`], 'success'])
    await run(7)
    expect(files()).toEqual([])
    expect(await row(id)).toMatchObject({
      status: 'stopped',
      run: null,
      rows: null,
      error: 'The file was deleted after 7 days. Start the export again to have it written anew.',
      last_updated_at: '2026-03-11T05:00:00.000Z',
    })
  })

  test('go as soon as what they hold would go from the log', async () => {
    const {exported, files, row, run} = await open(kind, {log_retention_days: 3, log_body_retention_days: 1})
    const [plain, told] = [await exported(), await exported({requested_data: '["id","response"]'})]
    await run(1)
    expect([files(), (await row(told))!.error]).toEqual([
      [`${plain}.jsonl`],
      'The file was deleted after a day. Start the export again to have it written anew.',
    ])
    await run(3)
    expect(files()).toEqual([])
  })

  test('stay while they are written; what no finished export knows of goes', async () => {
    const {exported, files, folder, run} = await open(kind)
    const written = await exported({status: 'in_progress', rows: null})
    await exported({status: 'stopped', run: null, rows: null})
    writeFileSync(join(folder, `${newId()}.jsonl`), '')
    writeFileSync(join(folder, `${written}.part`), '')
    writeFileSync(join(folder, 'notes.txt'), '')
    await run(400)
    expect(files()).toEqual([`${written}.jsonl`, `${written}.part`, 'notes.txt'].toSorted())
  })

  test('are left to another run when this one is told to end, and need not be there', async () => {
    const {exported, files, folder, run} = await open(kind)
    await run(7)
    const id = await exported()
    await run(7, AbortSignal.abort())
    expect([files(), folder.endsWith('exports')]).toEqual([[`${id}.jsonl`], true])
  })
})
