import {readdirSync, readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import {expect, test} from 'vitest'
import {commentsIn} from './support/comments.js'

const ROOT = resolve(import.meta.dirname, '..')
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(resolve(ROOT, 'docs'), {recursive: true, encoding: 'utf8'}).map(name => `docs/${name}`),
].filter(name => name.endsWith('.md'))

/** Sentences above this fail. Most should stay below 25 words. */
const MAX_WORDS = 38

/** Pages whose tables are reference text written from the code. Only their prose is checked. */
const GENERATED_TABLES: ReadonlySet<string> = new Set([
  'docs/access.md',
  'docs/gitops.md',
  'docs/guardrails.md',
  'docs/pricing-conflicts.md',
  'docs/providers.md',
  'docs/settings.md',
])

/** Phrases that made readers stop, each with the plain way to say it. */
const RETIRED: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\berrands?\b/i, 'provider operation'],
  [/\b(nobody|somebody|whoever)\b/i, 'name the caller, the user or the process'],
  [/\bwhom\b/i, 'name the person, or start a second sentence'],
  [/\bgo(es|ing)? on\b/i, 'continue'],
  [/\bwhat [\w' ]{1,40} came to\b/i, 'the result of'],
  [/\b(is|are|was|were|be|been) told\b|\btold of\b|\btells? of\b/i, 'receives, is notified, reports'],
  [/\b(is|are|was|were|be|been) asked\b/i, 'calls, requests, tries, checks'],
  [/\blet through\b/i, 'admit, allow'],
  [/\banew\b/i, 'again'],
  [/\bfor good\b/i, 'permanently'],
  [/\bstands?\b(?! for| by)/i, 'is, appears'],
  [/\blies? in\b/i, 'is in, is stored in'],
  [/\bwords of (its|their|his) own\b|\bin (its|their|the provider's|the client's) (own )?words\b/i, 'format'],
  [/\bhas to be (mended|asked|said)\b|\bis no (form|place|place for)\b/i, 'say what it is'],
  [/\bthat which\b/i, 'the noun'],
  [/\b(under way|on its way|on their way)\b/i, 'in progress'],
  [/\bsays so\b/i, 'reports it'],
  [/\b(takes?|taken|taking) away\b/i, 'delete, remove'],
  [/\b(gives?|given|giving) back\b/i, 'return, release'],
  [/\b(is|are|was|were) had\b|\bcannot be had\b/i, 'is available'],
  [/\b(hold|holds|held) \w+( \w+)? against\b/i, 'compare with, check against'],
]

const ANY_RETIRED = new RegExp(RETIRED.map(([{source}]) => source).join('|'), 'i')

/** A statement that begins with "What": rule 1 of the style guide asks for the subject's name. */
const NAMELESS_SUBJECT = /^What\b.*\.[*)]*$/

/** A comment that begins with a noun clause names no subject: "What was stored." A question is no such clause. */
const NAMELESS_COMMENT = /^(What|Who|Whose|Whom|Whoever|Where|Whether)\b(?!.*\?$)/

/** Retired phrases in comments of the code. Only ever lower it. */
const MAX_RETIRED_IN_COMMENTS = 2
/** Comments of the code that begin with a noun clause. Only ever lower it. */
const MAX_NAMELESS_COMMENTS = 0

interface Sentence {
  readonly page: string
  readonly line: number
  readonly text: string
}

const SENTENCES = PAGES.flatMap(sentencesOf)
const COMMENTS = commentsIn(['src', 'cli', 'bin'])

test(`no sentence of the README and docs has more than ${MAX_WORDS} words`, () => {
  expect(SENTENCES.filter(({text}) => countWords(text) > MAX_WORDS).map(shown)).toEqual([])
})

test('no sentence of the README and docs uses a retired phrase', () => {
  const found = SENTENCES.flatMap(each =>
    retiredIn(each.text).map(({phrase, instead}) => `${phrase} (${instead}): ${shown(each)}`),
  )
  expect(found).toEqual([])
})

