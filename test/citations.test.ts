import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {expect, test} from 'vitest'
import {codeFiles, commentsIn, commentsOf} from './support/comments.js'

/** What comments cite is in the repository. */
const ROOT = resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const CODE = ['src', 'cli', 'bin']
/** Comments of the code, each on one line. */
const comments = commentsIn(CODE)
/** All files, a comment of several lines on one. */
const everywhere = codeFiles([...CODE, 'test']).map(file => ({
  file,
  text: read(file).replace(/\n\s*(?:\*|\/\/) /g, ' '),
}))

const RULES = /core rules? ((?:\d+(?:, | and )?)+)/g
/** A subject ends at punctuation. */
const DECISION = /decisions: `?([A-Za-z][\w ]*)/g

test('every core rule that a comment cites has a heading in docs/rules.md', () => {
  const headings = new Set([...read('docs/rules.md').matchAll(/^### (\d+)\. /gm)].map(([, number]) => number))
  const cited = everywhere.flatMap(({file, text}) =>
    [...text.matchAll(RULES)].flatMap(([, numbers]) => numbers!.match(/\d+/g)!.map(number => ({file, number}))),
  )
  expect(cited.length).toBeGreaterThan(40)
  expect(cited.filter(({number}) => !headings.has(number))).toEqual([])
})

test('every decision that a comment cites has a page, and every page is listed', () => {
  const pages = readdirSync(join(ROOT, 'docs/decisions')).filter(name => name !== 'README.md')
  const cited = everywhere.flatMap(({file, text}) =>
    [...text.matchAll(DECISION)].map(([, subject]) => ({
      file,
      page: `${subject!.trim().toLowerCase().replace(/[ _]/g, '-')}.md`,
    })),
  )
  expect(cited.length).toBeGreaterThan(20)
  expect(cited.filter(({page}) => !pages.includes(page))).toEqual([])
  // no page is left over, and the list of pages has each of them once
  expect(pages.filter(page => !cited.some(each => each.page === page))).toEqual([])
  expect(
    [...read('docs/decisions/README.md').matchAll(/^\| .*\]\((.+\.md)\) \|$/gm)].map(([, page]) => page).toSorted(),
  ).toEqual(pages.toSorted())
})

test('no comment cites a page outside the repository as "reference: "', () => {
  expect(comments.length).toBeGreaterThan(1000)
  expect(comments.filter(({text}) => /\breference: /.test(text))).toEqual([])
})

test('no comment cites a specification that is not in the repository', () => {
  expect(comments.filter(({text}) => /\(spec: |\bthe spec\b|\bspec's\b/i.test(text))).toEqual([])
})

test('every page of docs that a comment names exists, and has the section that it names', () => {
  const cited = comments.flatMap(({file, text}) => citationsOf(text).map(each => ({file, ...each})))
  expect(cited.filter(({section}) => section !== undefined).length).toBeGreaterThan(40)
  expect(cited.filter(({page}) => !existsSync(join(ROOT, page)))).toEqual([])
  expect(cited.filter(({page, section}) => section !== undefined && !hasSection(page, section))).toEqual([])
})

test('every part of our own beside a library that docs/architecture.md names exists', () => {
  const [, section] = /^## Parts of our own[^\n]*\n([\s\S]*?)\n## /m.exec(read('docs/architecture.md'))!
  const named = [...section!.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter(path => !existsSync(join(ROOT, path)))).toEqual([])
})

test('comments are found in all their forms', () => {
  const text = [
    '/** One: a',
    ' * b.',
    ' */',
    "const a = 'https://x' // two",
    '// three',
    '  // four',
    '  /* five */',
    'const b = 1',
  ].join('\n')
  expect(commentsOf(text)).toEqual(['One: a b.', 'two', 'three four', 'five'])
  expect(citationsOf('A (docs/one.md, First part). B (docs/two.md).')).toEqual([
    {page: 'docs/one.md', section: 'First part). B (docs/two.md).'},
    {page: 'docs/two.md', section: undefined},
  ])
})

/** Pages that a comment names, each with all that follows it behind a comma: it begins with the section. */
function citationsOf(text: string): {readonly page: string; readonly section: string | undefined}[] {
  return [...text.matchAll(/(?=(docs\/[\w/-]+\.md)(?:, (.*))?)/g)].map(([, page, section]) => ({page: page!, section}))
}

/**
 * True if `text` begins with a heading of the page, which ends there; what a heading has in parentheses may be left
 * out.
 */
function hasSection(page: string, text: string): boolean {
  const headings = [...read(page).matchAll(/^#{2,} (.+)$/gm)].map(([, heading]) => heading!)
  return headings
    .flatMap(heading => [heading, heading.replace(/ \(.*\)$/, '')])
    .some(heading => text.startsWith(heading) && !/^[\w ]/.test(text.slice(heading.length)))
}
