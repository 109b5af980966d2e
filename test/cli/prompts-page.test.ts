import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {MAX_SECTION_DEPTH, MAX_TEMPLATE_CHARS} from '../../src/base/mustache/parse.ts'
import {MAX_PARTIAL_DEPTH, MAX_RENDERED_CHARS, MAX_STEPS} from '../../src/base/mustache/render.ts'
import {MAX_PARTIALS} from '../../src/prompts/call.ts'
import {run} from './support.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/prompts.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!)
const files = {
  'greeting.yaml': blocks('yaml')[0]!,
  'question.json': blocks('json')[0]!,
  'rules.txt': 'Be kind.',
  'key.txt': 'sk-0123456789',
}

let folder: string
let data: string
const slugs = new Map<string, string>()
/** A line of the page as it stands, with the slugs that were made in place of the example's. */
const typed = async (line: string) => {
  const known = line.replace(/pp-(greeting|rules)-1a2b3c/g, (_, name: string) => slugs.get(name)!)
  const words = [...known.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!)
  expect(words.shift()).toBe('gateway')
  const said = await run([...words, '--data-dir', data], {files})
  const [, slug, name] = / (pp-(greeting|rules)-[0-9a-f]{6})\n$/.exec(said.stdout) ?? []
  if (slug && words[1] === 'create') slugs.set(name!, slug)
  return said
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-cli-prompts-page-'))
  data = join(folder, 'data')
  await run(['init', '--data-dir', data])
  await run(['virtual-keys', 'create', 'my-openai', '--kind', 'openai', '--key-file', 'key.txt', '--data-dir', data], {
    files,
  })
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

test('the commands of the page run as they stand, and print what it shows', async () => {
  const lines = blocks('sh').flatMap(text => text.trim().split('\n'))
  expect(lines).toHaveLength(12)
  for (const [index, line] of lines.entries()) {
    const {code, stdout, stderr} = await typed(line)
    expect({line, code, stderr}).toEqual({line, code: 0, stderr: ''})
    if (index === 1) expect(stdout).toBe(blocks('text')[0])
  }
})

test('the bounds are those of the code', () => {
  const said = page.replace(/\s+/g, ' ')
  const n = (number: number) => number.toLocaleString('en')
  expect(said).toContain(`at most ${n(MAX_TEMPLATE_CHARS)} characters with ${MAX_SECTION_DEPTH} sections`)
  expect(said).toContain(
    `at most ${n(MAX_RENDERED_CHARS)} characters and ${n(MAX_STEPS)} steps, with ${MAX_PARTIALS} partials, nested at most ${MAX_PARTIAL_DEPTH} deep`,
  )
})
