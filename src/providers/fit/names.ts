import {hash} from 'node:crypto'
import {isObject, list, object} from '../../base/json-object.ts'
import {changed, changedEach, changeOf} from '../as-came.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'

/** A character that a name may not have, by its code: `files.read` is `files_x2e_read`. */
const WRITTEN = /_x([0-9a-f]{1,6})_/g
const LOOKS_WRITTEN = /_x[0-9a-f]{1,6}_/
/** An underscore before an x is written too, so that each written name leads back to one name alone. */
const UNFIT = /[^\w-]|_(?=x)/gu
const LONGEST_BEGIN = 40
const LAST_CHARACTER = 0x10ffff

type Report = (adaptation: string) => void

/**
 * The name of a function as a provider takes it, which `pattern` says; the same one each time. Of a name that is too
 * long to be written out it ends in a hash: only the request that it came from leads back.
 */
function fittingName(name: string, pattern: RegExp): string {
  if (name === '' || (pattern.test(name) && !LOOKS_WRITTEN.test(name))) return name
  const written = name.replace(UNFIT, code)
  if (pattern.test(written)) return written
  // Some want a letter first.
  const begun = written.replace(/^./u, code)
  if (pattern.test(begun)) return begun
  const plain = name.replace(/[^\w-]/gu, '_').replace(/^(?=[^a-zA-Z])/, '_')
  return `${plain.slice(0, LONGEST_BEGIN)}_h_${hash('sha256', name).slice(0, 16)}`
}

const code = (character: string) => `_x${character.codePointAt(0)!.toString(16)}_`

/** The name that was written so. */
function readName(written: string): string {
  return written.replace(WRITTEN, (whole, digits: string) => {
    const point = Number.parseInt(digits, 16)
    return point <= LAST_CHARACTER ? String.fromCodePoint(point) : whole
  })
}

/** The request with names of functions that the provider takes, wherever it names them. Each is reported once. */
export function fittingNames(request: Json, pattern: RegExp, {is_row}: TranslationContext, report: Report): Json {
  const names = new Map<string, string>()
  eachName(request, (name, field) => {
    if (names.has(name)) return
    const fitted = fittingName(name, pattern)
    names.set(name, fitted)
    if (fitted === name) return
    if (is_row && readName(fitted) !== name)
      throw new UnsupportedInputFault(field, `expected a name that matches ${pattern}, for the answer comes alone`)
    report(`converted ${field}: characters and length that the provider takes`)
  })
  const renamed = (name: unknown) => (typeof name === 'string' ? (names.get(name) ?? name) : name)
  if ([...names].every(([name, fitted]) => name === fitted)) return request
  return withNames(request, renamed)
}

/**
 * The client's own name of a function that an answer names; null where the names of the request went as they were. The
 * answer to a row of a batch comes without its request.
 */
export function ownNames(
  request: Json,
  pattern: RegExp,
  {is_row}: TranslationContext,
): ((name: string) => string) | null {
  if (is_row) return readName
  const own = new Map<string, string>()
  eachName(request, name => {
    const fitted = fittingName(name, pattern)
    if (fitted !== name) own.set(fitted, name)
  })
  return own.size === 0 ? null : name => own.get(name) ?? name
}

/** A completion, or a chunk of one, with the client's names in its calls. */
export function answerWithNames(answer: Json, own: (name: string) => string): Json {
  if (!Array.isArray(answer.choices)) return answer
  const choices = changedEach(answer.choices, choice => {
    const {message, delta} = object(choice)
    const spoken = isObject(message) ? message : delta
    if (!isObject(spoken) || !Array.isArray(spoken.tool_calls)) return choice
    const tool_calls = changedEach(spoken.tool_calls, call => callWith(call, name => own(name)))
    return changed(choice as Json, {[isObject(message) ? 'message' : 'delta']: changed(spoken, {tool_calls})})
  })
  return changeOf(answer, changed(answer, {choices}))
}

/** Calls `each` with every name of a function that a request has, and its place. */
function eachName({tools, messages, tool_choice}: Json, each: (name: string, field: string) => void) {
  const seen = (name: unknown, field: string) => typeof name === 'string' && each(name, field)
  list(tools).forEach((tool, at) => {
    const {type, function: definition} = object(tool)
    if (type === 'function') seen(object(definition).name, `tools[${at}].function.name`)
  })
  list(messages).forEach((message, at) => {
    list(object(message).tool_calls).forEach((call, index) => {
      seen(object(object(call).function).name, `messages[${at}].tool_calls[${index}].function.name`)
    })
  })
  seen(object(object(tool_choice).function).name, 'tool_choice.function.name')
}

function withNames(request: Json, renamed: (name: unknown) => unknown): Json {
  const {tools, messages, tool_choice} = request
  return changed(request, {
    ...(Array.isArray(tools) ? {tools: changedEach(tools, tool => callWith(tool, renamed))} : {}),
    ...(Array.isArray(messages) ? {messages: changedEach(messages, message => messageWith(message, renamed))} : {}),
    ...(isObject(tool_choice) ? {tool_choice: choiceWith(tool_choice, renamed)} : {}),
  })
}

function messageWith(message: unknown, renamed: (name: unknown) => unknown): unknown {
  if (!isObject(message)) return message
  const {role, name, tool_calls} = message
  return changed(message, {
    ...(role === 'tool' && name !== undefined ? {name: renamed(name)} : {}),
    ...(Array.isArray(tool_calls) ? {tool_calls: changedEach(tool_calls, call => callWith(call, renamed))} : {}),
  })
}

function choiceWith(choice: Json, renamed: (name: unknown) => unknown): unknown {
  const {allowed_tools} = choice
  if (!isObject(allowed_tools) || !Array.isArray(allowed_tools.tools)) return callWith(choice, renamed)
  const tools = changedEach(allowed_tools.tools, tool =>
    isObject(tool) && typeof tool.name === 'string'
      ? changed(tool, {name: renamed(tool.name)})
      : callWith(tool, renamed),
  )
  return changed(choice, {allowed_tools: changed(allowed_tools, {tools})})
}

/** A tool, a call or a choice: each has its name in `function`. */
function callWith(call: unknown, renamed: (name: string) => unknown): unknown {
  if (!isObject(call) || !isObject(call.function) || typeof call.function.name !== 'string') return call
  return changed(call, {function: changed(call.function, {name: renamed(call.function.name)})})
}
