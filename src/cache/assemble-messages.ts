import {isObject} from '../base/json-object.ts'
import type {Assembly} from './assembly.ts'
import {type JsonRecord, parseExactly, without} from './exact-json.ts'
import {InexactFault, put} from './merge.ts'

interface Block {
  readonly block: JsonRecord
  json: string
  is_open: boolean
}

/** The events of a message as the message. Source: docs.anthropic.com, streaming messages. */
export function createMessage(): Assembly {
  let message: JsonRecord | null = null
  const blocks: Block[] = []
  let is_over = false

  return {
    take(event) {
      if (event === 'done') return
      if (is_over) throw new InexactFault('something follows the end')
      switch (event.type) {
        case 'ping':
          return
        case 'message_start':
          if (message || !isObject(event.message)) throw new InexactFault('message_start')
          message = {...event.message}
          if (Array.isArray(message.content) && message.content.length > 0)
            throw new InexactFault('a message that begins with content')
          return
        case 'content_block_start':
          if (event.index !== blocks.length || !isObject(event.content_block))
            throw new InexactFault('content_block_start')
          blocks.push({block: {...event.content_block}, json: '', is_open: true})
          return
        case 'content_block_delta':
          takeDelta(opened(event), event.delta)
          return
        case 'content_block_stop':
          close(opened(event))
          return
        case 'message_delta':
          if (!message || !isObject(event.delta)) throw new InexactFault('message_delta')
          lay(message, event.delta)
          lay(message, without(event, 'type', 'delta', 'usage'))
          if (isObject(event.usage)) message.usage = {...(isObject(message.usage) ? message.usage : {}), ...event.usage}
          return
        case 'message_stop':
          is_over = true
          return
        default:
          throw new InexactFault(`an event ${String(event.type)} that we do not know`)
      }
    },
    answer() {
      if (!message || !is_over || !message.stop_reason || blocks.some(({is_open}) => is_open)) return null
      return {...message, content: blocks.map(({block}) => block)}
    },
  }

  function opened({index}: JsonRecord): Block {
    const known = typeof index === 'number' ? blocks[index] : undefined
    if (!known?.is_open) throw new InexactFault('no such content block is open')
    return known
  }
}

/** Texts of a block, by the delta that they come in. */
const TEXTS: Readonly<Record<string, string>> = {text_delta: 'text', thinking_delta: 'thinking'}

function takeDelta(open: Block, delta: unknown) {
  const {type, ...fields} = isObject(delta) ? delta : {}
  const {block} = open
  if (typeof type === 'string' && Object.hasOwn(TEXTS, type)) {
    const key = TEXTS[type]!
    only(fields, key)
    block[key] = text(block[key] ?? '') + text(fields[key])
  } else if (type === 'signature_delta') {
    only(fields, 'signature')
    if (block.signature) throw new InexactFault('a second signature')
    block.signature = text(fields.signature)
  } else if (type === 'input_json_delta') {
    only(fields, 'partial_json')
    open.json += text(fields.partial_json)
  } else if (type === 'citations_delta') {
    only(fields, 'citation')
    block.citations = [...(Array.isArray(block.citations) ? block.citations : []), fields.citation]
  } else {
    throw new InexactFault(`a delta ${String(type)} that we do not know`)
  }
}

function close(open: Block) {
  open.is_open = false
  if (open.json === '') return
  const input = parseExactly(open.json)
  if (input === undefined) throw new InexactFault('the input of a tool is not JSON')
  open.block.input = input
}

/** A delta that says more than its type is known for is no delta that we can keep. */
function only(delta: JsonRecord, key: string) {
  if (Object.keys(delta).some(name => name !== key)) throw new InexactFault('a delta with more than its text')
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new InexactFault('a text that is none')
  return value
}

/** The values at the end count, when they are not empty. */
function lay(message: JsonRecord, delta: JsonRecord) {
  for (const [key, value] of Object.entries(delta))
    if (value !== null || !Object.hasOwn(message, key)) put(message, key, value)
}
