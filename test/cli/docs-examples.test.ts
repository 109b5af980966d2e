import {readdirSync, readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {everyCommand} from './examples/program.ts'
import {type Examples, openExamples} from './examples/runner.ts'
import {readLine} from './examples/shell.ts'
import {RUN_ELSEWHERE, UNRUN_OF_PAGES} from './examples/unrun.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PAGES = ['README.md', ...readdirSync(resolve(ROOT, 'docs')).map(name => `docs/${name}`)].filter(name =>
  name.endsWith('.md'),
)
const textOf = (page: string) => readFileSync(resolve(ROOT, page), 'utf8')

/** The lines that a page has typed into a shell, each whole; of a console those with a prompt. */
function linesOf(page: string): string[] {
  return [...textOf(page).matchAll(/^ *```(sh|bash|shell|console)\n([\s\S]*?)^ *```$/gm)].flatMap(
    ([, language, block]) =>
      block!
        .replaceAll(/\\\n\s*/g, '')
        .split('\n')
        .flatMap(line => (language === 'console' ? (line.startsWith('$ ') ? [line.slice(2)] : []) : [line.trim()]))
        .filter(line => line !== ''),
  )
}

const LINES = PAGES.flatMap(page => linesOf(page).map(line => [page, line] as const))
const isUnrun = (line: string) => Object.keys(UNRUN_OF_PAGES).some(start => line.startsWith(start))

describe('the examples of the pages', () => {
  let examples: Examples
  let there: Examples
  beforeAll(async () => {
    examples = await openExamples('here')
    there = await openExamples('there')
  }, 120_000)
  afterAll(async () => {
    await examples.close()
    await there.close()
  })

  test.each(LINES.filter(([page, line]) => !(page in RUN_ELSEWHERE) && !isUnrun(line)))('%s: %s', async (_, line) => {
    const {code, stderr} = await (line.includes('--url ') ? there : examples).run(line)
    expect({line, code, stderr}).toEqual({line, code: 0, stderr})
  })

  test('each line is run, or said not to be with a reason, and no such reason is left over', () => {
    const unread = LINES.filter(([page, line]) => !(page in RUN_ELSEWHERE) && !isUnrun(line) && !readLine(line))
    expect(unread).toEqual([])
    expect(Object.keys(UNRUN_OF_PAGES).filter(start => !LINES.some(([, line]) => line.startsWith(start)))).toEqual([])
  })

  test.each(Object.entries(RUN_ELSEWHERE))('%s is run line by line by %s', (page, [file, count]) => {
    expect(linesOf(page)).toHaveLength(count)
    expect(readFileSync(resolve(import.meta.dirname, file), 'utf8')).toContain(page.replace('docs/', ''))
  })
})

const COMMANDS = everyCommand()
const GLOBAL = ['--help', ...COMMANDS[0]!.command.options.flatMap(({long}) => (long ? [long] : []))]

test.each(PAGES)('%s names commands and flags that there are', page => {
  const wrong = [...textOf(page).matchAll(/`gateway ([^`\n]+)`/g)].flatMap(([whole, said]) => {
    const words = said!.split(/\s+/)
    const {command} = COMMANDS.filter(({words: own}) => `${said} `.startsWith(`${own} `) || own === '').at(-1)!
    const flags = words.filter(word => /^\[?--[a-z]/.test(word)).map(word => word.replace(/[[\]]/g, '').split('=')[0]!)
    const known = [...GLOBAL, ...command.options.map(({long}) => long)]
    const isFree = command.name() === 'api' || /^[A-Z]/.test(words[0]!)
    const names = command.name() !== 'gateway' || words[0]!.startsWith('-')
    return isFree || (names && flags.every(flag => known.includes(flag))) ? [] : [whole]
  })
  expect(wrong).toEqual([])
})
