import type {Json} from '../../../src/providers/translation.ts'
import {list, object, text} from '../dialects/words.ts'
import {first, outside, repeated, type StrictDialect, type StrictRule, unknownMember, when} from './rule.ts'
import {schemasIn} from './schema.ts'

const API = 'ai.google.dev/api, generateContent'
const SCHEMA = 'ai.google.dev/api/caching#Schema; @google/genai, Schema'
const SDK = '@google/genai, FunctionDeclaration'
/** Words of a schema; another is an unknown name and is refused. */
const WORDS = `type format title description nullable enum maxItems minItems properties required minProperties
  maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum`
const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/
const APPLICATIONS = 'pdf json rtf xml x-javascript x-python x-typescript'.split(' ').join('|')
const IMAGES = 'png|jpeg|webp|heic|heif'
const TYPES = new RegExp(`^(?:image/(?:${IMAGES})|(?:audio|video|text)/.+|application/(?:${APPLICATIONS}))$`)

const turnsOf = (body: Json) => list(body.contents)
const partsOf = (turn: Json | undefined) => list(turn?.parts)
const allParts = (body: Json) => turnsOf(body).flatMap(partsOf)
const of = (parts: readonly Json[], kind: string) =>
  parts.filter(part => part[kind] !== undefined).map(part => object(part[kind]))
const configOf = (body: Json) => object(body.generationConfig)
const declarations = (body: Json) => list(body.tools).flatMap(tool => list(tool.functionDeclarations))
const generation = (model: string) => Number(/gemini-(\d+)/.exec(model)?.[1] ?? 0)

function schemasOf(body: Json): readonly (readonly [string, Json])[] {
  return [...declarations(body).map(({parameters}) => parameters), configOf(body).responseSchema].flatMap(schema =>
    schemasIn(schema),
  )
}

const ask = {role: 'user', parts: [{text: 'Read it.'}]}
const use = (name: string, more: Json = {}) => ({functionCall: {name, args: {}, ...more}})
const result = (name: string) => ({functionResponse: {name, response: {output: 'one'}}})
const replied = (...parts: Json[]) => ({role: 'model', parts})
const asked = (...parts: Json[]) => ({role: 'user', parts})
const tools = (...functionDeclarations: Json[]) => ({tools: [{functionDeclarations}]})
const typed = (property: Json) => tools({name: 'read', parameters: {type: 'object', properties: {a: property}}})

