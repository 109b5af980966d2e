import type {Json} from '../../../src/providers/translation.ts'

type Loose = Record<string, unknown>

/**
 * The events in a text of server-sent events; throws for anything that is not `event:` and `data:` of the same type.
 */
export function eventsIn(text: string): readonly Json[] {
  if (text !== '' && !text.endsWith('\n\n')) throw new Error('the last event has no blank line')
  return text
    .split('\n\n')
    .slice(0, -1)
    .map(raw => {
      const [first = '', second = '', ...more] = raw.split('\n')
      if (!first.startsWith('event: ') || !second.startsWith('data: ') || more.length > 0)
        throw new Error(`no event: ${raw}`)
      const data = JSON.parse(second.slice('data: '.length)) as Json
      if (data.type !== first.slice('event: '.length)) throw new Error(`${first} holds ${data.type}`)
      return data
    })
}

/** The message that a stream of events comes to, by the grammar that Anthropic documents; throws where it is broken. */
export function assembleMessage(text: string): Json {
  let message: Loose | null = null
  let block: Loose | null = null
  let json = ''
  let has_delta = false
  let has_stopped = false
  const content: Loose[] = []
  for (const event of eventsIn(text)) {
    const must = (is_so: boolean, what: string) => {
      if (!is_so || has_stopped) throw new Error(`${event.type}: ${what}`)
    }
    const index = event.index
    if (event.type === 'message_start') {
      must(message === null, 'a second one')
      message = {...(event.message as Loose)}
    } else if (event.type === 'content_block_start') {
      must(message !== null && block === null && index === content.length && !has_delta, 'out of order')
      block = {...(event.content_block as Loose)}
      json = ''
    } else if (event.type === 'content_block_delta') {
      must(block !== null && index === content.length, 'without its block')
      json += grow(block!, event.delta as Loose)
    } else if (event.type === 'content_block_stop') {
      must(block !== null && index === content.length, 'without its block')
      if (block!.type === 'tool_use' && json) block!.input = JSON.parse(json)
      content.push(block!)
      block = null
    } else if (event.type === 'message_delta') {
      must(message !== null && block === null && !has_delta, 'out of order')
      Object.assign(message!, event.delta, {usage: event.usage})
      has_delta = true
    } else if (event.type === 'message_stop') {
      must(has_delta, 'before message_delta')
      has_stopped = true
    } else throw new Error(`unknown event ${event.type}`)
  }
  if (!has_stopped) throw new Error('the stream has no message_stop')
  return {...message, content}
}

function grow(block: Loose, delta: Loose): string {
  const kinds: Record<string, string> = {
    text_delta: 'text',
    thinking_delta: 'thinking',
    signature_delta: 'thinking',
    input_json_delta: 'tool_use',
  }
  if (kinds[String(delta.type)] !== block.type) throw new Error(`${delta.type} in a block of ${block.type}`)
  if (delta.type === 'input_json_delta') return String(delta.partial_json)
  const member = String(delta.type).replace('_delta', '')
  block[member] = String(block[member]) + String(delta[member])
  return ''
}
