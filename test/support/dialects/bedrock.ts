import type {Json} from '../../../src/providers/translation.ts'
import {eventFrame} from '../../providers/bedrock/frames.ts'
import {
  check,
  halves,
  list,
  object,
  onlyKnown,
  PROVIDER_KEY,
  type Said,
  type Turn,
  type TwinWords,
  text,
  texts,
} from './words.ts'

const MODEL = 'anthropic.claude-sonnet-4-20250514-v1:0'
const SIGNATURE = 'EqoBCkgIARABGAI='
const KNOWN = `messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields additionalModelResponseFieldPaths
  promptVariables requestMetadata performanceConfig`
const FINISH = {stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use'} as const
const ERRORS: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

/** Source: Amazon Bedrock API reference, Converse and ConverseStream; the event stream of Smithy. */
export const bedrockWords: TwinWords = {
  kind: 'bedrock',
  base: '',
  model: MODEL,
  auth: ['authorization', `Bearer ${PROVIDER_KEY}`],
  needs: {},
  thinks: true,
  signature: SIGNATURE,
  path: is_stream => `/model/${encodeURIComponent(MODEL)}/${is_stream ? 'converse-stream' : 'converse'}`,
  read(body) {
    onlyKnown(body, KNOWN)
    const {maxTokens} = object(body.inferenceConfig)
    const turns = list(body.messages).map(({role, content}) => {
      check(role === 'user' || role === 'assistant', `an unknown role ${String(role)}`)
      const blocks = list(content)
      for (const block of blocks) check(Object.keys(block).length === 1, 'a block with more than one member')
      const of = (kind: string) => blocks.filter(block => block[kind] !== undefined).map(block => object(block[kind]))
      return {
        role: role as Turn['role'],
        text: texts(blocks),
        thought: of('reasoningContent')
          .map(({reasoningText}) => {
            const {text: thought, signature} = object(reasoningText)
            check(signature === SIGNATURE, 'a thought has not the signature it was given')
            return text(thought)
          })
          .join(''),
        calls: of('toolUse').map(({toolUseId, name, input}) => ({
          id: text(toolUseId),
          name: text(name),
          arguments: object(input),
        })),
        results: of('toolResult').map(({toolUseId, content: said}) => [text(toolUseId), texts(said)] as const),
      }
    })
    for (const [at, turn] of turns.entries())
      check(turn.role === (at % 2 ? 'assistant' : 'user'), 'roles do not take turns')
    return {
      system: texts(body.system),
      turns,
      tools: list(object(body.toolConfig).tools).map(({toolSpec}) => {
        check(object(object(object(toolSpec).inputSchema).json).type === 'object', 'inputSchema.json is no object')
        return text(object(toolSpec).name)
      }),
      thinks: object(object(body.additionalModelRequestFields).thinking).type === 'enabled',
      max_tokens: typeof maxTokens === 'number' ? maxTokens : null,
    }
  },
  plain: said => ({
    output: {message: {role: 'assistant', content: blocks(said)}},
    stopReason: FINISH[said.finish],
    usage: usage(said),
    metrics: {latencyMs: 321},
  }),
  events: said => [
    eventFrame('messageStart', {role: 'assistant'}),
    ...blocks(said).flatMap((block, contentBlockIndex) => [
      ...(block.toolUse
        ? [
            eventFrame('contentBlockStart', {
              contentBlockIndex,
              start: {toolUse: {...object(block.toolUse), input: undefined}},
            }),
          ]
        : []),
      ...deltas(block).map(delta => eventFrame('contentBlockDelta', {contentBlockIndex, delta})),
      eventFrame('contentBlockStop', {contentBlockIndex}),
    ]),
    eventFrame('messageStop', {stopReason: FINISH[said.finish]}),
    eventFrame('metadata', {usage: usage(said), metrics: {latencyMs: 321}}),
  ],
  stream_type: 'application/vnd.amazon.eventstream',
  error: (status, message) => ({__type: ERRORS[status] ?? 'InternalServerException', message}),
}

const usage = ({input_tokens, output_tokens}: Said) => ({
  inputTokens: input_tokens,
  outputTokens: output_tokens,
  totalTokens: input_tokens + output_tokens,
})

function blocks({thought, text: said, calls = []}: Said): readonly Json[] {
  return [
    ...(thought ? [{reasoningContent: {reasoningText: {text: thought, signature: SIGNATURE}}}] : []),
    ...(said ? [{text: said}] : []),
    ...calls.map(({id, name, arguments: input}) => ({toolUse: {toolUseId: id, name, input}})),
  ]
}

function deltas({text: said, toolUse, reasoningContent}: Json): readonly Json[] {
  if (typeof said === 'string') return halves(said).map(part => ({text: part}))
  if (toolUse) return halves(JSON.stringify(object(toolUse).input)).map(part => ({toolUse: {input: part}}))
  const {text: thought, signature} = object(object(reasoningContent).reasoningText)
  return [...halves(String(thought)).map(part => ({reasoningContent: {text: part}})), {reasoningContent: {signature}}]
}
