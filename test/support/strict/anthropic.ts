import type {Json} from '../../../src/providers/translation.ts'
import {list, object, text} from '../dialects/words.ts'
import {first, outside, repeated, type StrictDialect, type StrictRule, unknownMember, when} from './rule.ts'
import {isRecursive, schemasIn} from './schema.ts'

const API = 'platform.claude.com/docs, API reference, Create a Message'
const TOOLS = 'platform.claude.com/docs, Tool use, Implement tool use'
const STRUCTURED = 'platform.claude.com/docs, Structured outputs, JSON Schema limitations'
const THINKING = 'platform.claude.com/docs, Extended thinking, Feature compatibility'
const KNOWN = `model max_tokens messages system tools tool_choice output_config metadata service_tier stop_sequences
  stream temperature top_k top_p thinking container context_management mcp_servers cache_control inference_geo speed
  anthropic_version anthropic_beta`
const ID = /^[a-zA-Z0-9_-]+$/
const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const KEY = /^[a-zA-Z0-9_.-]{1,64}$/
const IMAGES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])
const LIMITS = `minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems
  minProperties maxProperties`.split(/\s+/)

const turnsOf = (body: Json) => list(body.messages)
/** Blocks of a turn, whose content may be one text. */
const blocksOf = ({content}: Json): readonly Json[] =>
  typeof content === 'string' ? [{type: 'text', text: content}] : list(content)
const allBlocks = (body: Json) => turnsOf(body).flatMap(blocksOf)
const within = (blocks: readonly Json[]) => blocks.flatMap(block => [block, ...list(block.content)])
const of = (blocks: readonly Json[], type: string) => blocks.filter(block => block.type === type)
const ownTools = (body: Json) => list(body.tools).filter(({type}) => type === undefined || type === 'custom')
const formatOf = (body: Json) => object(object(body.output_config).format).schema
const thinks = (body: Json) => ['enabled', 'adaptive'].includes(text(object(body.thinking).type))
/** 407 for Claude 4.7. */
function versionOf(model: string): number {
  const [, major, minor] = /claude-(?:[a-z]+-)?(\d{1,2})(?:-(\d{1,2}))?(?!\d)/.exec(model) ?? []
  return Number(major ?? 0) * 100 + Number(minor ?? 0)
}
const isBlank = (value: unknown) => text(value).trim() === ''

const tool = {name: 'read', input_schema: {type: 'object', properties: {path: {type: 'string'}}}}
const ask = {role: 'user', content: [{type: 'text', text: 'Read it.'}]}
const use = (id: string) => ({type: 'tool_use', id, name: 'read', input: {path: 'a'}})
const result = (tool_use_id: string) => ({type: 'tool_result', tool_use_id, content: 'one'})
const called = (...ids: string[]) => ({role: 'assistant', content: ids.map(use)})
const answered = (...content: Json[]) => ({role: 'user', content})
const closed = (property: Json): Json => ({
  type: 'object',
  properties: {a: property},
  required: ['a'],
  additionalProperties: false,
})
const formatted = (schema: Json) => ({output_config: {format: {type: 'json_schema', schema}}})
const marked = (at: number) => ({type: 'text', text: `part ${at}`, cache_control: {type: 'ephemeral'}})

