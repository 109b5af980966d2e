import type {Json} from '../../../src/providers/translation.ts'
import {
  type CallSaid,
  check,
  halves,
  list,
  object,
  onlyKnown,
  PROVIDER_KEY,
  type Said,
  sse,
  type TwinWords,
  text,
  texts,
} from './words.ts'

const MODEL = 'gemini-2.5-flash'
const SIGNATURE = 'c2lnbmVk'
const KNOWN =
  'contents systemInstruction system_instruction tools toolConfig tool_config generationConfig safetySettings cachedContent'
const FINISH = {stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP'} as const
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

/** Source: ai.google.dev/api/generate-content (v1beta), function calling, thought signatures. */
export const geminiWords: TwinWords = {
  kind: 'google',
  base: '',
  model: MODEL,
  auth: ['x-goog-api-key', PROVIDER_KEY],
  needs: {},
  thinks: true,
  signature: SIGNATURE,
  path: is_stream => `/v1beta/models/${MODEL}:${is_stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  read(body) {
    onlyKnown(body, KNOWN)
    const config = object(body.generationConfig)
    const asked: CallSaid[] = []
    const turns = list(body.contents).map(({role, parts: said}) => {
      check(role === 'user' || role === 'model', `an unknown role ${String(role)}`)
      const parts = list(said)
      check(parts.length > 0, 'a content without parts')
      const calls = parts
        .filter(part => part.functionCall)
        .map(part => {
          const {id, name, args} = object(part.functionCall)
          return {id: text(id), name: text(name), arguments: object(args)}
        })
      asked.push(...calls)
      return {
        role: role === 'model' ? ('assistant' as const) : ('user' as const),
        text: texts(parts.filter(part => !part.thought)),
        thought: texts(parts.filter(part => part.thought === true)),
        calls,
        results: parts
          .filter(part => part.functionResponse)
          .map(part => {
            const {id, name, response} = object(part.functionResponse)
            check(
              asked.some(call => call.name === name),
              'a result of a function that was not called',
            )
            return [text(id), resultIn(response)] as const
          }),
      }
    })
    return {
      system: texts(object(body.systemInstruction).parts),
      turns,
      tools: list(body.tools).flatMap(({functionDeclarations}) =>
        list(functionDeclarations).map(({name}) => text(name)),
      ),
      thinks: object(config.thinkingConfig).includeThoughts === true,
      max_tokens: typeof config.maxOutputTokens === 'number' ? config.maxOutputTokens : null,
    }
  },
  plain: said => answer(parts(said), said, {finishReason: FINISH[said.finish]}),
  events(said) {
    const pieces = parts(said).flatMap(part => split(part))
    return pieces.map((part, at) => {
      const is_last = at === pieces.length - 1
      return sse(answer([part], said, is_last ? {finishReason: FINISH[said.finish]} : {}))
    })
  },
  stream_type: 'text/event-stream',
  error: (status, message) => ({error: {code: status, message, status: STATUSES[status] ?? 'INTERNAL'}}),
}

function parts({thought, text: said, calls = []}: Said): readonly Json[] {
  return [
    ...(thought ? [{text: thought, thought: true}] : []),
    ...(said ? [{text: said, ...(thought ? {thoughtSignature: SIGNATURE} : {})}] : []),
    ...calls.map(({id, name, arguments: args}) => ({functionCall: {id, name, args}})),
  ]
}

function answer(said: readonly Json[], {thought, input_tokens, output_tokens}: Said, more: Json): Json {
  const thoughts = thought ? 4 : 0
  return {
    candidates: [{index: 0, content: {role: 'model', parts: said}, ...more}],
    usageMetadata: {
      promptTokenCount: input_tokens,
      candidatesTokenCount: output_tokens - thoughts,
      totalTokenCount: input_tokens + output_tokens,
      ...(thoughts ? {thoughtsTokenCount: thoughts} : {}),
    },
    modelVersion: MODEL,
    responseId: 'resp-1',
  }
}

/** A text in two pieces, its signature with the last; a call comes whole. */
function split(part: Json): readonly Json[] {
  if (typeof part.text !== 'string') return [part]
  const {thoughtSignature, ...rest} = part
  const [first, second] = halves(part.text)
  return [
    {...rest, text: first},
    {...rest, text: second, ...(thoughtSignature ? {thoughtSignature} : {})},
  ]
}

/** Results are objects there: a text stands in a member of one. */
function resultIn(response: unknown): string {
  const values = Object.values(object(response))
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(response)
}
