import {isObject, list, object} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {present, word} from './read.ts'
import {cleanSchema} from './schema.ts'

/** Tools that Google runs itself, by the names that clients use. */
const GOOGLES: Readonly<Record<string, string>> = {
  googleSearch: 'googleSearch',
  google_search: 'googleSearch',
  googleSearchRetrieval: 'googleSearchRetrieval',
  google_search_retrieval: 'googleSearchRetrieval',
  computerUse: 'computerUse',
  computer_use: 'computerUse',
  googleMaps: 'googleMaps',
  google_maps: 'googleMaps',
}
/** Those that are recognised by type alone, since a caller's function may well have their name. */
const BY_TYPE: Readonly<Record<string, string>> = {
  ...GOOGLES,
  urlContext: 'urlContext',
  url_context: 'urlContext',
  codeExecution: 'codeExecution',
  code_execution: 'codeExecution',
  enterpriseWebSearch: 'enterpriseWebSearch',
  enterprise_web_search: 'enterpriseWebSearch',
}

/**
 * `tools` and `tool_choice` as Gemini's `tools` and `toolConfig`. Functions are declared together; a function with the
 * name of one of Google's own tools and no parameters of its own asks for that tool, its `parameters` being the tool's
 * settings.
 */
export function toolsIn(request: Json): Json {
  if (list(request.functions).length > 0)
    throw new UnsupportedInputFault('functions', 'is not known to Gemini; use tools')
  const functionDeclarations: Json[] = []
  const googles: Json[] = []
  for (const [at, tool] of list(request.tools).entries()) {
    const field = `tools[${at}]`
    const {type, function: definition} = object(tool)
    const google = googles_own(type, definition)
    if (google)
      googles.push({[google]: type === 'function' ? settingsIn(definition) : object(object(tool)[String(type)])})
    else if (type === 'function') functionDeclarations.push(declaration(definition, `${field}.function`))
    else
      throw new UnsupportedInputFault(
        `${field}.type`,
        `expected function or a tool of Google's (${Object.values(GOOGLES).filter(once).join(', ')})`,
      )
  }
  const tools = [...(functionDeclarations.length > 0 ? [{functionDeclarations}] : []), ...googles]
  return {
    ...(tools.length > 0 ? {tools} : {}),
    // Without a function to choose, Google refuses the choice.
    ...(functionDeclarations.length > 0 ? choice(request.tool_choice) : {}),
  }
}

function googles_own(type: unknown, definition: unknown): string | null {
  const {name, parameters} = object(definition)
  if (type !== 'function') return typeof type === 'string' && Object.hasOwn(BY_TYPE, type) ? BY_TYPE[type]! : null
  if (typeof name !== 'string' || !Object.hasOwn(GOOGLES, name)) return null
  return Object.keys(object(object(parameters).properties)).length > 0 ? null : GOOGLES[name]!
}

/** The members that no schema has: clients send an empty object's schema around them, and `type` is added to it. */
function settingsIn(definition: unknown): Json {
  const {
    type: _,
    properties: __,
    required: ___,
    additionalProperties: ____,
    ...settings
  } = object(object(definition).parameters)
  return settings
}

function declaration(definition: unknown, field: string): Json {
  const {name, description, parameters} = object(definition)
  if (!word(name)) throw new UnsupportedInputFault(`${field}.name`, 'expected the name of the function')
  const schema = isObject(parameters) ? cleanSchema(parameters, `${field}.parameters`) : null
  // An object without members is refused where it stands for the parameters.
  const has_members = schema !== null && (schema.type !== 'object' || Object.keys(object(schema.properties)).length > 0)
  return present({name, description: word(description), parameters: has_members ? schema : null})
}

/** Source: ai.google.dev/gemini-api/docs/function-calling, function calling modes. */
function choice(tool_choice: unknown): Json {
  if (tool_choice === undefined || tool_choice === null) return {}
  const mode = (mode: string, allowedFunctionNames?: readonly string[]) => ({
    toolConfig: {functionCallingConfig: {mode, ...(allowedFunctionNames ? {allowedFunctionNames} : {})}},
  })
  if (tool_choice === 'none') return mode('NONE')
  if (tool_choice === 'auto') return mode('AUTO')
  if (tool_choice === 'required') return mode('ANY')
  const {type, function: named, allowed_tools} = object(tool_choice)
  const name = word(object(named).name)
  if (type === 'function' && name) return mode('ANY', [name])
  if (type === 'allowed_tools') {
    const names = list(object(allowed_tools).tools).map(tool => word(object(object(tool).function).name))
    // Of the modes that take names, VALIDATED alone leaves the model free to answer in text.
    if (names.length > 0 && names.every(each => each !== null))
      return mode(object(allowed_tools).mode === 'required' ? 'ANY' : 'VALIDATED', names)
  }
  throw new UnsupportedInputFault(
    'tool_choice',
    'expected none, auto, required, a function by name, or allowed_tools with functions',
  )
}

function once(value: string, at: number, all: readonly string[]): boolean {
  return all.indexOf(value) === at
}
