import {keyFault} from '../../src/base/json-keys.ts'
import {pii} from '../../src/guardrails/checks/pii.ts'
import {type JsonValue, withAll} from '../../src/guardrails/json.ts'
import {DEEPEST} from '../../src/guardrails/strings.ts'
import {slotsOf} from '../../src/guardrails/texts.ts'
import {type View, viewOf} from '../../src/guardrails/view.ts'
import {world} from '../guardrails/support.ts'

/** How much longer a chat may take when each of its strings is looked at than when its texts alone are. */
const MAX_RATIO = 1.3
const CALLS = 1000
const ROUNDS = 14

const PROSE =
  'Dear team, please summarise the report of last quarter: sales grew by 12 % in Europe, write to us at any time. '
let said = 0
/** A text like no other. */
const prose = (length: number) => `${++said}. ${PROSE.repeat(Math.ceil(length / PROSE.length))}`.slice(0, length)
const user = (length: number, more = '') => ({role: 'user', content: prose(length) + more})
const assistant = (length: number) => ({role: 'assistant', content: prose(length)})
const ADDRESS = 'ada.lovelace@mail.example'

const parameters = {
  type: 'object',
  properties: {
    order: {type: 'string', description: 'The number of the order'},
    to: {type: 'string', description: 'Whom to write to'},
  },
  required: ['order'],
}
const call = {
  id: 'call_1',
  type: 'function',
  function: {name: 'look_up', arguments: JSON.stringify({order: 'A-17', to: ADDRESS})},
}

/** Chats of 4 KB: of one message, of many, and with a tool. */
const CHATS: Readonly<Record<string, object>> = {
  'one message': {model: 'm', messages: [user(4000, ADDRESS)]},
  'ten messages': {
    model: 'm',
    user: 'user-1',
    messages: [
      {role: 'system', content: prose(400)},
      ...[1, 2, 3, 4].flatMap(() => [user(400, ADDRESS), assistant(380)]),
      user(400),
    ],
  },
  'messages and a tool': {
    model: 'm',
    tools: [{type: 'function', function: {name: 'look_up', description: prose(160), parameters}}],
    messages: [
      {role: 'system', content: prose(600)},
      user(500, ADDRESS),
      {role: 'assistant', content: null, tool_calls: [call]},
      {role: 'tool', tool_call_id: 'call_1', content: prose(900)},
      assistant(500),
      user(700),
    ],
  },
}

interface Compared {
  readonly name: string
  readonly texts_us: number
  readonly strings_us: number
  readonly ratio: number
  readonly most_ratio: number
}

/**
 * Microseconds of processor time to redact a chat: its texts alone, as a redaction reached before, and every string.
 * One by turns with the other.
 */
export async function everyString(): Promise<readonly Compared[]> {
  const found: Compared[] = []
  for (const [name, body] of Object.entries(CHATS)) {
    const text = JSON.stringify(body)
    const [texts_us, strings_us] = await best([() => textsAlone(text), () => strings(text)])
    found.push({
      name,
      texts_us: texts_us!,
      strings_us: strings_us!,
      ratio: strings_us! / texts_us!,
      most_ratio: MAX_RATIO,
    })
  }
  return found
}

async function best(works: readonly (() => unknown)[]): Promise<number[]> {
  const least = works.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, work] of works.entries()) {
      const before = process.threadCpuUsage()
      for (let each = 0; each < CALLS; each++) await work()
      const {user, system} = process.threadCpuUsage(before)
      if (round > 1) least[at] = Math.min(least[at]!, (user + system) / CALLS)
    }
  }
  return least
}

const prepared = pii.ready({redact: true})
const {context} = world({})

/** The same check on the texts of the conversation, which redactions reached before. */
async function textsAlone(text: string): Promise<JsonValue> {
  const body = JSON.parse(text) as JsonValue
  const slots = slotsOf('chatComplete', 'input', body)
  const said = slots.map(slot => ({text: slot.text, called: '', is_echo: false}))
  const view: View = {
    ...viewOf('chatComplete', 'input', null),
    strings: said,
    rewrite(by) {
      const edits = slots.map(slot => ({path: slot.path, put: by(slot.text, '', false), text: slot.text}))
      const changed = edits.filter(({put, text}) => put !== text)
      return changed.length ? viewOf('chatComplete', 'input', withAll(body, changed)) : view
    },
  }
  return redacted(view)
}

async function strings(text: string): Promise<JsonValue> {
  keyFault(text, DEEPEST)
  return redacted(viewOf('chatComplete', 'input', JSON.parse(text) as JsonValue))
}

async function redacted(view: View): Promise<JsonValue> {
  if (typeof prepared === 'string') throw new Error(prepared)
  const {transformed} = await prepared.run(view, context)
  return (await transformed!.apply(view)).body
}
