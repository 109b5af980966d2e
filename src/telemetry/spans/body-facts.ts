import {decodedBody} from '../../base/content-encoding.ts'
import {isObject, list, object, parsedObject} from '../../base/json-object.ts'
import {assemble} from '../../cache/assemble.ts'
import {isStreamed} from '../../cache/rules.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {LogBodiesTable} from '../../store/tables/traffic.ts'

type Json = Readonly<Record<string, unknown>>

/** Request and answer of a call as its row of the log has them: redacted, and whole or not at all. */
export interface CallBodies {
  readonly request: Json | undefined
  readonly answer: Json | undefined
}

export async function readBodies(endpoint: string, row: LogBodiesTable | null): Promise<CallBodies> {
  if (!row) return {request: undefined, answer: undefined}
  const {request_body, response_body, response_encoding} = row
  const request = request_body ? parsedObject(Buffer.from(request_body).toString()) : undefined
  const bytes = response_body && (await decodedBody(response_body, response_encoding))
  return {request, answer: bytes ? answerIn(endpoint, Buffer.from(bytes)) : undefined}
}

function answerIn(endpoint: string, bytes: Buffer): Json | undefined {
  const at = bytes.findIndex(byte => byte > 0x20)
  if (bytes[at] === BRACE) return parsedObject(bytes.toString())
  if (!isStreamed(endpoint as EndpointName)) return undefined
  const whole = assemble(endpoint as Parameters<typeof assemble>[0], bytes)
  return whole ? parsedObject(whole.toString()) : undefined
}

const BRACE = 0x7b

/** The parameters of a request, in whichever dialect. */
export interface ModelRequestFacts {
  readonly max_tokens?: number | undefined
  readonly temperature?: number | undefined
  readonly top_p?: number | undefined
  readonly top_k?: number | undefined
  readonly stop_sequences?: readonly string[] | undefined
  readonly frequency_penalty?: number | undefined
  readonly presence_penalty?: number | undefined
  readonly seed?: number | undefined
  readonly choice_count?: number | undefined
  readonly encoding_formats?: readonly string[] | undefined
  readonly dimensions?: number | undefined
  readonly output_type?: string | undefined
  readonly conversation?: string | undefined
}

export function requestFacts(request: Json | undefined, endpoint: string): ModelRequestFacts {
  if (!request) return {}
  const count = number(request.n)
  const format = text(request.encoding_format)
  const conversation = request.conversation
  return {
    max_tokens:
      number(request.max_completion_tokens) ?? number(request.max_tokens) ?? number(request.max_output_tokens),
    temperature: number(request.temperature),
    top_p: number(request.top_p),
    top_k: number(request.top_k),
    stop_sequences: texts(request.stop) ?? texts(request.stop_sequences),
    frequency_penalty: number(request.frequency_penalty),
    presence_penalty: number(request.presence_penalty),
    seed: number(request.seed),
    choice_count: count !== undefined && count > 1 ? count : undefined,
    encoding_formats: format === undefined ? undefined : [format],
    dimensions: number(request.dimensions),
    output_type: outputType(request, endpoint),
    conversation: text(conversation) ?? text(object(conversation).id),
  }
}

function outputType(request: Json, endpoint: string): string | undefined {
  const format = object(request.response_format).type ?? object(object(request.text).format).type
  if (format === 'json_object' || format === 'json_schema') return 'json'
  if (endpoint.startsWith('image')) return 'image'
  return endpoint === 'createSpeech' ? 'speech' : undefined
}

export interface AnswerFacts {
  readonly response_id?: string | undefined
  readonly response_model?: string | undefined
  readonly finish_reasons?: readonly string[] | undefined
}

export function answerFacts(answer: Json | undefined): AnswerFacts {
  if (!answer) return {}
  const reasons = finishReasons(answer)
  return {
    response_id: text(answer.id),
    response_model: text(answer.model),
    finish_reasons: reasons.length > 0 ? reasons : undefined,
  }
}

const TOOL_REASONS: ReadonlySet<string> = new Set(['tool_use', 'tool_calls', 'function_call'])

export function finishReasons(answer: Json): readonly string[] {
  const of_choices = list(answer.choices).map(choice => object(choice).finish_reason)
  const all = [...of_choices, answer.stop_reason, ofResponse(answer)]
  return all.flatMap(reason => (typeof reason === 'string' ? [finishReason(reason)] : []))
}

export const finishReason = (reason: string): string => (TOOL_REASONS.has(reason) ? 'tool_call' : reason)

/** The Responses dialect says how it ended by its status. */
function ofResponse({object: kind, status, incomplete_details, output}: Json): string | undefined {
  if (kind !== 'response') return undefined
  if (status === 'incomplete') return text(object(incomplete_details).reason) ?? 'length'
  if (status !== 'completed') return undefined
  return list(output).some(item => isObject(item) && item.type === 'function_call') ? 'tool_call' : 'stop'
}

const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
function texts(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return [value]
  const found = list(value).filter(each => typeof each === 'string')
  return found.length > 0 ? found : undefined
}
