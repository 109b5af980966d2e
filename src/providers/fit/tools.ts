import {isObject, list, object} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import type {Demands} from './rows.ts'
import {withItems} from './schemas.ts'

type Report = (adaptation: string) => void

/** Tools and their choice as the provider takes them; names of calls in the history too. */
export function fittingTools(request: Json, demands: Demands, report: Report): Json {
  checkCalled(request, demands)
  const {tools} = request
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) return request
  if (!Array.isArray(tools) || tools.length === 0) {
    checkChoice(request, new Set())
    if (tools === undefined && request.tool_choice === undefined && request.parallel_tool_calls === undefined)
      return request
    const {tools: _, tool_choice: __, parallel_tool_calls: ___, ...rest} = request
    return rest
  }
  const {most_tools, unique_names} = demands
  if (most_tools !== undefined && tools.length > most_tools)
    throw new UnsupportedInputFault('tools', `expected at most ${most_tools}; the provider takes no more`)
  const names = new Set<unknown>()
  const fitted = tools.map((tool: unknown, at) => {
    const field = `tools[${at}].function`
    const definition = object(tool).function
    if (!isObject(definition) || typeof definition.name !== 'string') return tool
    checkName(definition.name, demands, field)
    if (unique_names && names.has(definition.name))
      throw new UnsupportedInputFault(`${field}.name`, 'expected another name than those of the tools before')
    names.add(definition.name)
    return {...object(tool), function: fittingFunction(definition, demands, field, report)}
  })
  // Tools of a provider's own have names of their own.
  if (tools.every(tool => object(tool).type === 'function')) checkChoice(request, names)
  return {...request, tools: fitted}
}

function fittingFunction(definition: Json, demands: Demands, field: string, report: Report): Json {
  const {parameters} = definition
  if (!isObject(parameters)) return definition
  let fitted = typed(parameters, field)
  if (demands.plain_parameters) fitted = withoutAlternatives(fitted, field, report)
  if (demands.needs_items) fitted = withItems(fitted)
  const key = demands.keys && Object.keys(object(fitted.properties)).find(name => !demands.keys!.test(name))
  if (key !== undefined) {
    const reason = `expected keys that match ${demands.keys}`
    throw new UnsupportedInputFault(`${field}.parameters.properties.${key.slice(0, 80)}`, reason)
  }
  return {...definition, parameters: fitted}
}

/** The parameters of a function are an object, also where they name no type. */
function typed(parameters: Json, field: string): Json {
  const {type} = parameters
  if (typeof type === 'string' && type.toLowerCase() === 'object') return parameters
  if (type === undefined || type === null || (Array.isArray(type) && type.includes('object')))
    return {...parameters, type: 'object'}
  throw new UnsupportedInputFault(`${field}.parameters.type`, 'expected object')
}

/** Properties of the alternatives become properties of the whole, which none of them requires. */
function withoutAlternatives(parameters: Json, field: string, report: Report): Json {
  const words = ['anyOf', 'oneOf', 'allOf'].filter(word => Array.isArray(parameters[word]))
  if (words.length === 0) return parameters
  report(`converted ${field}.parameters: no ${words.join(' or ')} at its top`)
  const {anyOf: _, oneOf: __, allOf: ___, ...rest} = parameters
  const parts = words.flatMap(word => list(parameters[word]).map(part => object(object(part).properties)))
  return {...rest, properties: Object.assign({}, ...parts, object(parameters.properties)) as Json}
}

function checkCalled({messages}: Json, demands: Demands) {
  list(messages).forEach((message, at) => {
    list(object(message).tool_calls).forEach((call, index) => {
      const {name} = object(object(call).function)
      if (typeof name === 'string') checkName(name, demands, `messages[${at}].tool_calls[${index}].function`)
    })
  })
}

function checkName(name: string, {names}: Demands, field: string) {
  if (names && !names.test(name))
    throw new UnsupportedInputFault(`${field}.name`, `expected a name that matches ${names}`)
}

/** A choice that forces a tool needs it among the tools. */
function checkChoice({tool_choice}: Json, names: ReadonlySet<unknown>) {
  const {type, function: named, allowed_tools} = object(tool_choice)
  const wished = type === 'function' ? [object(named).name] : list(object(allowed_tools).tools).map(nameOf)
  const unknown = wished.find(name => typeof name === 'string' && !names.has(name))
  if (unknown !== undefined)
    throw new UnsupportedInputFault(
      'tool_choice',
      `expected a tool among those that are offered, not ${String(unknown).slice(0, 80)}`,
    )
  if (names.size === 0 && (tool_choice === 'required' || tool_choice === 'any'))
    throw new UnsupportedInputFault('tool_choice', 'expected tools to choose from')
}

function nameOf(tool: unknown): unknown {
  return object(object(tool).function).name ?? object(tool).name
}
