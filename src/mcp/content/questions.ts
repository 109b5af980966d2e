import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import {memberText} from '../../base/json-splice.ts'
import {elementsOf} from '../../base/json-text.ts'
import {edited} from '../wire/edits.ts'
import {errorMemberText, paramsText, type RpcAnswer, type RpcRequest, resultText} from '../wire/messages.ts'

/**
 * Questions of a server to its client. Until 2025-11-25 they are requests; since 2026-07-28 they are entries of
 * `inputRequests` in a result, and their answers are entries of `inputResponses` in the repeated call.
 */

export type QuestionMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list'

const METHODS: ReadonlySet<string> = new Set<QuestionMethod>([
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
])

export function isQuestionMethod(method: string): method is QuestionMethod {
  return METHODS.has(method)
}

/** A question of either form. `params`: JSON text; undefined where there are none. */
export interface Question {
  readonly method: QuestionMethod
  readonly params: string | undefined
  readonly is_url: boolean
}

/** The question of a legacy server's request; null of any other request. */
export function questionOfRequest(message: RpcRequest): Question | null {
  if (!isQuestionMethod(message.method)) return null
  const is_url = isUrlMode(message.method, message.params)
  return {method: message.method, params: paramsText(message), is_url}
}

/**
 * The questions of a modern result, by their keys in their order; null where an entry is no question. `text`: the JSON
 * of the result.
 */
export function questionsOfResult(result: JsonObject, text: string): ReadonlyMap<string, Question> | null {
  const requests = own(result, 'inputRequests')
  const found = new Map<string, Question>()
  if (requests === undefined) return found
  if (!isObject(requests)) return null
  const requests_text = memberText(text, 'inputRequests')!
  for (const key of Object.keys(requests)) {
    const entry = own(requests, key)
    const method = own(entry, 'method')
    const params = own(entry, 'params')
    if (typeof method !== 'string' || !isQuestionMethod(method)) return null
    if (params !== undefined && !isObject(params)) return null
    const params_text = params && memberText(memberText(requests_text, key)!, 'params')
    found.set(key, {method, params: params_text, is_url: isUrlMode(method, params)})
  }
  return found
}

/** True where a client that declared these capabilities takes the question. No mode means a form. */
export function takesQuestion(capabilities: JsonObject, question: Question): boolean {
  if (question.method === 'roots/list') return isObject(own(capabilities, 'roots'))
  if (question.method === 'sampling/createMessage') return isObject(own(capabilities, 'sampling'))
  const elicitation = own(capabilities, 'elicitation')
  if (!isObject(elicitation)) return false
  if (question.is_url) return isObject(own(elicitation, 'url'))
  return isObject(own(elicitation, 'form')) || !Object.hasOwn(elicitation, 'url')
}

/** The entry of `inputRequests` for a question: ids of URL elicitations are of the revisions before. */
export function inputRequestText({method, params, is_url}: Question): string {
  const kept = params !== undefined && is_url ? edited(params, [{path: ['elicitationId'], set: undefined}]) : params
  return `{"method":"${method}"${kept === undefined ? '' : `,"params":${kept}`}}`
}

/** The `params` of a legacy request for a question. `elicitation_id`: ours, for an address, which needs one. */
export function requestParamsText({params, is_url}: Question, elicitation_id: string): string | undefined {
  if (!is_url || params === undefined) return params
  return edited(params, [{path: ['elicitationId'], set: JSON.stringify(elicitation_id)}])
}

/** The result that has questions for a modern client. Keys are of the caller; texts are JSON. */
export function inputRequiredText(
  requests: ReadonlyMap<string, string>,
  request_state: string | null,
  server_info: string | null,
): string {
  const members = ['"resultType":"input_required"']
  if (requests.size > 0)
    members.push(`"inputRequests":{${[...requests].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`)
  if (request_state !== null) members.push(`"requestState":${JSON.stringify(request_state)}`)
  if (server_info !== null) members.push(`"_meta":{"io.modelcontextprotocol/serverInfo":${server_info}}`)
  return `{${members.join(',')}}`
}

/**
 * The entry of `inputResponses` for a legacy client's answer; null for an error that no entry can say. An error to an
 * elicitation is a person who did not answer.
 */
export function inputResponseText(method: QuestionMethod, answer: RpcAnswer): string | null {
  const result = resultText(answer)
  if (result !== undefined) return result
  return method === 'elicitation/create' ? '{"action":"cancel"}' : null
}

/** Answers of a modern client by the keys of their questions: JSON texts, each of the form that its question wants. */
export function answersOfRetry(
  params: JsonObject,
  text: string,
  questions: ReadonlyMap<string, QuestionMethod>,
): ReadonlyMap<string, string> | null {
  const responses = own(params, 'inputResponses')
  const found = new Map<string, string>()
  if (responses === undefined) return found
  if (!isObject(responses)) return null
  const responses_text = memberText(text, 'inputResponses')!
  for (const [key, method] of questions) {
    const response = own(responses, key)
    if (response === undefined) continue
    if (!isAnswer(method, response)) return null
    found.set(key, memberText(responses_text, key)!)
  }
  return found
}

const ACTIONS: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel'])

function isAnswer(method: QuestionMethod, response: unknown): boolean {
  if (!isObject(response)) return false
  if (method === 'elicitation/create') return ACTIONS.has(own(response, 'action'))
  if (method === 'roots/list') return Array.isArray(own(response, 'roots'))
  const content = own(response, 'content')
  return typeof own(response, 'role') === 'string' && typeof own(response, 'model') === 'string' && isSomething(content)
}

function isSomething(content: unknown): boolean {
  return typeof content === 'object' && content !== null
}

/** The answer to a legacy server's question that its client does not take. */
export function refusalOf(method: string): {readonly result: string} | {readonly error: string} {
  if (method === 'elicitation/create') return {result: '{"action":"decline"}'}
  return {error: JSON.stringify({code: -32601, message: 'Method not found'})}
}

/** The questions of the error -32042, by keys of ours; null where it has none that is an address. */
export function questionsOfUrlError(answer: RpcAnswer): ReadonlyMap<string, Question> | null {
  const elicitations = own(answer.error?.data, 'elicitations')
  if (!Array.isArray(elicitations) || elicitations.length === 0) return null
  const list_text = memberText(memberText(errorMemberText(answer)!, 'data')!, 'elicitations')!
  const places = elementsOf(list_text)
  const found = new Map<string, Question>()
  for (const [at, each] of elicitations.entries()) {
    if (!isUrlMode('elicitation/create', each)) return null
    const params = list_text.slice(places[at]!.start, places[at]!.end)
    found.set(`elicitation-${at + 1}`, {method: 'elicitation/create', params, is_url: true})
  }
  return found
}

/** The `data` of the error -32042 for questions of addresses, each with an id of ours. */
export function urlErrorData(questions: readonly Question[], elicitation_id: (at: number) => string): string {
  const elicitations = questions.map((question, at) => requestParamsText(question, elicitation_id(at)) ?? '{}')
  return `{"elicitations":[${elicitations.join(',')}]}`
}

function isUrlMode(method: string, params: unknown): boolean {
  return method === 'elicitation/create' && own(params, 'mode') === 'url' && typeof own(params, 'url') === 'string'
}
