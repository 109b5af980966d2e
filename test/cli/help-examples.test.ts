import {appendFileSync} from 'node:fs'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {everyCommand, examplesOf} from './examples/program.ts'
import {type Examples, type Mode, openExamples} from './examples/runner.ts'
import {UNRUN} from './examples/unrun.ts'

const EXAMPLES = [...new Set(everyCommand().flatMap(({command}) => examplesOf(command)))].filter(line => !(line in UNRUN))

/** Where an example works alone, by its first words. */
const ONLY: readonly (readonly [Mode, RegExp])[] = [
  ['there', /--url /],
  ['here', /gateway (serve|init|migrate|config|completion|version|--organisation)\b/],
]

describe.each<Mode>(['here', 'there'])('the examples of --help, %s', mode => {
  const lines = EXAMPLES.filter(line => !ONLY.some(([other, pattern]) => other !== mode && pattern.test(line)))
  let examples: Examples
  beforeAll(async () => {
    examples = await openExamples(mode)
  }, 60_000)
  afterAll(() => examples.close())

  test.each(lines)('%s', async line => {
    const {code, stdout, stderr, performed} = await examples.run(line)
    if (process.env.DUMP) appendFileSync('/tmp/performed.txt', `${mode}\t${line}\t${performed.join(',')}\n`)
    expect({line, code, stdout, stderr}).toEqual({line, code: 0, stdout, stderr})
  })
})
