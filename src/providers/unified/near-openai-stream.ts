import {isObject, object} from '../../base/json-object.ts'
import type {Usage} from '../../schema/usage.ts'
import {finishReason} from '../chat.ts'
import {readUsage} from '../openai/usage.ts'
import {InvalidResponse, type Json, type StreamTranslator, type TranslationContext} from '../translation.ts'
import {anyError} from './fault.ts'
import {type AlmostOpenAi, indexIn, OPENAI_FINISH, piecesIn, thoughtIn} from './near-openai.ts'
import {word} from './read.ts'
import {type ChatWriter, chatStream} from './stream.ts'

/** A chat stream that is OpenAI's but for its members' kinds. It is whole after `[DONE]`, or when each choice has its finish reason. */
export function normaliseStream(context: TranslationContext, request: Json, near: AlmostOpenAi): StreamTranslator {
  return chatStream(context, request, (write, fail) => {
    const reader = nearReader(context, write, near)
    return {
      event({data}) {
        if (data === '[DONE]') return reader.done()
        if (!isObject(data)) throw new InvalidResponse('expected a JSON object')
        if (!Array.isArray(data.choices)) {
          const {message, code} = anyError(data)
          if (data.error || data.object === 'error' || message) fail(anyError(data), statusIn(data.status) ?? statusIn(code))
          return
        }
        reader.chunk(data)
      },
      get finished() {
        return reader.finished
      },
      get usage() {
        return reader.usage
      },
    }
  })
}

/** Reads chunks of the near kind; for dialects that wrap them in something else. */
export function nearReader(context: TranslationContext, write: ChatWriter, {finish}: AlmostOpenAi) {
  const reasons = {...OPENAI_FINISH, ...finish}
  /** Calls by choice and by the number the provider gives them: where they stand in the answer, and their id. */
  const known = new Map<string, {position: number; id: string | null}>()
  let usage: Usage | null = null
  let is_done = false
  let calls = 0

  function call(tool_call: unknown, at: number, choice: number) {
    const {index, id, function: called} = object(tool_call)
    const {name, arguments: given} = object(called)
    const key = `${choice}/${indexIn(index) ?? at}`
    const text = typeof given === 'string' ? given : isObject(given) ? JSON.stringify(given) : ''
    const given_id = id === 'null' ? null : word(id)
    const before = known.get(key)
    // A second id under one number is a second call: some engines number every call 0.
    if (before && (given_id === null || given_id === before.id || !word(name))) return write.more(before.position, text, choice)
    if (typeof name !== 'string' || name === '') throw new InvalidResponse('a tool call has no name')
    const own = given_id ?? `call_${context.call_id}_${calls}`
    calls++
    known.set(key, {position: write.call({id: own, name, arguments: text}, choice), id: given_id})
  }

  return {
    chunk(data: Json) {
      write.named(word(data.id), word(data.model))
      const used = isObject(data.usage) ? readUsage(data.usage, 'chatComplete') : null
      usage = used ?? usage
      for (const entry of data.choices as readonly unknown[]) {
        const {index, delta, finish_reason, logprobs} = object(entry)
        const choice = indexIn(index) ?? 0
        const heard = object(delta)
        if (heard.role === 'assistant') write.begin(choice)
        for (const piece of [...thoughtIn(heard), ...piecesIn(heard.content)]) {
          if (piece.type === 'text') write.text(piece.text, choice, isObject(logprobs) ? logprobs : null)
          else write.thought(piece.thinking, choice)
        }
        for (const [at, one] of Array.isArray(heard.tool_calls) ? heard.tool_calls.entries() : []) call(one, at, choice)
        if (typeof finish_reason === 'string' && finish_reason !== '') {
          write.finish(finishReason(finish_reason, reasons, context.strict), choice)
        }
      }
    },
    done() {
      is_done = true
    },
    get finished() {
      return is_done || write.is_finished
    },
    get usage() {
      return usage
    },
  }
}

export function statusIn(value: unknown): number | null {
  const status = typeof value === 'string' ? Number(value) : value
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600 ? status : null
}
