import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {KINDS} from '../../cli/resources/kinds.ts'
import {kindsTable} from '../../cli/resources/kinds-table.ts'
import {run} from './support.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/gitops.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!)

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-gitops-page-'))
  await run(['init', '--data-dir', join(folder, 'data')])
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

const env = {OPENAI_API_KEY: 'sk-one-0123456789012345', ANTHROPIC_API_KEY: 'sk-two-0123456789012345'}
const typed = (line: string) =>
  run([...line.split(' ').slice(1), '--data-dir', join(folder, 'data')], {env, folder, now_ms: Date.now()})

test('the commands run as they stand, the file is taken, and import says what the page shows', async () => {
  const [first, second, third] = blocks('sh').map(block => block.trim().split('\n'))
  const [file, litellm] = blocks('yaml')
  expect(await typed(first![0]!)).toMatchObject({code: 0, stderr: ''})
  mkdirSync(join(folder, 'resources/keys'))
  writeFileSync(join(folder, 'resources/chat.yaml'), file!)
  writeFileSync(join(folder, 'resources/keys/anthropic.key'), 'sk-three-0123456789012345\n')
  expect(await typed(first![1]!)).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^\+ config default\/pc-chat\n/),
  })
  expect(await typed(second![0]!)).toMatchObject({code: 0, stderr: ''})
  expect(await typed(second![1]!)).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining('nothing differs'),
  })
  // Exported, it is the text of the page.
  rmSync(join(folder, 'resources/chat.yaml'))
  expect(await typed(first![0]!)).toMatchObject({code: 0})
  const exported = readFileSync(join(folder, 'resources/configs/default/pc-chat.yaml'), 'utf8')
  expect(exported.split('\n').slice(0, 4)).toEqual(file!.split('\n').slice(0, 4))
  writeFileSync(join(folder, 'litellm.yaml'), litellm!)
  const imported = await typed(third![0]!)
  expect(imported).toMatchObject({code: 0, stderr: ''})
  expect(imported.stdout).toContain(blocks('text')[0])
  expect(await typed('gateway apply -f imported')).toMatchObject({code: 0, stderr: ''})
})

test('the page has the table of kinds as they are', () => {
  expect(page).toContain(`\n${kindsTable(KINDS)}\n`)
})
