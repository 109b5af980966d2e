import {list, object} from '../../base/json-object.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import type {Demands} from './rows.ts'
import {isStrictSchema} from './schemas.ts'

type Report = (adaptation: string) => void

/** The format of the answer as the provider takes it. */
export function fittingFormat(request: Json, demands: Demands, {model}: TranslationContext, report: Report): Json {
  const strict = demands.strict_subset ? withStrictSubset(request, report) : request
  const {type} = object(strict.response_format)
  if (type !== 'json_object' && type !== 'json_schema') return strict
  if (demands.json_or_tools?.test(model) && list(strict.tools).length > 0)
    throw new UnsupportedInputFault('response_format', 'expected no tools beside it; this model takes either of them')
  const prompted = type === 'json_schema' && demands.schema_in_prompt ? withSchemaInPrompt(strict, report) : strict
  return demands.names_json && object(prompted.response_format).type === 'json_object'
    ? withJsonNamed(prompted, report)
    : prompted
}

/** `strict` stays where the schema is one that can be kept strictly. */
function withStrictSubset(request: Json, report: Report): Json {
  const changed: Record<string, unknown> = {...request}
  const format = object(request.response_format)
  const described = object(format.json_schema)
  if (described.strict === true && !isStrictSchema(described.schema)) {
    report('converted response_format.json_schema.strict: the schema is outside of the strict subset')
    changed.response_format = {...format, json_schema: {...described, strict: false}}
  }
  if (!Array.isArray(request.tools)) return changed
  changed.tools = request.tools.map((tool: unknown, at) => {
    const definition = object(object(tool).function)
    if (definition.strict !== true || isStrictSchema(definition.parameters)) return tool
    report(`converted tools[${at}].function.strict: the parameters are outside of the strict subset`)
    return {...object(tool), function: {...definition, strict: false}}
  })
  return changed
}

function withSchemaInPrompt(request: Json, report: Report): Json {
  const {schema} = object(object(request.response_format).json_schema)
  report('converted response_format: the schema goes with the prompt')
  const content = `Answer with one JSON object that fits this JSON schema: ${JSON.stringify(schema ?? {})}`
  return {...withSystem(request, content), response_format: {type: 'json_object'}}
}

function withJsonNamed(request: Json, report: Report): Json {
  const contents = list(request.messages).map(message => object(message).content ?? '')
  if (/json/i.test(JSON.stringify(contents))) return request
  report('converted messages: one names JSON')
  return withSystem(request, 'Answer in JSON.')
}

/** Behind the system messages that there are. */
function withSystem(request: Json, content: string): Json {
  const messages = list(request.messages).map(object)
  const at = messages.findIndex(({role}) => role !== 'system' && role !== 'developer')
  const place = at < 0 ? messages.length : at
  return {...request, messages: [...messages.slice(0, place), {role: 'system', content}, ...messages.slice(place)]}
}
