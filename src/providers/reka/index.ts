import {isObject, object} from '../../base/json-object.ts'
import {laterReport, type Usage} from '../../schema/usage.ts'
import {completion, type FinishReason, finishReason} from '../chat.ts'
import {
  type Dialect,
  InvalidResponseFault,
  type Json,
  type StreamTranslator,
  type Translated,
  type TranslatedResponse,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {anyError, faultOf, readFault} from '../unified/fault.ts'
import {choiceOut, messageOut} from '../unified/message.ts'
import {
  type ChatMessage,
  imageIn,
  isThought,
  messagesIn,
  mostTokens,
  oneChoice,
  partsIn,
  pick,
  stopsIn,
  textIn,
  unsupportedPart,
  usageOf,
  word,
} from '../unified/read.ts'
import {chatStream} from '../unified/stream.ts'
import {knownMembers, withUnknown} from '../unknown-members.ts'

const FINISH: Readonly<Record<string, FinishReason>> = {stop: 'stop', length: 'length', context: 'length'}

/** Reka's chat. Source: docs.reka.ai, chat API, and the types of its published SDK. Base URL without a version. */
export const reka: Dialect = {
  name: 'reka',
  endpoints: {chatComplete: {request, reply, stream: {framing: 'sse', open}}},
  fault: readFault,
}

function request(input: Json, context: TranslationContext): Translated {
  oneChoice(input)
  if (Array.isArray(input.tools) && input.tools.length > 0)
    throw new UnsupportedInputFault('tools', 'the provider takes no tools')
  const body = {
    model: context.model,
    messages: turns(messagesIn(input)),
    ...pick(input, 'temperature top_p top_k seed frequency_penalty presence_penalty use_search_engine'),
    max_tokens: mostTokens(input),
    stop: stopsIn(input),
    stream: context.is_stream,
  }
  return {path: '/v1/chat', body}
}

/** Reka knows two roles that take turns: what the system says opens the user's next turn. */
function turns(messages: readonly ChatMessage[]): readonly Json[] {
  const all: {role: string; content: Json[]}[] = []
  for (const {role, raw, field} of messages) {
    if (role === 'tool') throw new UnsupportedInputFault(`${field}.role`, 'the provider takes no tools')
    const theirs = role === 'system' ? 'user' : role
    const content = partsOf(raw.content, `${field}.content`)
    const last = all.at(-1)
    if (last?.role === theirs) last.content.push(...content)
    else all.push({role: theirs, content})
  }
  return all.map(({role, content}) => {
    const [only] = content
    return {role, content: content.length === 1 && only!.type === 'text' ? only!.text : content}
  })
}

function partsOf(content: unknown, field: string): Json[] {
  const parts = partsIn(content, field).filter(part => !isThought(part))
  if (parts.every(({type}) => type === 'text')) return [{type: 'text', text: textIn(content, field)}]
  return parts.map(part => {
    if (part.type === 'text') return {type: 'text', text: part.raw.text}
    if (part.type === 'image_url') return {type: 'image_url', image_url: imageIn(part).url}
    if (MEDIA.has(part.type)) return part.raw
    throw unsupportedPart(part)
  })
}

/** Media of Reka's own, as the client wrote them. */
const MEDIA = new Set(['video_url', 'audio_url', 'pdf_url'])

function reply(response: unknown, context: TranslationContext): TranslatedResponse {
  const {id, model, responses, usage: used} = object(response)
  const [first] = Array.isArray(responses) ? responses : []
  const {message, finish_reason} = object(first)
  if (!isObject(message))
    throw new InvalidResponseFault(faultOf(context, anyError(object(response)), 'responses: expected some').message)
  const usage = readTokens(used)
  const choice = choiceOut(
    0,
    messageOut([{type: 'text', text: textOf(message.content)}], [], context.strict),
    ended(finish_reason, context),
  )
  return {
    body: completion(context, {id: word(id), model: word(model), choices: [choice], usage}),
    usage,
    model: word(model),
  }
}

function open(context: TranslationContext, input: Json): StreamTranslator {
  return chatStream(context, input, (write, fail) => {
    let heard = ''
    /**
     * Reka tells all so far with each chunk; deployments are known that tell what is new. The second chunk settles it.
     */
    let is_whole: boolean | null = null
    let usage: Usage | null = null
    let finished = false
    return {
      event({data}) {
        if (data === '[DONE]') return
        if (!isObject(data)) throw new InvalidResponseFault('expected a JSON object')
        const [first] = Array.isArray(data.responses) ? data.responses : []
        if (!isObject(first)) return fail(anyError(data))
        write.named(word(data.id), word(data.model))
        write.begin()
        usage = laterReport(usage, readTokens(data.usage))
        const text = textOf(object(first.chunk).content ?? '')
        if (text !== '') {
          if (heard !== '') is_whole ??= text.startsWith(heard)
          if (is_whole && !text.startsWith(heard)) throw new InvalidResponseFault('a chunk took back what another said')
          write.text(is_whole ? text.slice(heard.length) : text)
          heard = is_whole ? text : heard + text
        }
        if (word(first.finish_reason) === null) return
        write.finish(ended(first.finish_reason, context))
        finished = true
      },
      get finished() {
        return finished
      },
      get usage() {
        return usage
      },
    }
  })
}

function ended(reason: unknown, {strict}: TranslationContext): string {
  return finishReason(reason, FINISH, strict)
}

const KNOWN = knownMembers('input_tokens output_tokens')

function readTokens(usage: unknown): Usage | null {
  const {input_tokens: input, output_tokens: output} = object(usage)
  const read = usageOf({input, output})
  return read && withUnknown(read, object(usage), KNOWN)
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw new InvalidResponseFault('content: expected a string or an array')
  return content.map(part => (typeof object(part).text === 'string' ? object(part).text : '')).join('')
}