const rules: readonly StrictRule[] = [
  {
    id: 'known members',
    source: `${API}, body; the SDK's MessageCreateParams ("Extra inputs are not permitted")`,
    finds: body => unknownMember(body, KNOWN, 'the body'),
    bad: {presence_penalty: 1},
  },
  {
    id: 'max_tokens',
    source: `${API}, max_tokens: required`,
    finds: ({max_tokens}) => when(!Number.isSafeInteger(max_tokens), 'max_tokens is needed'),
    bad: {max_tokens: undefined},
  },
  {
    id: 'roles',
    source: `${API}, messages: an object with role and content, user or assistant`,
    finds: body =>
      when(turnsOf(body).length === 0, 'messages is empty') ??
      first(turnsOf(body), ({role}) => when(role !== 'user' && role !== 'assistant', `the role ${String(role)}`)),
    bad: {messages: [{role: 'system', content: 'x'}]},
  },
  {
    id: 'content',
    source: 'anthropics: "all messages must have non-empty content except for the optional final assistant message"',
    finds: body => first(turnsOf(body), (turn, at) => when(blocksOf(turn).length === 0, `messages[${at}] is empty`)),
    bad: {messages: [{role: 'user', content: []}]},
  },
  {
    id: 'texts',
    source: 'aliasrobotics/cai#182: "messages: text content blocks must be non-empty"',
    finds: body =>
      first(of([...within(allBlocks(body)), ...list(body.system)], 'text'), block =>
        when(isBlank(block.text), 'a text block is blank'),
      ),
    bad: {messages: [{role: 'user', content: [{type: 'text', text: ' '}]}]},
  },
  {
    id: 'end of a prefill',
    source: 'langchain-ai/langchain#35071: "final assistant content cannot end with trailing whitespace"',
    finds(body) {
      const last = turnsOf(body).at(-1)
      const block = last?.role === 'assistant' ? blocksOf(last).at(-1) : undefined
      return when(block?.type === 'text' && /\s$/.test(text(block.text)), 'the prefill ends with white space')
    },
    bad: {messages: [ask, {role: 'assistant', content: [{type: 'text', text: 'It is '}]}]},
  },
  {
    id: 'ids of calls',
    source: 'platform.claude.com/docs, errors: "tool_use.id: String should match pattern \'^[a-zA-Z0-9_-]+$\'"',
    finds: body =>
      first(of(allBlocks(body), 'tool_use'), ({id}) => when(!ID.test(text(id)), `the id ${String(id)} of a call`)),
    bad: {messages: [ask, called('functions.read:0'), answered(result('functions.read:0'))]},
  },
  {
    id: 'ids are unique',
    source: 'anthropics/claude-code: "messages: `tool_use` ids must be unique"',
    finds(body) {
      const twice = repeated(of(allBlocks(body), 'tool_use').map(({id}) => text(id)))
      return when(twice !== undefined, `two calls have the id ${twice}`)
    },
    bad: {messages: [ask, called('a'), answered(result('a')), called('a'), answered(result('a'))]},
  },
  {
    id: 'calls are answered',
    source: 'anthropics/claude-code#1237: "`tool_use` ids were found without `tool_result` blocks immediately after"',
    finds: body =>
      first(turnsOf(body), (turn, at) => {
        const results = of(blocksOf(turnsOf(body)[at + 1] ?? {}), 'tool_result').map(({tool_use_id}) => tool_use_id)
        const open = of(blocksOf(turn), 'tool_use').find(({id}) => !results.includes(id))
        return when(open !== undefined, `the call ${String(open?.id)} has no result in the next turn`)
      }),
    bad: {messages: [ask, called('a', 'b'), answered(result('a'))]},
  },
  {
    id: 'results answer calls',
    source: 'decocms/studio#1803: "unexpected `tool_use_id` found in `tool_result` blocks"',
    finds: body =>
      first(turnsOf(body), (turn, at) => {
        const calls = of(blocksOf(turnsOf(body)[at - 1] ?? {}), 'tool_use').map(({id}) => id)
        const orphan = of(blocksOf(turn), 'tool_result').find(({tool_use_id}) => !calls.includes(tool_use_id))
        return when(
          orphan !== undefined,
          `a result of ${String(orphan?.tool_use_id)}, which the turn before did not call`,
        )
      }),
    bad: {messages: [answered(result('a'))]},
  },
  {
    id: 'results come first',
    source: `${TOOLS}, handling results: tool_result blocks come first in the content array`,
    finds: body =>
      first(turnsOf(body), turn => {
        const blocks = blocksOf(turn)
        const last = blocks.findLastIndex(({type}) => type === 'tool_result')
        return when(
          blocks.slice(0, last + 1).some(({type}) => type !== 'tool_result'),
          'something comes before a tool_result',
        )
      }),
    bad: {messages: [ask, called('a'), answered({type: 'text', text: 'x'}, result('a'))]},
  },
  {
    id: 'names of tools',
    source: `${TOOLS}, name: must match the regex ^[a-zA-Z0-9_-]{1,64}$`,
    finds: body =>
      first([...ownTools(body), ...of(allBlocks(body), 'tool_use')], ({name}) =>
        when(!NAME.test(text(name)), `the tool name ${String(name)}`),
      ),
    bad: {tools: [{...tool, name: 'files.read'}]},
  },
  {
    id: 'names are unique',
    source: 'danny-avila/LibreChat#13162: "tools: Tool names must be unique."',
    finds(body) {
      const twice = repeated(list(body.tools).map(({name}) => text(name)))
      return when(twice !== undefined, `two tools have the name ${twice}`)
    },
    bad: {tools: [tool, tool]},
  },
  {
    id: 'input_schema',
    source: `${API}, tools.input_schema.type: "object", required`,
    finds: body =>
      first(ownTools(body), ({input_schema}) =>
        when(object(input_schema).type !== 'object', 'an input_schema is no object'),
      ),
    bad: {tools: [{name: 'read', input_schema: {properties: {}}}]},
  },
  {
    id: 'top of input_schema',
    source: 'Hmbown/Codewhale#4329: "input_schema does not support oneOf, allOf, or anyOf at the top level"',
    finds: body =>
      first(ownTools(body), ({input_schema}) =>
        when(
          ['oneOf', 'allOf', 'anyOf'].some(word => object(input_schema)[word] !== undefined),
          'an input_schema has alternatives at its top',
        ),
      ),
    bad: {tools: [{...tool, input_schema: {type: 'object', anyOf: [{required: ['a']}]}}]},
  },
  {
    id: 'keys of input_schema',
    source: 'anthropics/claude-code#79418: "Property keys should match pattern \'^[a-zA-Z0-9_.-]{1,64}$\'"',
    finds: body =>
      first(ownTools(body), ({input_schema}) => {
        const key = Object.keys(object(object(input_schema).properties)).find(name => !KEY.test(name))
        return when(key !== undefined, `the property key ${key}`)
      }),
    bad: {tools: [{...tool, input_schema: {type: 'object', properties: {'filters[]': {type: 'string'}}}}]},
  },
  {
    id: 'tool_choice',
    source: `${API}, tool_choice.name: the name of the tool to use; no choice without tools`,
    finds({tools, tool_choice}) {
      const {type, name} = object(tool_choice)
      const names = list(tools).map(each => each.name)
      if (type === undefined || type === 'none') return null
      return (
        when(names.length === 0, 'tool_choice without tools') ??
        when(type === 'tool' && !names.includes(name), `tool_choice names ${String(name)}`)
      )
    },
    bad: {tool_choice: {type: 'tool', name: 'write'}},
  },
  {
    id: 'stop_sequences',
    source: 'BerriAI/litellm#3286: "stop_sequences: each stop sequence must contain non-whitespace"',
    finds: ({stop_sequences}) =>
      first((stop_sequences ?? []) as string[], each => when(isBlank(each), 'a stop sequence is blank')),
    bad: {stop_sequences: ['\n']},
  },
  {
    id: 'closed objects',
    source: `${STRUCTURED}: additionalProperties must be false for objects`,
    finds: body =>
      first(schemasIn(formatOf(body)), ([place, schema]) =>
        when(schema.type === 'object' && schema.additionalProperties !== false, `${place} is open`),
      ),
    bad: formatted({type: 'object', properties: {}}),
  },
  {
    id: 'limits of values',
    source: `${STRUCTURED}; agentjido/req_llm#302: "property 'minimum' is not supported"`,
    finds: body =>
      first(schemasIn(formatOf(body)), ([place, schema]) => {
        const word = LIMITS.find(each => schema[each] !== undefined)
        return when(word !== undefined, `${place} has ${word}`)
      }),
    bad: formatted(closed({type: 'integer', minimum: 1})),
  },
  {
    id: 'minItems',
    source: `${STRUCTURED}: array constraints beyond minItems of 0 or 1`,
    finds: body =>
      first(schemasIn(formatOf(body)), ([place, {minItems}]) =>
        when(Number(minItems ?? 0) > 1, `${place} has minItems`),
      ),
    bad: formatted(closed({type: 'array', items: {type: 'string'}, minItems: 2})),
  },
  {
    id: 'references',
    source: `${STRUCTURED}: recursive schemas; external $ref`,
    finds(body) {
      const schema = object(formatOf(body))
      const refs = schemasIn(schema).map(([, {$ref}]) => $ref)
      const external = refs.find(ref => ref !== undefined && !text(ref).startsWith('#'))
      return (
        when(external !== undefined, `the reference ${String(external)}`) ??
        when(isRecursive(schema), 'it is recursive')
      )
    },
    bad: formatted({...closed({$ref: '#/$defs/node'}), $defs: {node: closed({$ref: '#/$defs/node'})}}),
  },
  {
    id: 'values of enum',
    source: `${STRUCTURED}: complex types within enums`,
    finds: body =>
      first(schemasIn(formatOf(body)), ([place, schema]) =>
        when(
          (Array.isArray(schema.enum) ? schema.enum : []).some(value => typeof value === 'object' && value !== null),
          `${place} has objects in its enum`,
        ),
      ),
    bad: formatted(closed({enum: [{a: 1}]})),
  },
  {
    id: 'pictures',
    source: `${API}, Base64ImageSource.media_type: image/jpeg, image/png, image/gif or image/webp`,
    finds: body =>
      first(of(within(allBlocks(body)), 'image'), ({source}) =>
        when(
          object(source).type === 'base64' && !IMAGES.has(text(object(source).media_type)),
          `a picture of ${String(object(source).media_type)}`,
        ),
      ),
    bad: {
      messages: [answered({type: 'image', source: {type: 'base64', media_type: 'image/svg+xml', data: 'PHN2Zy8+'}})],
    },
  },
  {
    id: 'cache marks',
    source: 'griffinmartin/opencode-claude-auth#121: "A maximum of 4 blocks with cache_control may be provided."',
    finds(body) {
      const blocks = [...list(body.system), ...list(body.tools), ...within(allBlocks(body))]
      const count = blocks.filter(({cache_control}) => cache_control !== undefined).length
      return when(count > 4, `${count} blocks with cache_control`)
    },
    bad: {messages: [answered(marked(1), marked(2), marked(3), marked(4), marked(5))]},
  },
  {
    id: 'budget of thinking',
    source: `${API}, thinking.budget_tokens: at least 1024 and less than max_tokens`,
    finds({thinking, max_tokens}) {
      const {type, budget_tokens} = object(thinking)
      return when(
        type === 'enabled' && !(Number(budget_tokens) >= 1024 && Number(budget_tokens) < Number(max_tokens)),
        `a budget of ${String(budget_tokens)} within ${String(max_tokens)}`,
      )
    },
    bad: {thinking: {type: 'enabled', budget_tokens: 4096}, max_tokens: 4096},
  },
  {
    id: 'forced tools while thinking',
    source: `${THINKING}: forced tool use is not compatible; Tool use: only auto and none`,
    finds: body =>
      when(
        thinks(body) && ['any', 'tool'].includes(text(object(body.tool_choice).type)),
        'a forced tool while thinking',
      ),
    bad: {thinking: {type: 'adaptive'}, tool_choice: {type: 'any'}},
  },
  {
    id: 'sampling while thinking',
    source: `${THINKING}: not compatible with temperature or top_k; top_p from 0.95 to 1`,
    finds: body =>
      when(
        thinks(body) &&
          (Number(body.temperature ?? 1) !== 1 || body.top_k !== undefined || Number(body.top_p ?? 1) < 0.95),
        'temperature, top_k or top_p while thinking',
      ),
    bad: {thinking: {type: 'adaptive'}, temperature: 0.2},
  },
  {
    id: 'prefill of Claude 4.6',
    source: 'platform.claude.com/docs, Migration guide: prefilling assistant messages returns a 400 error on 4.6',
    finds: (body, model) =>
      when(versionOf(model) >= 406 && turnsOf(body).at(-1)?.role === 'assistant', 'the last message is a prefill'),
    bad: {messages: [ask, {role: 'assistant', content: [{type: 'text', text: 'It is'}]}]},
    bad_model: 'claude-opus-4-6',
  },
  {
    id: 'sampling of Claude 4.7',
    source: 'Comfy-Org/ComfyUI#13923: "`temperature` is deprecated for this model."; Migration guide, Opus 4.7',
    finds: (body, model) =>
      first(['temperature', 'top_p', 'top_k'], name =>
        when(versionOf(model) >= 407 && body[name] !== undefined, `${name} is given`),
      ),
    bad: {temperature: 0.5},
    bad_model: 'claude-opus-4-7',
  },
  {
    id: 'temperature',
    source: `${API}, temperature: ranges from 0.0 to 1.0`,
    finds: ({temperature}) => outside(temperature, 0, 1, 'temperature'),
    bad: {temperature: 1.5},
  },
]

export const anthropicStrict: StrictDialect = {
  name: 'anthropic',
  model: 'claude-sonnet-4-5',
  good: {
    model: 'claude-sonnet-4-5',
    max_tokens: 8192,
    system: [{type: 'text', text: 'Be brief.', cache_control: {type: 'ephemeral'}}],
    messages: [
      answered(
        {type: 'text', text: 'Read it.'},
        {type: 'image', source: {type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo='}},
      ),
      {role: 'assistant', content: [{type: 'text', text: 'I look.'}, use('toolu_1'), use('toolu_2')]},
      answered(result('toolu_1'), result('toolu_2'), {type: 'text', text: 'And?'}),
    ],
    tools: [tool],
    tool_choice: {type: 'auto'},
    stop_sequences: ['END'],
    temperature: 0.5,
    ...formatted(closed({type: 'array', items: {type: 'string'}, minItems: 1})),
  },
  rules,
}
