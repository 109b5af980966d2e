import {mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {LocalFileStore} from '../../src/store/local-file-store.ts'

const DAY_MS = 24 * 3600 * 1000
let folder: string
let now = 1_700_000_000_000
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shelf-'))
  now = 1_700_000_000_000
})
afterEach(() => rmSync(folder, {recursive: true}))

async function* of(...pieces: (string | Error)[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece
    yield Buffer.from(piece)
  }
}
const shelf = (workspace = 'w1') => new LocalFileStore(join(folder, workspace), () => now)
const put = (content: AsyncGenerator<Buffer>, workspace?: string) =>
  shelf(workspace).put({file_name: 'rows.jsonl', purpose: 'batch', content})

async function text(source: AsyncIterable<Buffer>): Promise<string> {
  let all = ''
  for await (const piece of source) all += piece.toString()
  return all
}

test('a file is kept whole, told of, and removed', async () => {
  const file = await put(of('one\n', 'two\n'))
  expect(file).toEqual({
    id: expect.stringMatching(/^gw_file_/),
    file_name: 'rows.jsonl',
    purpose: 'batch',
    bytes: 8,
    created_at: 1_700_000_000,
  })
  expect(await shelf().find(file.id)).toEqual(file)
  expect(await text(shelf().read(file))).toBe('one\ntwo\n')
  expect(await shelf().list()).toEqual([file])
  await shelf().remove(file)
  expect([await shelf().find(file.id), await shelf().list(), readdirSync(join(folder, 'w1'))]).toEqual([null, [], []])
})

test('a file that breaks off leaves nothing', async () => {
  await expect(put(of('one\n', new Error('gone')))).rejects.toThrow('gone')
  expect(readdirSync(join(folder, 'w1'))).toEqual([])
})

test('another workspace does not see it, and no id leads out of the folder', async () => {
  const file = await put(of('one'))
  expect(await shelf('w2').find(file.id)).toBeNull()
  for (const id of ['../w1/x', 'gw_file_../../x', `${file.id}/..`, '', 'file-1'])
    expect(await shelf().find(id)).toBeNull()
})

test('files go after 30 days, and so does what a sudden end left half written', async () => {
  const file = await put(of('one'))
  writeFileSync(join(folder, 'w1', `${file.id.slice(0, -1)}x.rows`), 'torn')
  now += 29 * DAY_MS
  expect(await shelf().find(file.id)).toEqual(file)
  now += 2 * DAY_MS
  expect(await shelf().find(file.id)).toBeNull()
  expect(await shelf().list()).toEqual([])
  expect(readdirSync(join(folder, 'w1'))).toEqual([])
})
