import type {Command} from 'commander'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {PERFORMED_BY} from '../../cli/operations.ts'
import {buildProgram} from '../../cli/program.ts'
import type {Transport} from '../../cli/transport.ts'
import {seeded} from '../../src/base/seeded-random.ts'
import {type Furnished, furnished, ownerOf} from '../admin/contract/rows.ts'
import {run} from '../cli/support.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import type {Person} from '../support/people.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {FILES, FLAGS, LEFT_OUT, NAMED, NOT_FLAGS} from './updates/commands.ts'
import {differing, leavesOf} from './updates/fields.ts'

/** Each command that updates one thing, with its operation. */
const COMMANDS = Object.entries(PERFORMED_BY).flatMap(([operation, words]) =>
  words.endsWith(' update') ? [{operation, words}] : [],
)
const WALKED = COMMANDS.filter(({words}) => !LEFT_OUT.has(words))

function commandOf(words: string): Command {
  let command = buildProgram([])
  for (const word of words.split(' ')) command = command.commands.find(each => each.name() === word)!
  return command
}

const flagsOf = (words: string) =>
  commandOf(words)
    .options.map(({long}) => long!)
    .filter(flag => !NOT_FLAGS.has(flag))

test('every flag of every update is walked, or left out by name', () => {
  const known = (words: string, flag: string) => FLAGS[`${words} ${flag}`] ?? FLAGS[flag]
  expect(
    WALKED.flatMap(({words}) => flagsOf(words).flatMap(flag => (known(words, flag) ? [] : [`${words} ${flag}`]))),
  ).toEqual([])
  expect([...LEFT_OUT].filter(words => !COMMANDS.some(each => each.words === words))).toEqual([])
})

describe('an update command changes what its flags name and nothing else', () => {
  let admin: Admin
  let owner: Person
  let place: Furnished
  let cases = 0
  beforeAll(async () => {
    admin = await startAdmin()
    owner = await ownerOf(admin)
    place = await furnished(admin, owner)
  }, 60_000)
  afterAll(async () => {
    generated('updates by commands', cases)
    await admin.close()
  })

  const transport: Transport = {
    kind: 'here',
    send: async ({method, path, body}) => admin.send(owner.token, method, path, body),
    close: async () => undefined,
  }

  test.each(WALKED.map(({words, operation}) => [words, operation] as const))(
    '%s',
    async (words, operation) => {
      const {name, view, begin} = NAMED[words]!(place)
      const look = async () => {
        const {body} = await admin.send(owner.token, 'GET', `/v1${view}`)
        return leavesOf(body.data ?? body)
      }
      const restore = async () => {
        if (begin)
          expect(await admin.send(owner.token, 'PUT', `/v1${view.split('?', 1)[0]}`, begin)).toMatchObject({
            status: 200,
          })
        return look()
      }
      const random = seeded(`${words} ${seed()}`)
      const steps = Array.from({length: forRing({own: 1, ci: 2, full: 12})}, () =>
        flagsOf(words).flatMap(flag =>
          (FLAGS[`${words} ${flag}`] ?? FLAGS[flag])!.flatMap(value => [{flag, ...value}]),
        ),
      ).flat()
      const ordered = steps.map(step => [random(), step] as const).toSorted(([one], [other]) => one - other)
      let before = await restore()
      for (const [, {flag, said, changes, ends}] of ordered.slice(0, forRing({own: 12, ci: 60, full: 1000}))) {
        const dry = random() < 0.2
        const argv = [...words.split(' '), name, flag, ...said, ...(dry ? ['--dry-run'] : [])]
        const {code, stderr, stdout} = await run(argv, {transport, files: FILES})
        const after = await look()
        cases++
        const strays = differing(before, after).filter(way => dry || !changes.some(each => matches(each, way)))
        expect({argv, code, stderr: code === 0 ? '' : stderr, strays}).toEqual({argv, code: 0, stderr: '', strays: []})
        expect(stdout).toMatch(dry ? /^(Would change|Nothing changed)/ : /^(Changed|Nothing changed)/)
        if (!dry)
          expect([operation, argv, stdout.startsWith('Nothing')]).toEqual([
            operation,
            argv,
            !differing(before, after).some(way => !QUIET.test(way)) && !ends?.includes('always'),
          ])
        before = ends ? await restore() : after
      }
    },
    300_000,
  )
})

const QUIET = /(^|\.)(last_updated_at|current_usage)$/

/** `a.*.b` matches one name between. */
function matches(pattern: string, way: string): boolean {
  const [names, said] = [pattern.split('.'), way.split('.')]
  return /(^|\.)last_updated_at$/.test(way) || names.every((name, at) => name === '*' || name === said[at])
}
