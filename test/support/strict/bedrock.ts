import type {Json} from '../../../src/providers/translation.ts'
import {list, object, text} from '../dialects/words.ts'
import {first, outside, repeated, type StrictDialect, type StrictRule, when} from './rule.ts'
import {isRecursive, schemasIn} from './schema.ts'

const MESSAGE = 'Amazon Bedrock API reference, Message, content'
const SPEC = 'Amazon Bedrock API reference, ToolSpecification'
const CLAUDE = 'Amazon Bedrock user guide, Structured outputs: the JSON schema subset of Anthropic Claude'
const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const IMAGES = new Set(['png', 'jpeg', 'gif', 'webp'])
const DOCUMENTS = new Set(['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'])
const LIMITS = 'minimum maximum multipleOf minLength maxLength maxItems'.split(' ')

const turnsOf = (body: Json) => list(body.messages)
const of = (blocks: readonly Json[], kind: string) =>
  blocks.filter(block => block[kind] !== undefined).map(block => object(block[kind]))
const allBlocks = (body: Json) => turnsOf(body).flatMap(({content}) => list(content))
const withResults = (blocks: readonly Json[]) => [
  ...blocks,
  ...of(blocks, 'toolResult').flatMap(({content}) => list(content)),
]
const toolsOf = (body: Json) => of(list(object(body.toolConfig).tools), 'toolSpec')
const configOf = (body: Json) => object(body.inferenceConfig)
const isClaude = (model: string) => model.includes('anthropic.')

function schemaOf(body: Json): Json {
  const {jsonSchema} = object(object(object(body.outputConfig).textFormat).structure)
  const {schema} = object(jsonSchema)
  return typeof schema === 'string' ? (JSON.parse(schema) as Json) : {}
}

const ask = {role: 'user', content: [{text: 'Read it.'}]}
const use = (toolUseId: string, name = 'read') => ({toolUse: {toolUseId, name, input: {}}})
const result = (toolUseId: string) => ({toolResult: {toolUseId, content: [{text: 'one'}]}})
const replied = (...content: Json[]) => ({role: 'assistant', content})
const asked = (...content: Json[]) => ({role: 'user', content})
const spec = (more: Json = {}) => ({
  toolSpec: {name: 'read', description: 'Reads.', inputSchema: {json: {type: 'object', properties: {}}}, ...more},
})
const tools = (...all: Json[]) => ({toolConfig: {tools: all}})
const image = {image: {format: 'png', source: {bytes: 'iVBORw0KGgo='}}}
const paper = (name: string) => ({document: {format: 'pdf', name, source: {bytes: 'JVBERi0='}}})
const formatted = (schema: Json) => ({
  outputConfig: {textFormat: {type: 'json_schema', structure: {jsonSchema: {schema: JSON.stringify(schema)}}}},
})
const many = (count: number, make: (at: number) => Json) => Array.from({length: count}, (_, at) => make(at))

