import {expect, test} from 'vitest'
import {isInformative, membersThatMayCost} from '../../src/providers/informative-members.ts'
import {rawUsageOf, usageOf} from '../../src/providers/vendor-operations/raw-usage.ts'
import {generated} from '../support/ring.ts'
import {UNKNOWN_USAGE} from './vendor-sweep/unknown-usage.ts'
import {isPlaceRead, notedMembers, unreadMembers} from './vendor-sweep/usage-read.ts'
import {CLIENTS, declaredTypes, membersOf, type UsageMember, usagePlaces} from './vendor-sweep/usage-types.ts'

const isText = (members: readonly UsageMember[], path: string) =>
  members.some(member => member.texts !== null && member.path.join('.') === path)

/** The kind of provider whose client it is. */
const KINDS = {openai: 'openai', anthropic: 'anthropic', google: 'google'} as const

test.each(CLIENTS)(
  'doors 11: every member of usage in the types of %s is read, informs, or flags; or it stands on the list with a word',
  client => {
    const types = declaredTypes(client)
    const unaccounted = new Set<string>()
    let members = 0
    for (const {member, type} of usagePlaces(types)) {
      const all = membersOf(types, type)
      expect(all.length, `${member} is a ${type}`).toBeGreaterThan(0)
      members += all.length
      for (const path of unreadMembers(member, all)) {
        const noted = notedMembers(member, all, path)
        const named = noted.filter(each => each === path || each.endsWith(`.${path}`))
        const flags = named.some(each => membersThatMayCost(KINDS[client], [each]).length > 0)
        const informs =
          isPlaceRead(member, all) &&
          [path, `${member}.${path}`].some(each => isInformative(KINDS[client], each)) &&
          !isText(all, path)
        if (!informs && !flags) unaccounted.add(`${client} ${member}.${path}`)
      }
    }
    generated(`vendor usage ${client}`, members)
    const listed = Object.keys(UNKNOWN_USAGE).filter(name => name.startsWith(`${client} `))
    expect([...unaccounted].toSorted(), 'a member that is new goes on the list, one that is read off it').toEqual(
      listed.toSorted(),
    )
  },
)

test('the list says of each whether it informs or is to be read', () => {
  expect(Object.entries(UNKNOWN_USAGE).filter(([, word]) => !/^(?:informative|to be read): ./.test(word))).toEqual([])
})

test.each([
  [
    'OpenAI',
    {prompt_tokens: 9, completion_tokens: 4, total_tokens: 13},
    {completion_tokens_details: {rejected_prediction_tokens: 2}},
  ],
  [
    'Anthropic',
    {input_tokens: 9, output_tokens: 4, cache_read_input_tokens: 1},
    {server_tool_use: {web_fetch_requests: 3}},
  ],
])('members that inform change nothing of what %s used', (_, usage, informative) => {
  const read = (raw: object) => ({...usageOf(rawUsageOf({usage: raw})!), unknown: undefined})
  expect(read({...usage, ...informative})).toEqual(read(usage))
})
