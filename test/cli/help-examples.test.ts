import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {PERFORMED_BY} from '../../cli/operations.ts'
import {OPERATIONS, OPERATOR_OPERATIONS} from '../../src/admin/registry.ts'
import {everyCommand, examplesOf} from './examples/program.ts'
import {commandOf, type Examples, type Mode, openExamples} from './examples/runner.ts'
import {readLine} from './examples/shell.ts'
import {UNRUN} from './examples/unrun.ts'

const COMMANDS = everyCommand()
const EXAMPLES = COMMANDS.map(({command}) => examplesOf(command).filter(line => !(line in UNRUN)))
const ALL_OPERATIONS = [...OPERATIONS, ...OPERATOR_OPERATIONS]

/** Where an example works alone, by its words. */
const ONLY: readonly (readonly [Mode, RegExp])[] = [
  ['there', /--url |gateway login /],
  ['here', /gateway (serve|init|migrate|config|completion|version|--organisation|ledger verify|certs)\b/],
  ['here', /gateway bundle (keygen|create)\b/],
]
/** What the operator alone does, which a gateway at a URL says. */
const OPERATORS = /gateway (organisations (create|list)|users (create|set-password)|sessions create|identities link)\b/
const REFUSED =
  'gateway: This is done on the data directory of the gateway, not at a URL. Leave --url out, and run it on that machine.\n'

const runsIn = (mode: Mode, line: string) => !ONLY.some(([other, pattern]) => other !== mode && pattern.test(line))

/**
 * Of those of one command, the first that works at an address: all of them do the same there as on the data directory.
 */
function firstOf(lines: readonly string[]): string[] {
  return lines.filter(line => runsIn('there', line)).slice(0, 1)
}

/** `operation command` of all that examples asked for. */
const performed = new Set<string>()

describe.each<Mode>(['here', 'there'])('the examples of --help, %s', mode => {
  const lines = [...new Set(mode === 'here' ? EXAMPLES.flat() : EXAMPLES.flatMap(firstOf))].filter(line =>
    runsIn(mode, line),
  )
  let examples: Examples
  beforeAll(async () => {
    examples = await openExamples(mode)
  }, 60_000)
  afterAll(() => examples.close())

  test.each(lines)('%s', async line => {
    const said = await examples.run(line)
    const {code, stdout, stderr} = said
    const is_refused = mode === 'there' && OPERATORS.test(line)
    expect({line, code, stdout, stderr}).toEqual({
      line,
      code: is_refused ? 2 : 0,
      stdout,
      stderr: is_refused ? expect.stringContaining(REFUSED) : stderr,
    })
    for (const operation of said.performed) performed.add(`${operation} ${commandOf(readLine(line)!.argv)}`)
  })
})

test('an example that is not run is one of some command', () => {
  const shown = COMMANDS.flatMap(({command}) => examplesOf(command))
  expect(Object.keys(UNRUN).filter(line => !shown.includes(line))).toEqual([])
})

test('the help leads to a command for each operation, whose examples ask for it', () => {
  const leaves = COMMANDS.filter(({command}) => command.commands.length === 0).map(({words}) => words)
  expect(Object.keys(PERFORMED_BY).toSorted()).toEqual(ALL_OPERATIONS.map(({id}) => id).toSorted())
  expect(Object.entries(PERFORMED_BY).filter(([, words]) => !leaves.includes(words))).toEqual([])
  const asked = (id: string) => performed.has(`${id} ${PERFORMED_BY[id]}`)
  // One operation under two paths: the command asks at one of them.
  const handles = new Map(ALL_OPERATIONS.filter(({id}) => asked(id)).map(({handle, id}) => [handle, id]))
  // a command whose examples all ask a host elsewhere is not run here
  const isRun = ({command}: (typeof COMMANDS)[number]) => examplesOf(command).some(line => !Object.hasOwn(UNRUN, line))
  const unrun = COMMANDS.filter(each => !isRun(each)).map(({words}) => words)
  const missing = ALL_OPERATIONS.filter(({id, handle}) => !asked(id) && !handles.has(handle))
  expect(missing.filter(({id}) => !unrun.includes(PERFORMED_BY[id]!)).map(({id}) => id)).toEqual([])
})
