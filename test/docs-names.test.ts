import {readdirSync, readFileSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {describe, expect, test} from 'vitest'
import {ELSEWHERE, isElsewhere} from './support/page-names/elsewhere.ts'
import {type NameKind, namesOf} from './support/page-names/names.ts'
import {isThere} from './support/page-names/repository.ts'

/** Pages name files, identifiers, commands, settings, headers and flags. Each of them exists. */
const ROOT = resolve(import.meta.dirname, '..')
const PAGES = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(ROOT, 'docs')).map(name => `docs/${name}`)].filter(
  name => name.endsWith('.md'),
)
const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8')

const missingIn = (page: string, text: string) =>
  namesOf(text)
    .filter(each => !isThere(each, page) && !isElsewhere(page, each.name))
    .map(({kind, name}) => `${kind} ${name}`)

test.each(PAGES)('%s names what exists', page => {
  expect(missingIn(page, textOf(page))).toEqual([])
})

test('the pages have names of every kind, many of most', () => {
  const names = PAGES.flatMap(page => namesOf(textOf(page)))
  const counts = Object.fromEntries(
    Object.entries(Object.groupBy(names, ({kind}) => kind)).map(([kind, of]) => [kind, of.length]),
  )
  for (const kind of ['file', 'link', 'identifier', 'command', 'setting', 'header', 'flag'])
    expect([kind, counts[kind]]).toEqual([kind, expect.toSatisfy(count => count > 50)])
})

test('an exception is for a name that its page still has, and that does not exist', () => {
  const left = ELSEWHERE.flatMap(({pages, names}) =>
    pages.split(' ').flatMap(page => {
      const found = PAGES.includes(page) ? namesOf(textOf(page)) : undefined
      return names.split(' ').flatMap(name => {
        const same = found?.filter(each => each.name === name)
        return same?.some(each => !isThere(each, page)) === false ? [`${page}: ${name}`] : []
      })
    }),
  )
  expect(left).toEqual([])
  expect(ELSEWHERE.filter(({reason}) => reason.length < 10)).toEqual([])
})

describe('a name that was made up is found, of every kind', () => {
  // each with a sentence that has a name of its kind that exists
  const CASES: readonly (readonly [kind: NameKind, wrong: string, right: string])[] = [
    ['file', 'See `src/base/never-made.ts`.', 'See `src/base/json.ts`.'],
    ['file', 'See `never-made.ts`.', 'See `attempt/attempt.ts`.'],
    ['file', 'See `src/never/<slug>/index.ts`.', 'See `src/providers/<slug>/index.ts`.'],
    ['file', 'It writes `never-made.txt`.', 'It writes `first-run.txt`.'],
    ['file', '```sh\nnpm test -- test/never.test.ts\n```', '```sh\nnpm test -- test/floors.test.ts\n```'],
    ['link', 'See [this](docs/never.md).', 'See [this](docs/cli.md).'],
    ['link', 'See [this](docs/cli.md#never-written).', 'See [this](docs/cli.md#select-a-gateway).'],
    ['identifier', 'It calls `neverWritten`.', 'It calls `attachFastPath`.'],
    ['identifier', 'A config has `cache.never_read`.', 'A config has `cache.max_age`.'],
    ['identifier', 'The job `never-run` does it.', 'The job `log-retention` does it.'],
    ['command', 'Run `gateway conjure`.', 'Run `gateway serve`.'],
    ['command', 'Run `gateway keys conjure NAME`.', 'Run `gateway keys create NAME`.'],
    ['command', 'Run `gateway keys\ncreate NAME --conjured`.', 'Run `gateway keys\ncreate NAME --budget 5`.'],
    ['command', '```sh\necho x | gateway keys conjure\n```', '```sh\necho x | gateway keys list --json\n```'],
    ['command', 'Run `npm run conjure`.', 'Run `npm run quick`.'],
    ['setting', 'Set `CONJURED_SETTING`.', 'Set `LOG_BODY_RETENTION_DAYS`.'],
    ['setting', 'CONJURED_SETTING alone decides.', 'REDIS_URL alone decides.'],
    // a constant of the code is no setting
    ['setting', 'Set `CALL_STATES`.', 'Set `TLS_CERT_FILE`.'],
    ['header', 'Send `x-gateway-conjured`.', 'Send `x-gateway-config`.'],
    ['header', '```\nX-Portkey-Conjured: 1\n```', '```\nX-Portkey-Trace-Id: 1\n```'],
    ['flag', 'With `--conjured` it does.', 'With `--dry-run` it does.'],
  ]

  test.each(CASES)('%s: %s', (kind, wrong, right) => {
    expect(missingIn('README.md', wrong)).toEqual([expect.stringMatching(`^${kind} `)])
    expect(namesOf(right)).not.toEqual([])
    expect(missingIn('README.md', right)).toEqual([])
  })
})
