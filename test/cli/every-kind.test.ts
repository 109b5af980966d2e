import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {KINDS} from '../../cli/resources/kinds.ts'
import {ADMIN_KEY, startGateway, type TestGateway} from '../support/gateway.ts'
import {fillEveryKind, seedPeople} from './every-kind.ts'
import {run} from './support.ts'

const SCIM = {SCIM_ENABLED: 'ON'}

let folder: string
let one: TestGateway
let two: TestGateway
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-every-kind-'))
  one = await startGateway(SCIM, {demo: false})
  two = await startGateway(SCIM, {demo: false})
  await fillEveryKind(one, await seedPeople(one))
  await seedPeople(two)
}, 60_000)
afterAll(async () => {
  await one.close()
  await two.close()
  rmSync(folder, {recursive: true, force: true})
})

const at = (gateway: TestGateway, env: Record<string, string>, ...argv: string[]) =>
  run(argv, {env: {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: ADMIN_KEY, ...env}, folder, now_ms: Date.now()})

function filesOf(path: string): Record<string, string> {
  const entries = readdirSync(join(folder, path), {recursive: true, withFileTypes: true}).filter(entry => entry.isFile())
  const paths = entries.map(entry => join(entry.parentPath, entry.name)).sort()
  return Object.fromEntries(paths.map(each => [each.slice(join(folder, path, '/').length), readFileSync(each, 'utf8')]))
}

/** A value for each secret that the files name. */
function secretsOf(files: Record<string, string>): Record<string, string> {
  const names = Object.values(files).flatMap(text => [...text.matchAll(/\$\{env:([A-Z0-9_]+)\}/g)].map(([, name]) => name!))
  return Object.fromEntries(names.map(name => [name, `canary-${name.toLowerCase()}-0123456789`]))
}

const audited = async ({admin}: TestGateway) => (await admin<{total: number}>('GET', '/audit-logs?page_size=1&start_time=2020-01-01T00:00:00Z&end_time=2090-01-01T00:00:00Z')).total

test('every kind is exported, applied to an empty gateway and exported again the same; applying again changes nothing', async () => {
  expect(await at(one, {}, 'export', '--dir', 'a')).toMatchObject({code: 0, stderr: ''})
  const files = filesOf('a')
  const folders = [...new Set(Object.keys(files).map(path => path.split('/')[0]))]
  expect(folders.toSorted()).toEqual(KINDS.map(kind => kind.folder).toSorted())
  expect(JSON.stringify(files)).not.toMatch(/canary-|•|[0-9a-f]{8}-[0-9a-f]{4}-[47]/)
  const secrets = secretsOf(files)
  expect(await at(two, secrets, 'apply', '-f', 'a', '--keys-file', 'keys.txt')).toMatchObject({code: 0, stderr: expect.stringMatching(/^The secrets of /)})
  expect(await at(two, {}, 'export', '--dir', 'b')).toMatchObject({code: 0, stderr: ''})
  expect(filesOf('b')).toEqual(files)
  const before = await audited(two)
  for (const env of [{}, secrets]) {
    expect(await at(two, env, 'apply', '-f', 'a', '--prune', '--yes')).toEqual({
      code: 0,
      stdout: `${Object.keys(files).length} resources: nothing differs.\n`,
      stderr: '',
    })
  }
  expect(await audited(two)).toBe(before)
}, 120_000)

test('what is taken out of the files is taken away, and what it was comes again', async () => {
  const files = filesOf('a')
  const secrets = secretsOf(files)
  const left = Object.entries(files).filter(([path]) => /^(workspaces\/|api-keys\/first-admin)/.test(path))
  for (const path of Object.keys(files)) if (!left.some(([kept]) => kept === path)) rmSync(join(folder, 'a', path))
  const kinds = KINDS.map(kind => kind.name)
  expect(await at(two, secrets, 'apply', '-f', 'a', '--prune', '--yes', '--kind', ...kinds)).toMatchObject({code: 0, stderr: ''})
  await at(two, {}, 'export', '--dir', 'c')
  expect(Object.keys(filesOf('c'))).toEqual(left.map(([path]) => path))
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, 'a', path), text)
  expect(await at(two, secrets, 'apply', '-f', 'a', '--keys-file', 'keys2.txt')).toMatchObject({code: 0, stderr: expect.stringMatching(/^The secrets of /)})
  await at(two, {}, 'export', '--dir', 'c')
  expect(filesOf('c')).toEqual(files)
}, 120_000)
