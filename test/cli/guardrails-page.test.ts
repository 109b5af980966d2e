import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {openStore} from '../../src/store/dialect/index.ts'
import {organisations} from '../../src/store/organisations.ts'
import {keepBodies} from '../support/bodies.ts'
import {insertLog} from '../support/logs.ts'
import {run} from './support.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/guardrails.md'), 'utf8')
const section = page.slice(page.indexOf('## Save a guardrail'), page.indexOf('## Checks'))
const block = (language: string, at = 0) =>
  [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))][at]![1]!
const files = {'guardrail.yaml': block('yaml'), 'request.json': block('json')}
const commands = [0, 1, 2].flatMap(at => block('sh', at).trim().split('\n'))

let folder: string
let data: string
let slug: string
/** A line of the page as it stands, the slug in it put in place of the example's. */
const typed = (line: string) => {
  const words = [...line.replace('pg-house-1a2b3c', slug).matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word!,
  )
  expect(words.shift()).toBe('gateway')
  return run([...words, '--data-dir', data], {files})
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-cli-guardrails-page-'))
  data = join(folder, 'data')
  await run(['init', '--data-dir', data])
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

test('the commands that save one run as they stand', async () => {
  for (const line of commands.slice(0, -2)) {
    const {code, stdout, stderr} = await typed(line)
    expect({line, code, stderr}).toEqual({line, code: 0, stderr: ''})
    slug ??= /pg-[\w-]+/.exec(stdout)![0]
  }
  expect((await typed(commands[1]!)).stdout).toContain('House words')
})

/** How long a check took is another each time. */
const steady = (text: string) => text.replace(/\([\d.]+ ms/g, '(N ms')

test('test prints what the page shows', async () => {
  const {code, stdout} = await typed(commands.at(-2)!)
  expect(steady(stdout)).toBe(steady(block('text')))
  expect(code).toBe(1)
})

test('eval prints what the page shows', async () => {
  const store = await openStore({kind: 'sqlite', folder: data, role: 'operator'})
  const [organisation] = await organisations(store.db)
  const workspace = await store.db.selectFrom('workspaces').select('id').executeTakeFirstOrThrow()
  for (const [index, content] of ['Hello', 'For internal use only, ada@mail.example.', 'Bye'].entries()) {
    const created_at = `2026-03-04T05:00:0${index}.000Z`
    const id = `0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c000${index}`
    await insertLog(store.db, {id, created_at, organisation_id: organisation!.id, workspace_id: workspace.id})
    const request_body = Buffer.from(JSON.stringify({messages: [{role: 'user', content}]}))
    await keepBodies({store, folder: data}, {log_id: id, created_at, request_body}, Date.parse(created_at) + 10)
  }
  await store.close()
  const {code, stdout, stderr} = await typed(commands.at(-1)!)
  expect(stdout + stderr).toBe(block('text', 1))
  expect(code).toBe(0)
})

test('coverage says of each operation what the guardrail judges', async () => {
  const line = 'gateway guardrails coverage pg-house-1a2b3c'
  expect(page).toContain(line)
  const {code, stdout, stderr} = await typed(line)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('google.generateContent')
})
