import type {Json} from '../../../src/providers/translation.ts'
import {eventsIn} from '../messages/assemble.ts'

type Loose = Record<string, unknown>

/**
 * What a kind of item grows by: the event that adds to it and the one that says the whole, with the member they fill.
 */
const GROWS: Readonly<Record<string, string>> = {
  'response.output_text': 'text',
  'response.refusal': 'refusal',
  'response.reasoning_summary_text': 'text',
  'response.function_call_arguments': 'arguments',
}

/**
 * The response that a stream of events comes to, by the grammar that OpenAI documents: numbers without a gap, one item
 * at a time, every delta inside its item and part, every `done` equal to its deltas. Throws where it is broken, and
 * where the last event says otherwise.
 */
export function assembleResponse(text: string): Json {
  let response: Loose | null = null
  let item: Loose | null = null
  let part: Loose | null = null
  let last = ''
  const output: Loose[] = []
  eventsIn(text).forEach((event, at) => {
    const type = String(event.type)
    const must = (is_so: boolean, what: string) => {
      if (!is_so) throw new Error(`${type}: ${what}`)
    }
    must(event.sequence_number === at, `numbered ${event.sequence_number}`)
    must((at === 0) === (type === 'response.created'), 'out of order')
    must(!['response.completed', 'response.incomplete'].includes(last), 'behind the end')
    if (event.output_index !== undefined) must(event.output_index === output.length, 'of another item')
    if (event.item_id !== undefined) must(event.item_id === item?.id, 'of another item')
    if (type === 'response.output_item.added') {
      must(item === null, 'within another item')
      item = {...(event.item as Loose)}
      must(item.status === 'in_progress', 'is not in progress')
    } else if (type === 'response.output_item.done') {
      must(item !== null && part === null, 'without its beginning')
      const {status, encrypted_content, ...rest} = event.item as Loose
      const {status: _, encrypted_content: __, ...grown} = item!
      must(
        JSON.stringify(sorted(grown)) === JSON.stringify(sorted(rest)),
        `is not what came: ${JSON.stringify([grown, rest])}`,
      )
      output.push(event.item as Loose)
      item = null
    } else if (type.endsWith('_part.added')) {
      must(item !== null && part === null, 'without its item')
      part = {...(event.part as Loose)}
    } else if (type.endsWith('_part.done')) {
      must(JSON.stringify(part) === JSON.stringify(event.part), 'is not what came')
      const list = item!.type === 'reasoning' ? 'summary' : 'content'
      item![list] = [...(item![list] as Loose[]), part]
      part = null
    } else if (type.endsWith('.delta')) {
      const member = GROWS[type.replace('.delta', '')]!
      const place = part ?? item
      must(typeof place?.[member] === 'string', 'without its part')
      place![member] = `${place![member]}${event.delta}`
    } else if (type.endsWith('.done')) {
      const member = GROWS[type.replace('.done', '')]!
      must((part ?? item)?.[member] === event[member], 'is not what came')
    } else if (type === 'response.completed' || type === 'response.incomplete') {
      must(item === null, 'before its item is done')
      response = event.response as Loose
      must(`response.${response.status}` === type, 'has another status')
      must(JSON.stringify(response.output) === JSON.stringify(output), 'is not what came')
    } else must(type === 'response.created' || type === 'response.in_progress', 'is unknown')
    last = type
  })
  if (!response) throw new Error('the stream has no end')
  return response
}

function sorted(value: Loose): Loose {
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
