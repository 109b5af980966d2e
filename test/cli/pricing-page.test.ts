import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {readPriceFile} from '../../src/pricing/file.ts'
import {NOW_MS, run} from './support.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/pricing.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(match => match[1]!)
/** Each command of the page, in order, with what the page says it prints. */
const commands = blocks('console')
  .join('')
  .split(/^\$ /m)
  .slice(1)
  .map(each => [each.slice(0, each.indexOf('\n')), each.slice(each.indexOf('\n') + 1)] as const)
const priced = (input: number, output: number) => ({
  pricing_config: {pay_as_you_go: {request_token: {price: input}, response_token: {price: output}}},
})

let folder: string
const around = () => ({folder, now_ms: NOW_MS})
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-pricing-page-'))
  mkdirSync(join(folder, 'prices'))
  writeFileSync(
    join(folder, 'prices/openai.json'),
    JSON.stringify({'gpt-4o': priced(0.0002, 0.0008), 'our-tune': priced(0.0003, 0.0012)}),
  )
  await run(['init', '--data-dir', join(folder, 'data')])
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

test('docs/pricing.md shows every command for prices and bundles that changes something', () => {
  for (const words of [
    'pricing diff',
    'pricing sync',
    'pricing set',
    'pricing rollback',
    'bundle keygen',
    'bundle create',
    'bundle verify',
    'bundle apply',
    'bundle rollback',
  ]) {
    expect(commands.some(([command]) => command.startsWith(`gateway ${words}`))).toBe(true)
  }
})

/** Keys are random, and the data directory has a clock of its own. */
const steady = (text: string) =>
  text.replace(/\b[0-9a-f]{16}\b/g, 'KEY').replace(/\b2026-\d\d-\d\d \d\d:\d\d\b/g, 'TODAY')

test('every command of docs/pricing.md prints what the page shows', async () => {
  for (const [command, shown] of commands) {
    const {code, stdout, stderr} = await run(
      [...command.split(' ').slice(1), '--data-dir', join(folder, 'data')],
      around(),
    )
    expect({command, code, stderr, stdout: steady(stdout)}).toEqual({
      command,
      code: 0,
      stderr: '',
      stdout: steady(shown),
    })
  }
}, 30_000)

test('the price file of docs/pricing.md is one', () => {
  const {models} = readPriceFile(JSON.parse(blocks('json')[0]!), 'openai', 'local')
  expect([...models.keys()]).toEqual(['my-model'])
  expect(models.get('my-model')!.periods[0]!.rates).toEqual({
    input: 2_500_000,
    output: 10_000_000,
    cache_read: 1_250_000,
  })
})
