import {isList, type JsonValue, own} from '../json.ts'
import {slotsOf} from '../texts.ts'
import type {View} from '../view.ts'
import type {PartnerCall} from './partner.ts'

export type PartnerMessage = {readonly role: string; readonly content: string}

/** The conversation of a call as roles and texts: the request's messages, and on the output side the answer. */
export function conversation({context, view, text, is_input}: PartnerCall<unknown, string>): readonly PartnerMessage[] {
  const request = is_input ? view : context.request
  const messages = request ? messagesOf(request) : []
  return is_input ? messages : [...messages, {role: 'assistant', content: text}]
}

/** The texts of a request, those of one message as one. */
function messagesOf({endpoint, side, body, kind, text: whole}: View): readonly PartnerMessage[] {
  const made = new Map<string, {role: string; texts: string[]}>()
  for (const {path, text} of slotsOf(endpoint, side, body)) {
    const [key, index] = path
    const is_message = (key === 'messages' || key === 'input') && typeof index === 'number' && isList(own(body, key))
    const place = is_message ? `${key} ${index}` : String(key)
    const message = made.get(place) ?? {
      role: is_message
        ? roleOf(own(own(body, key), index))
        : key === 'system' || key === 'instructions'
          ? 'system'
          : 'user',
      texts: [],
    }
    message.texts.push(text)
    made.set(place, message)
  }
  // a call of a tool has no messages: all of it is one
  if (made.size === 0 && kind === 'dialect' && whole !== '') return [{role: 'user', content: whole}]
  return [...made.values()].map(({role, texts}) => ({role, content: texts.join('\n')}))
}

function roleOf(message: JsonValue | undefined): string {
  const role = own(message, 'role')
  return role === 'system' || role === 'assistant' || role === 'tool' ? role : role === 'developer' ? 'system' : 'user'
}