const rules: readonly StrictRule[] = [
  {
    id: 'begins with the user',
    source: 'langgenius/dify#12340: "A conversation must start with a user message."',
    finds: body => when(turnsOf(body)[0]?.role !== 'user', 'the conversation does not begin with a user message'),
    bad: {messages: [replied({text: 'Hello.'}), ask]},
  },
  {
    id: 'turns alternate',
    source: 'langchain-ai/langchainjs#6724: "A conversation must alternate between user and assistant roles."',
    finds: body =>
      first(turnsOf(body), ({role}, at) =>
        when(role === turnsOf(body)[at - 1]?.role, `messages[${at}] is another ${String(role)}`),
      ),
    bad: {messages: [ask, ask]},
  },
  {
    id: 'content',
    source: 'Amazon Bedrock API reference, Message, content: required, at least one block',
    finds: body =>
      first(turnsOf(body), ({content}, at) => when(list(content).length === 0, `messages[${at}] is empty`)),
    bad: {messages: [{role: 'user', content: []}]},
  },
  {
    id: 'texts',
    source: 'NousResearch/hermes-agent#55092: "text content blocks must be non-empty"; "The text field ... is blank"',
    finds: body =>
      first([...withResults(allBlocks(body)), ...list(body.system)], block =>
        when(typeof block.text === 'string' && block.text.trim() === '', 'a text is blank'),
      ),
    bad: {messages: [asked({text: ' '})]},
  },
  {
    id: 'tools of the history',
    source: 'patriceckhart/zot#18: "toolConfig field must be defined when using toolUse and toolResult content blocks"',
    finds: body =>
      when(
        body.toolConfig === undefined && allBlocks(body).some(block => block.toolUse ?? block.toolResult),
        'calls without toolConfig',
      ),
    bad: {toolConfig: undefined},
  },
  {
    id: 'ids of calls',
    source: 'Amazon Bedrock API reference, ToolUseBlock, toolUseId: 1 to 64 of [a-zA-Z0-9_-]',
    finds: body =>
      first([...of(allBlocks(body), 'toolUse'), ...of(allBlocks(body), 'toolResult')], ({toolUseId}) =>
        when(!NAME.test(text(toolUseId)), `the id ${String(toolUseId)}`),
      ),
    bad: {messages: [ask, replied(use('functions.read:0')), asked(result('functions.read:0'))]},
  },
  {
    id: 'calls are answered',
    source: 'strands-agents/harness-sdk#120: toolUse is immediately followed by its toolResult',
    finds: body =>
      first(turnsOf(body), ({content}, at) => {
        const results = of(list(turnsOf(body)[at + 1]?.content), 'toolResult').map(({toolUseId}) => toolUseId)
        const open = of(list(content), 'toolUse').find(({toolUseId}) => !results.includes(toolUseId))
        return when(open !== undefined, `the call ${String(open?.toolUseId)} has no result in the next turn`)
      }),
    bad: {messages: [ask, replied(use('a'), use('b')), asked(result('a'))]},
  },
  {
    id: 'results answer calls',
    source: 'langgenius/dify-official-plugins#765: "The number of toolResult blocks ... exceeds"',
    finds: body =>
      first(turnsOf(body), ({content}, at) => {
        const calls = of(list(turnsOf(body)[at - 1]?.content), 'toolUse').map(({toolUseId}) => toolUseId)
        const results = of(list(content), 'toolResult')
        const orphan = results.find(({toolUseId}) => !calls.includes(toolUseId))
        return when(orphan !== undefined || results.length > calls.length, `more results than calls in messages[${at}]`)
      }),
    bad: {messages: [asked(result('a'))]},
  },
  {
    id: 'results say something',
    source: 'aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15: "cannot be empty"',
    finds: body =>
      first(of(allBlocks(body), 'toolResult'), ({content, status}) =>
        when(!Array.isArray(content) || (status === 'error' && content.length === 0), 'a failed result is empty'),
      ),
    bad: {messages: [ask, replied(use('a')), asked({toolResult: {toolUseId: 'a', content: [], status: 'error'}})]},
  },
  {
    id: 'names of tools',
    source: `${SPEC}, name: 1 to 64 of [a-zA-Z0-9_-]`,
    finds: body =>
      first([...toolsOf(body), ...of(allBlocks(body), 'toolUse')], ({name}) =>
        when(!NAME.test(text(name)), `the tool name ${String(name)}`),
      ),
    bad: tools(spec({name: 'files.read'})),
  },
  {
    id: 'description of tools',
    source: `${SPEC}, description: minimum length of 1`,
    finds: body => first(toolsOf(body), ({description}) => when(description === '', 'an empty description')),
    bad: tools(spec({description: ''})),
  },
  {
    id: 'schema of tools',
    source:
      'Bedrock: "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object."',
    finds: body =>
      first(toolsOf(body), ({inputSchema}) =>
        when(object(object(inputSchema).json).type !== 'object', 'an inputSchema whose type is not object'),
      ),
    bad: tools(spec({inputSchema: {json: {}}})),
  },
  {
    id: 'some tools',
    source: 'Amazon Bedrock API reference, ToolConfiguration, tools: minimum number of 1 item',
    finds: ({toolConfig}) => when(toolConfig !== undefined && list(object(toolConfig).tools).length === 0, 'no tools'),
    bad: {messages: [ask], ...tools()},
  },
  {
    id: 'toolChoice',
    source: 'Amazon Bedrock API reference, SpecificToolChoice, name: the name of the tool that the model must request',
    finds(body) {
      const {name} = object(object(object(body.toolConfig).toolChoice).tool)
      return when(
        name !== undefined && !toolsOf(body).some(tool => tool.name === name),
        `toolChoice names ${String(name)}`,
      )
    },
    bad: {toolConfig: {tools: [spec()], toolChoice: {tool: {name: 'write'}}}},
  },
  {
    id: 'names of documents',
    source:
      'Amazon Bedrock API reference, DocumentBlock, name: letters, digits, single spaces, hyphens, brackets; 1 to 200',
    finds: body =>
      first(of(withResults(allBlocks(body)), 'document'), ({name}) =>
        when(
          !/^[A-Za-z0-9()[\]-]+(?: [A-Za-z0-9()[\]-]+)*$/.test(text(name)) || text(name).length > 200,
          `the name ${String(name)}`,
        ),
      ),
    bad: {messages: [asked({text: 'x'}, paper('report.pdf'))]},
  },
  {
    id: 'names of documents differ',
    source: 'Bedrock: "Your request contains multiple documents with the same name"',
    finds(body) {
      const twice = repeated(of(withResults(allBlocks(body)), 'document').map(({name}) => text(name)))
      return when(twice !== undefined, `two documents are named ${twice}`)
    },
    bad: {messages: [asked({text: 'x'}, paper('a'), paper('a'))]},
  },
  {
    id: 'documents with text',
    source: `${MESSAGE}: a block with a document needs a block with a text beside it`,
    finds: body =>
      first(turnsOf(body), ({content}) =>
        when(
          list(content).some(block => block.document) && !list(content).some(block => typeof block.text === 'string'),
          'a document without a text',
        ),
      ),
    bad: {messages: [asked(paper('a'))]},
  },
  {
    id: 'count of pictures',
    source: `${MESSAGE}: up to 20 images`,
    finds: body =>
      first(turnsOf(body), ({content}) => when(of(list(content), 'image').length > 20, 'more than 20 images')),
    bad: {messages: [asked(...many(21, () => image))]},
  },
  {
    id: 'count of documents',
    source: `${MESSAGE}: up to five documents`,
    finds: body =>
      first(turnsOf(body), ({content}) => when(of(list(content), 'document').length > 5, 'more than 5 documents')),
    bad: {messages: [asked({text: 'x'}, ...many(6, at => paper(`a${at}`)))]},
  },
  {
    id: 'files of the user',
    source: `${MESSAGE}: images and documents only if the role is user`,
    finds: body =>
      first(turnsOf(body), ({role, content}) =>
        when(role !== 'user' && list(content).some(block => block.image ?? block.document), 'a file of the assistant'),
      ),
    bad: {messages: [ask, replied({text: 'x'}, image), ask]},
  },
  {
    id: 'formats',
    source: 'Amazon Bedrock API reference, ImageBlock and DocumentBlock, format: valid values',
    finds(body) {
      const blocks = withResults(allBlocks(body))
      return (
        first(of(blocks, 'image'), ({format}) =>
          when(!IMAGES.has(text(format)), `the image format ${String(format)}`),
        ) ??
        first(of(blocks, 'document'), ({format}) => when(!DOCUMENTS.has(text(format)), `the format ${String(format)}`))
      )
    },
    bad: {messages: [asked({image: {format: 'bmp', source: {bytes: 'Qk0='}}})]},
  },
  {
    id: 'stopSequences',
    source: 'Amazon Bedrock API reference, InferenceConfiguration, stopSequences: at most 2500, minimum length of 1',
    finds: body =>
      first((configOf(body).stopSequences ?? []) as string[], each => when(each === '', 'an empty stop sequence')) ??
      when(list(configOf(body).stopSequences).length > 2500, 'more than 2500 stop sequences'),
    bad: {inferenceConfig: {stopSequences: ['']}},
  },
  {
    id: 'stopSequences of Claude',
    source: 'BerriAI/litellm#3286: "stop_sequences: each stop sequence must contain non-whitespace"',
    finds: (body, model) =>
      first((configOf(body).stopSequences ?? []) as string[], each =>
        when(isClaude(model) && each.trim() === '', 'a blank stop sequence'),
      ),
    bad: {inferenceConfig: {stopSequences: ['\n']}},
    bad_model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  },
  {
    id: 'inferenceConfig',
    source:
      'Amazon Bedrock API reference, InferenceConfiguration: temperature and topP from 0 to 1, maxTokens at least 1',
    finds: body =>
      outside(configOf(body).temperature, 0, 1, 'temperature') ??
      outside(configOf(body).topP, 0, 1, 'topP') ??
      outside(configOf(body).maxTokens, 1, Number.MAX_SAFE_INTEGER, 'maxTokens'),
    bad: {inferenceConfig: {temperature: 1.4}},
  },
  {
    id: 'schema for Claude',
    source: CLAUDE,
    finds(body, model) {
      if (!isClaude(model)) return null
      const schema = schemaOf(body)
      return (
        first(schemasIn(schema), ([place, each]) => {
          const word = LIMITS.find(limit => each[limit] !== undefined)
          return (
            when(word !== undefined, `${place} has ${word}`) ??
            when(each.type === 'object' && each.additionalProperties !== false, `${place} is open`)
          )
        }) ?? when(isRecursive(schema), 'it is recursive')
      )
    },
    bad: formatted({type: 'object', properties: {a: {type: 'integer', minimum: 1}}}),
    bad_model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  },
]

export const bedrockStrict: StrictDialect = {
  name: 'bedrock',
  model: 'amazon.nova-pro-v1:0',
  good: {
    system: [{text: 'Be brief.'}],
    messages: [
      asked({text: 'Read both.'}, image, paper('report 1')),
      replied({text: 'I look.'}, use('call_1'), use('call_2')),
      asked(result('call_1'), result('call_2'), {text: 'And?'}),
    ],
    ...tools(spec()),
    inferenceConfig: {maxTokens: 512, temperature: 0.5, stopSequences: ['END', '\n']},
    ...formatted({type: 'object', properties: {a: {type: 'string'}}, additionalProperties: false}),
  },
  rules,
}
