import {isObject, object, parseJson} from '../../base/json-object.ts'
import {isTooDeep} from '../../base/json-shape.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {mediaPart, typeOfName} from './media.ts'
import {present, word} from './read.ts'

/**
 * Says that the signature need not be checked, for calls whose own is lost
 * (ai.google.dev/gemini-api/docs/thought-signatures).
 */
const UNCHECKED = 'skip_thought_signature_validator'

/**
 * `content` of a message as parts: a text, or OpenAI's content parts; empty texts are left out, for Google refuses
 * them.
 */
export function partsOf(content: unknown, field: string): Json[] {
  if (content === null || content === undefined || content === '') return []
  if (typeof content === 'string') return [{text: content}]
  if (!Array.isArray(content)) throw new UnsupportedInputFault(field, 'expected a text or a list of content parts')
  return content.map((part: unknown, at) => partOf(part, `${field}[${at}]`)).filter(part => part !== null)
}

function partOf(value: unknown, field: string): Json | null {
  if (typeof value === 'string') return value === '' ? null : {text: value}
  const part = object(value)
  const {type} = part
  if (type === 'text' || type === 'input_text' || type === 'output_text')
    return textPart(part.text, `${field}.text`, part)
  if (type === 'refusal') return textPart(part.refusal, `${field}.refusal`, part)
  if (type === 'thinking') return textPart(part.thinking, `${field}.thinking`, part, {thought: true})
  // Another provider's secret, which Google could not read.
  if (type === 'redacted_thinking') return null
  if (type === 'image_url') return addressed(part.image_url, 'image/jpeg', `${field}.image_url`, part)
  if (type === 'video_url') return addressed(part.video_url, 'video/mp4', `${field}.video_url`, part)
  if (type === 'input_audio') return audioPart(object(part.input_audio), `${field}.input_audio`)
  if (type === 'file') return filePart(object(part.file), `${field}.file`)
  if (type === 'executable_code' && isObject(part.executable_code)) return {executableCode: part.executable_code}
  if (type === 'code_execution_result' && isObject(part.code_execution_result))
    return {codeExecutionResult: part.code_execution_result}
  throw new UnsupportedInputFault(
    `${field}.type`,
    'expected text, image_url, video_url, input_audio, file, refusal or thinking',
  )
}

function textPart(text: unknown, field: string, {signature}: Json, more: Json = {}): Json | null {
  if (text !== undefined && text !== null && typeof text !== 'string')
    throw new UnsupportedInputFault(field, 'expected a text')
  const thoughtSignature = word(signature)
  if (!text && !thoughtSignature) return null
  return {text: text ?? '', ...more, ...(thoughtSignature ? {thoughtSignature} : {})}
}

function addressed(source: unknown, usual: string, field: string, {signature}: Json): Json {
  const url = typeof source === 'string' ? source : object(source).url
  if (typeof url !== 'string') throw new UnsupportedInputFault(`${field}.url`, 'expected an address')
  const part = mediaPart(url, {type: word(object(source).mime_type), usual}, `${field}.url`)
  return word(signature) ? {...part, thoughtSignature: signature} : part
}

function audioPart({data, format}: Json, field: string): Json {
  if (typeof data !== 'string') throw new UnsupportedInputFault(`${field}.data`, 'expected audio in base64')
  if (data.startsWith('data:')) return mediaPart(data, {usual: 'audio/wav'}, `${field}.data`)
  const name = word(format) ?? 'wav'
  if (!/^[\w.+-]{1,32}$/.test(name))
    throw new UnsupportedInputFault(`${field}.format`, 'expected the name of an audio format')
  return {inlineData: {mimeType: `audio/${name}`, data}}
}

function filePart({file_data, file_url, file_id, filename, mime_type}: Json, field: string): Json {
  const type = word(mime_type)
  const usual = (typeof filename === 'string' ? typeOfName(filename) : null) ?? 'application/pdf'
  if (typeof file_data === 'string') {
    if (file_data.startsWith('data:')) return mediaPart(file_data, {usual}, `${field}.file_data`)
    return {inlineData: {mimeType: type ?? usual, data: file_data}}
  }
  const url = word(file_url) ?? word(file_id)
  if (!url) throw new UnsupportedInputFault(field, 'expected file_data, file_url or file_id')
  // A file of the Files API, named as it names them.
  if (/^files\/[\w-]+$/.test(url)) {
    return {fileData: present({mimeType: type, fileUri: `https://generativelanguage.googleapis.com/v1beta/${url}`})}
  }
  return mediaPart(url, {type, usual}, word(file_url) ? `${field}.file_url` : `${field}.file_id`)
}

/** Arguments are not nested deeper: they are written out again, which costs stack. */
const MAX_DEPTH = 200

/** A translated tool call, with the name under which its result will answer it. */
export interface Called {
  readonly id: string | null
  readonly name: string
  readonly part: Json
}

/**
 * One of an assistant's tool calls. Its signature is where Google's own OpenAI surface puts it
 * (`extra_content.google`), or on the function. `sends_id`: the place knows ids of calls. `needs_signature`: a call
 * without one would be refused.
 */
export function callPart(tool_call: unknown, field: string, sends_id: boolean, needs_signature: boolean): Called {
  const call = object(tool_call)
  if (call.type !== undefined && call.type !== 'function')
    throw new UnsupportedInputFault(`${field}.type`, 'expected function')
  const {name, arguments: written, thought_signature} = object(call.function)
  if (typeof name !== 'string' || name === '')
    throw new UnsupportedInputFault(`${field}.function.name`, 'expected the name of the function')
  const id = word(call.id)
  const signature =
    word(object(object(call.extra_content).google).thought_signature) ??
    word(thought_signature) ??
    word(call.thought_signature) ??
    (needs_signature ? UNCHECKED : null)
  const functionCall = present({
    id: sends_id ? id : null,
    name,
    args: argumentsOf(written, `${field}.function.arguments`),
  })
  return {id, name, part: {functionCall, ...(signature ? {thoughtSignature: signature} : {})}}
}

function argumentsOf(written: unknown, field: string): Json {
  if (written === undefined || written === null) return {}
  if (isObject(written)) return written
  if (typeof written === 'string') {
    if (written.trim() === '') return {}
    try {
      const args: unknown = parseJson(written)
      if (isObject(args) && !isTooDeep(written, MAX_DEPTH)) return args
    } catch {
      // Refused below, in words that name the field.
    }
  }
  throw new UnsupportedInputFault(field, `expected a JSON object as text, nested no deeper than ${MAX_DEPTH}`)
}

/** The result of a tool: its texts as `output`, pictures and files beside it. */
export function resultPart(content: unknown, name: string, id: string | null, field: string): Json {
  const parts = partsOf(content, field)
  const texts = parts.filter(part => typeof part.text === 'string').map(part => part.text)
  const files = parts.filter(part => part.inlineData !== undefined || part.fileData !== undefined)
  return {
    functionResponse: {
      ...(id ? {id} : {}),
      name,
      response: {output: texts.join('')},
      ...(files.length > 0 ? {parts: files} : {}),
    },
  }
}
