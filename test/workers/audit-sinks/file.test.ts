import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test} from 'vitest'
import {readCef, readSyslog} from '../../support/syslog-server.ts'
import {recorded, senderFor, storeFor} from './support.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-audit-'))
  onTestFinished(() => {
    chmodSync(path, 0o700)
    rmSync(path, {recursive: true, force: true})
  })
  return path
}

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n')
const idsOf = (path: string) =>
  linesOf(path)
    .filter(Boolean)
    .map(line => JSON.parse(line).id)

test('TL30 a file gets a line for each row, for its owner alone, and is made again after it was rotated', async () => {
  const {store} = await storeFor('sqlite')
  const path = join(folder(), 'audit.log')
  const {turn} = senderFor(store, `file:${path}`)
  await recorded(store, 'one')
  await recorded(store, 'two')
  await turn()
  expect(idsOf(path)).toEqual(['one', 'two'])
  expect(linesOf(path).at(-1)).toBe('')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  renameSync(path, `${path}.1`)
  await recorded(store, 'three')
  await turn()
  expect(idsOf(`${path}.1`)).toEqual(['one', 'two'])
  expect(idsOf(path)).toEqual(['three'])
  const [two, three] = [JSON.parse(linesOf(`${path}.1`)[1]!), JSON.parse(linesOf(path)[0]!)]
  expect(three.previous_chain).toBe(two.chain)
})

test('TL30 a file that cannot be written is written when it can, and no row is missing', async () => {
  const {store} = await storeFor('sqlite')
  const parent = join(folder(), 'logs')
  const path = join(parent, 'audit.log')
  const {turn, counts, lines} = senderFor(store, `file:${path}`)
  await recorded(store, 'one')
  await turn()
  expect(lines[0]!.reason).toBe('the file cannot be written (ENOENT)')
  expect(existsSync(path)).toBe(false)
  mkdirSync(path, {recursive: true})
  await recorded(store, 'two')
  await turn()
  expect(counts).toMatchObject({rows: 0, failures: 2})
  rmSync(path, {recursive: true})
  await turn()
  expect(idsOf(path)).toEqual(['one', 'two'])
})

test('a line that was cut off is left, and the next one begins on a line of its own', async () => {
  const {store} = await storeFor('sqlite')
  const path = join(folder(), 'audit.log')
  writeFileSync(path, '{"id":"zero"}\n{"id":"o')
  await recorded(store, 'one')
  await senderFor(store, `file:${path}`).turn()
  const lines = linesOf(path)
  expect(lines.slice(0, 2)).toEqual(['{"id":"zero"}', '{"id":"o'])
  expect(JSON.parse(lines[2]!).id).toBe('one')
})

test('what is no file is not written: a pipe without a reader holds nothing back', async () => {
  const {store} = await storeFor('sqlite')
  await recorded(store, 'one')
  const {turn, lines} = senderFor(store, 'file:/dev/null')
  await turn()
  expect(lines[0]!.reason).toBe('it is no file')
})

test('lines of a file are of the format that is set', async () => {
  const {store} = await storeFor('sqlite')
  const place = folder()
  await recorded(store, 'one')
  for (const format of ['cef', 'rfc5424']) await senderFor(store, `file://${place}/${format}?format=${format}`).turn()
  expect(readCef(linesOf(join(place, 'cef'))[0]!).fields.externalId).toBe('one')
  expect(readSyslog(linesOf(join(place, 'rfc5424'))[0]!).parameters.id).toBe('one')
})
