import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {version} from '../../src/base/runtime.ts'
import {run} from './support.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/configs.md'), 'utf8')
const section = page.slice(page.indexOf('## Check a config before you use it'), page.indexOf('## Keys without effect'))
const block = (language: string, at = 0) =>
  [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))][at]![1]!
const files = {
  'plans.json': block('json'),
  'request.yaml': block('yaml'),
  'suite.yaml': block('yaml', 1),
  key: 'sk-upstream-0123456789',
}

let folder: string
let data: string
const here = (...argv: string[]) => run([...argv, '--data-dir', data], {files})

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-cli-page-'))
  data = join(folder, 'data')
  await here('init')
  await here('providers', 'create', 'main', '--kind', 'openai', '--key-file', 'key')
  await here('providers', 'create', 'spare', '--kind', 'anthropic', '--key-file', 'key')
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

/** Prices change, and the version is that of the package. */
const steady = (text: string) =>
  text.replace(/\$.* a million tokens \(.*\)/g, 'PRICE').replaceAll(`gateway/${version}`, 'gateway/VERSION')

test('explain prints what docs/configs.md shows', async () => {
  const {code, stdout} = await here('configs', 'explain', '--config', 'plans.json', '--request', 'request.yaml')
  expect(code).toBe(0)
  expect(steady(stdout)).toBe(steady(block('text')))
})

test('the suite of docs/configs.md holds', async () => {
  const {code, stdout} = await here('configs', 'test', 'suite.yaml')
  expect(stdout).toMatch(/^(ok {6}.*\n){4}$/)
  expect(code).toBe(0)
})

test('replay runs as docs/configs.md says', async () => {
  expect(await here('replay', '--since', '7d', '--config', 'plans.json')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('0 of 0 calls'),
  })
})