export const geminiRules: readonly StrictRule[] = [
  {
    id: 'contents',
    source: `${API}, contents: required; "contents is not specified"`,
    finds: body => when(turnsOf(body).length === 0, 'contents is empty'),
    bad: {contents: []},
  },
  {
    id: 'roles',
    source: 'ai.google.dev/api/caching#Content, role: must be either user or model',
    finds: body =>
      first(turnsOf(body), ({role}) => when(role !== 'user' && role !== 'model', `the role ${String(role)}`)),
    bad: {contents: [{role: 'assistant', parts: [{text: 'x'}]}]},
  },
  {
    id: 'parts',
    source: `${API}: "contents.parts must not be empty"`,
    finds: body =>
      first(turnsOf(body), (turn, at) => when(partsOf(turn).length === 0, `contents[${at}] is empty`)) ??
      first(allParts(body), part => when(part.text === '' && !part.thoughtSignature, 'an empty text')),
    bad: {contents: [{role: 'user', parts: []}]},
  },
  {
    id: 'place of calls',
    source: 'google-gemini/gemini-cli#26486: "function call turn comes immediately after a user turn"',
    finds: body =>
      first(turnsOf(body), (turn, at) =>
        when(
          of(partsOf(turn), 'functionCall').length > 0 && turnsOf(body)[at - 1]?.role !== 'user',
          `the calls of contents[${at}] follow no turn of the user`,
        ),
      ),
    bad: {contents: [replied(use('read')), asked(result('read'))]},
  },
  {
    id: 'count of results',
    source: 'google-gemini/gemini-cli#3814: "the number of function response parts is equal"',
    finds: body =>
      first(turnsOf(body), (turn, at) => {
        const calls = of(partsOf(turn), 'functionCall').length
        const results = of(partsOf(turnsOf(body)[at + 1]), 'functionResponse').length
        return when(calls > 0 && calls !== results, `${calls} calls and ${results} results after contents[${at}]`)
      }),
    bad: {contents: [ask, replied(use('read'), use('read')), asked(result('read'))]},
  },
  {
    id: 'place of results',
    source:
      'GoogleCloudPlatform/generative-ai#368: "function response turn comes immediately after a function call turn"',
    finds: body =>
      first(turnsOf(body), (turn, at) => {
        const names = of(partsOf(turnsOf(body)[at - 1]), 'functionCall').map(({name}) => name)
        const orphan = of(partsOf(turn), 'functionResponse').find(({name}) => !names.includes(name))
        return when(orphan !== undefined, `a result of ${String(orphan?.name)} that was not called before`)
      }),
    bad: {contents: [asked(result('read'))]},
  },
  {
    id: 'names of functions',
    source: `${SDK}, name: begins with a letter or underscore; letters, digits, _ . : -; at most 128`,
    finds: body =>
      first([...declarations(body), ...of(allParts(body), 'functionCall')], ({name}) =>
        when(!NAME.test(text(name)), `the function name ${String(name)}`),
      ),
    bad: tools({name: '9 lives'}),
  },
  {
    id: 'names are unique',
    source: 'Gemini API: "Duplicate function declaration found"; from memory, no public report of it was found',
    finds(body) {
      const twice = repeated(declarations(body).map(({name}) => text(name)))
      return when(twice !== undefined, `two functions have the name ${twice}`)
    },
    bad: tools({name: 'read'}, {name: 'read'}),
  },
  {
    id: 'words of schemas',
    source: `${SCHEMA}: "Invalid JSON payload received. Unknown name"`,
    finds: body => first(schemasOf(body), ([place, schema]) => unknownMember(schema, WORDS, place)),
    bad: typed({type: 'string', additionalProperties: false}),
  },
  {
    id: 'values of enum',
    source: 'decolua/9router#359: "enum only allowed for STRING type"; microsoft/azure-devops-mcp#145: "(TYPE_STRING)"',
    finds: body =>
      first(schemasOf(body), ([place, schema]) => {
        if (schema.enum === undefined) return null
        const values = (Array.isArray(schema.enum) ? schema.enum : []) as unknown[]
        return (
          when(text(schema.type).toLowerCase() !== 'string', `${place} has an enum without the type string`) ??
          when(!values.every(value => typeof value === 'string'), `${place} has an enum of other values`) ??
          when(values.includes('') || values.length === 0, `${place} has an empty value in its enum`)
        )
      }),
    bad: typed({enum: ['a']}),
  },
  {
    id: 'items',
    source: 'anomalyco/opencode#49392: "items: missing field"',
    finds: body =>
      first(schemasOf(body), ([place, schema]) =>
        when(text(schema.type).toLowerCase() === 'array' && schema.items === undefined, `${place} has no items`),
      ),
    bad: typed({type: 'array'}),
  },
  {
    id: 'properties of objects',
    source:
      'anomalyco/opencode#43495: "properties: only allowed for OBJECT type"; "should be non-empty for OBJECT type"',
    finds: body =>
      first(schemasOf(body), ([place, {type, properties}]) => {
        if (properties === undefined) return null
        return (
          when(text(type).toLowerCase() !== 'object', `${place} has properties and another type`) ??
          when(Object.keys(object(properties)).length === 0, `${place} has empty properties`)
        )
      }),
    bad: typed({type: 'object', properties: {}}),
  },
  {
    id: 'alternatives stand alone',
    source: 'anomalyco/opencode#14788: "When using anyOf, it must be the only field set" (Vertex AI)',
    finds: body =>
      first(schemasOf(body), ([place, schema]) =>
        when(
          schema.anyOf !== undefined && (schema.properties ?? schema.items ?? schema.enum) !== undefined,
          `${place} has more than anyOf`,
        ),
      ),
    bad: typed({type: 'array', items: {type: 'string'}, anyOf: [{type: 'array', items: {type: 'string'}}]}),
  },
  {
    id: 'required',
    source: 'iBUHub/AIStudioToAPI#154: "parameters.required[0]: property is not defined"',
    finds: body =>
      first(schemasOf(body), ([place, schema]) => {
        const names = Object.keys(object(schema.properties))
        const required = (Array.isArray(schema.required) ? schema.required : []) as string[]
        const missing = required.find(name => !names.includes(name))
        return when(missing !== undefined, `${place} requires ${missing}, which it does not describe`)
      }),
    bad: tools({name: 'read', parameters: {type: 'object', properties: {a: {type: 'string'}}, required: ['b']}}),
  },
  {
    id: 'formats of texts',
    source: "hideya/langchain-mcp-tools-ts#36: \"only 'enum' and 'date-time' are supported for STRING type\"",
    finds: body =>
      first(schemasOf(body), ([place, {type, format}]) =>
        when(
          text(type).toLowerCase() === 'string' && format !== undefined && format !== 'enum' && format !== 'date-time',
          `${place} has the format ${String(format)}`,
        ),
      ),
    bad: typed({type: 'string', format: 'uri'}),
  },
  {
    id: 'choice of functions',
    source: 'ai.google.dev/gemini-api/docs/function-calling, modes: allowedFunctionNames with ANY, VALIDATED',
    finds(body) {
      const {mode, allowedFunctionNames} = object(object(body.toolConfig).functionCallingConfig)
      const names = declarations(body).map(({name}) => name)
      if (mode === undefined) return null
      const unknown = ((allowedFunctionNames ?? []) as string[]).find(name => !names.includes(name))
      return (
        when(names.length === 0, 'a choice without functions') ??
        when(unknown !== undefined, `${unknown} is not declared`) ??
        when(allowedFunctionNames !== undefined && mode !== 'ANY' && mode !== 'VALIDATED', `names with ${String(mode)}`)
      )
    },
    bad: {toolConfig: {functionCallingConfig: {mode: 'ANY', allowedFunctionNames: ['write']}}},
  },
  {
    id: 'stopSequences',
    source: 'ai.google.dev/api/generate-content#GenerationConfig, stopSequences: up to 5; an empty one is refused',
    finds(body) {
      const all = (configOf(body).stopSequences ?? []) as unknown[]
      return when(all.length > 5, `${all.length} stop sequences`) ?? when(all.includes(''), 'an empty stop sequence')
    },
    bad: {generationConfig: {stopSequences: ['a', 'b', 'c', 'd', 'e', 'f']}},
  },
  {
    id: 'sampling',
    source: 'ai.google.dev/api/generate-content#GenerationConfig: temperature to 2.0, topP to 1',
    finds: body =>
      outside(configOf(body).temperature, 0, 2, 'temperature') ??
      outside(configOf(body).topP, 0, 1, 'topP') ??
      outside(configOf(body).maxOutputTokens, 1, Number.MAX_SAFE_INTEGER, 'maxOutputTokens'),
    bad: {generationConfig: {temperature: 2.5}},
  },
  {
    id: 'types of files',
    source: 'google/adk-python#5693, microsoft/vscode#286628 (no GIF), ogkalu2/comic-translate#399 (no image/jpg)',
    finds: body =>
      first([...of(allParts(body), 'inlineData'), ...of(allParts(body), 'fileData')], ({mimeType}) =>
        when(mimeType !== undefined && !TYPES.test(text(mimeType)), `the type ${String(mimeType)}`),
      ),
    bad: {contents: [asked({inlineData: {mimeType: 'image/svg+xml', data: 'PHN2Zy8+'}})]},
  },
  {
    id: 'systemInstruction',
    source: `${API}, systemInstruction: currently, text only`,
    finds: body =>
      first(list(object(body.systemInstruction).parts), part =>
        when(typeof part.text !== 'string' || part.text === '', 'something else than text in systemInstruction'),
      ),
    bad: {systemInstruction: {parts: [{inlineData: {mimeType: 'image/png', data: 'iVBORw0KGgo='}}]}},
  },
  {
    id: 'signatures',
    source: 'ai.google.dev/gemini-api/docs/thought-signatures: needed from Gemini 3 on',
    finds: (body, model) =>
      first(turnsOf(body), turn => {
        const call = partsOf(turn).find(part => part.functionCall !== undefined)
        return when(
          generation(model) >= 3 && call !== undefined && !call.thoughtSignature,
          'a call without its signature',
        )
      }),
    bad: {contents: [ask, replied(use('read')), asked(result('read'))]},
    bad_model: 'gemini-3-pro-preview',
  },
  {
    id: 'JSON beside functions',
    source:
      'googleapis/python-genai#867: "Function calling with a response mime type: \'application/json\' is unsupported"',
    finds: (body, model) =>
      when(
        generation(model) < 3 &&
          configOf(body).responseMimeType === 'application/json' &&
          declarations(body).length > 0,
        'functions and a JSON answer',
      ),
    bad: {generationConfig: {responseMimeType: 'application/json'}},
  },
]

export const geminiStrict: StrictDialect = {
  name: 'gemini',
  model: 'gemini-2.5-flash',
  good: {
    systemInstruction: {parts: [{text: 'Be brief.'}]},
    contents: [
      asked({text: 'Read both.'}, {inlineData: {mimeType: 'image/png', data: 'iVBORw0KGgo='}}),
      replied({text: 'I look.'}, use('read'), use('read')),
      asked(result('read'), result('read')),
      asked({text: 'And?'}),
    ],
    ...tools({
      name: 'read',
      parameters: {
        type: 'object',
        properties: {
          a: {type: 'string', enum: ['x']},
          b: {type: 'array', items: {type: 'string', format: 'date-time'}},
        },
        required: ['a'],
      },
    }),
    toolConfig: {functionCallingConfig: {mode: 'ANY', allowedFunctionNames: ['read']}},
    generationConfig: {temperature: 1, stopSequences: ['END'], maxOutputTokens: 512},
  },
  rules: geminiRules,
}
