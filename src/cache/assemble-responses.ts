import {isObject} from '../base/json-object.ts'
import type {Assembly} from './assembly.ts'
import type {JsonRecord} from './exact-json.ts'
import {InexactFault} from './merge.ts'

/**
 * The events of a response: its last one holds all of it. Source:
 * platform.openai.com/docs/api-reference/responses-streaming.
 */
export function createResponse(): Assembly {
  let response: JsonRecord | null = null
  let items = 0
  return {
    take(event) {
      if (event === 'done') return
      if (response) throw new InexactFault('something follows the end')
      if (event.type === 'response.output_item.done') items++
      if (event.type !== 'response.completed' && event.type !== 'response.incomplete') return
      if (!isObject(event.response)) throw new InexactFault('a response that is none')
      // Some servers end with a response that leaves out what was streamed.
      if (!Array.isArray(event.response.output) || event.response.output.length < items)
        throw new InexactFault('an output that is not whole')
      response = event.response
    },
    answer: () => response,
  }
}