test('no statement of the README and docs has "What" for its subject', () => {
  expect(SENTENCES.filter(({text}) => NAMELESS_SUBJECT.test(text)).map(shown)).toEqual([])
})

test('comments of the code use fewer and fewer retired phrases', () => {
  const found = COMMENTS.flatMap(({file, text}) => retiredIn(text).map(({phrase}) => `${file}: ${phrase}: ${text}`))
  expect(found.length, `some of them: ${found.slice(-3).join('\n')}`).toBeLessThanOrEqual(MAX_RETIRED_IN_COMMENTS)
})

test('fewer and fewer comments of the code begin with a noun clause', () => {
  const found = COMMENTS.filter(({text}) => NAMELESS_COMMENT.test(text)).map(({file, text}) => `${file}: ${text}`)
  expect(found.length, `some of them: ${found.slice(-3).join('\n')}`).toBeLessThanOrEqual(MAX_NAMELESS_COMMENTS)
})

/** Each use of a retired phrase. Code and quoted words are not prose. */
function retiredIn(text: string): {readonly phrase: string; readonly instead: string}[] {
  const prose = text.replace(/`[^`]*`|"[^"]*"|“[^”]*”/g, '``')
  if (!ANY_RETIRED.test(prose)) return []
  return RETIRED.flatMap(([{source}, instead]) =>
    [...prose.matchAll(new RegExp(source, 'gi'))].map(([phrase]) => ({phrase, instead})),
  )
}

/** The sentences of a page with the line each begins in. Code blocks, headings and measured figures are left out. */
function sentencesOf(page: string): Sentence[] {
  const found: Sentence[] = []
  let block: {line: number; text: string}[] = []
  let fence = false
  let figures = false
  const end = () => {
    found.push(...split(page, block))
    block = []
  }
  for (const [index, raw] of readFileSync(resolve(ROOT, page), 'utf8').split('\n').entries()) {
    const line = index + 1
    const isFence = /^\s*```/.test(raw)
    if (isFence) fence = !fence
    if (/^<!-- (end of )?figures -->/.test(raw)) figures = !raw.includes('end of')
    const isProse = !(isFence || fence || figures || raw.trim() === '' || /^(#|<!--| {4,}[^ ])/.test(raw))
    if (!isProse || /^\s*([-*]|\d+\.) |^\|/.test(raw)) end()
    if (!isProse) continue
    if (!raw.startsWith('|')) block.push({line, text: raw.replace(/^\s*([-*]|\d+\.) /, '').trim()})
    else if (!GENERATED_TABLES.has(page))
      for (const cell of raw.split(/(?<!\\)\|/)) found.push(...split(page, [{line, text: cell.trim()}]))
  }
  end()
  return found
}

/** A sentence ends at a full stop, question or exclamation mark before a space and a new beginning. */
function split(page: string, block: readonly {readonly line: number; readonly text: string}[]): Sentence[] {
  const starts: {at: number; line: number}[] = []
  let text = ''
  for (const each of block) {
    starts.push({at: text.length, line: each.line})
    text += `${each.text} `
  }
  let at = 0
  return text.split(/(?<=[.!?][*)]{0,3}) +(?=[*[(`"A-Z0-9])/).flatMap(part => {
    const begin = text.indexOf(part, at)
    at = begin + part.length
    const line = starts.findLast(start => start.at <= begin)?.line
    return part.trim() === '' || line === undefined ? [] : [{page, line, text: part.trim()}]
  })
}

/** Words of a sentence; code counts as one word, and so does a list of code. */
function countWords(text: string): number {
  const plain = text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`/g, 'CODE')
    .replace(/CODE( \([^)]*\))?((, | and | or |, and |, or |<br>|\/)CODE( \([^)]*\))?)*/g, 'CODE')
  return (plain.match(/[\p{L}\p{N}][\p{L}\p{N}'’.,_-]*/gu) ?? []).length
}

function shown({page, line, text}: Sentence): string {
  return `${page}:${line} [${countWords(text)} words] ${text}`
}
