import {isObject, list, object, parsed} from '../base/json-object.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import type {Usage} from '../schema/usage.ts'
import {rawUsageIn} from './openai/reply.ts'
import {readUsage} from './openai/usage.ts'
import {InvalidResponseFault, type Json, type ProviderFault, type TranslationContext} from './translation.ts'
import {anyError, faultOf, type RawError} from './unified/fault.ts'

/** Tokens that a failed call used, and its model, as far as the provider says. */
interface FailureFacts {
  readonly usage?: Usage | null
  readonly model?: string | null
  /** True where an answer began, and each choice of it failed. */
  readonly has_choices?: boolean
}

/**
 * A 2xx answer that reports that the call failed. The client gets `fault` with `status`, and so do retries and
 * fallbacks: nothing in it is an answer.
 */
export class ReportedFault extends InvalidResponseFault {
  readonly status: number
  readonly fault: ProviderFault
  readonly usage: Usage | null
  readonly model: string | null
  readonly has_choices: boolean

  constructor(status: number, fault: ProviderFault, facts: FailureFacts = {}) {
    const {usage = null, model = null, has_choices = false} = facts
    super(fault.message)
    this.name = 'ReportedFault'
    this.status = status
    this.fault = fault
    this.usage = usage
    this.model = model
    this.has_choices = has_choices
  }
}

/** A request that the provider's policy forbids: it is the caller's, and another try would end alike. */
export function policyRefusal(reason: string, {provider}: TranslationContext, facts: FailureFacts = {}): ReportedFault {
  const fault = {message: `${provider} error: ${reason}`, param: null}
  return new ReportedFault(400, {...fault, type: 'invalid_request_error', code: 'content_policy_violation'}, facts)
}

/** Gateways and providers name no status at times; the failure is upstream's. */
const UNNAMED = 502

/**
 * The failure that a chat completion reports: it has an error in place of choices, or each of its choices has one. Null
 * where it reports none. Sources: OpenRouter, "Errors and Debugging" (`error` with a status as `code`, and
 * `choices[].error`); MiniMax, `base_resp`; others, `{code, msg}`.
 */
export function failureOfChat(reply: Json, context: TranslationContext): ReportedFault | null {
  const error = errorOfChat(reply)
  if (!error) return null
  const raw_usage = rawUsageIn(reply)
  const usage = raw_usage && readUsage(raw_usage, 'chatComplete')
  return new ReportedFault(statusFor(error, reply), faultOf(context, error, NO_REASON), {
    usage,
    has_choices: list(reply.choices).length > 0,
  })
}

const NO_REASON = 'the provider gave no reason'

/** The member that an answer has, by endpoint: one without it may be an error in its place. */
export const ANSWER: Readonly<Partial<Record<EndpointName, string>>> = {
  chatComplete: 'choices',
  complete: 'choices',
  createModelResponse: 'output',
  messages: 'content',
  embed: 'data',
}

/** Statuses by the words of failures. Sources: Anthropic, "Errors"; OpenAI, the response object, `error`. */
const BY_WORD: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  server_error: 500,
  api_error: 500,
  overloaded_error: 529,
}

/** The status of a response that failed, behind which its output is empty. */
const FAILED = Buffer.from('"failed"')
const ERROR = Buffer.from('"error"')
/** An error that says something; many answers have one of null. */
const TOLD_ERROR = /"error"\s*:\s*[{"]/

/** True where the bytes of an answer may be those of a failure: they hold no answer, or an error beside it. */
export function mayTellFailure(endpoint: EndpointName, bytes: Buffer): boolean {
  const key = ANSWER[endpoint]
  if (!key) return false
  if (!bytes.includes(`"${key}"`) || bytes.includes(FAILED)) return true
  return hasChoices(endpoint) && bytes.includes(ERROR) && TOLD_ERROR.test(bytes.toString('latin1'))
}

/** True for an endpoint whose answers have choices, each of which may fail. */
export function hasChoices(endpoint: EndpointName): boolean {
  return ANSWER[endpoint] === 'choices'
}

/** A whole answer that passes as it came and reports a failure. */
export interface WholeFailure {
  readonly status: number
  /** The error that takes the place of choices that failed; null where the body has it itself. */
  readonly fault: ProviderFault | null
}

/** The failure that the plain bytes of an answer report; null where they report none. */
export function failureOfWhole(
  endpoint: EndpointName,
  bytes: Buffer,
  of: Pick<TranslationContext, 'provider'>,
): WholeFailure | null {
  if (!mayTellFailure(endpoint, bytes)) return null
  const reply = parsed(bytes.toString())
  const status = statusOfFailure(endpoint, reply)
  if (status === null) return null
  const error = hasChoices(endpoint) ? errorInChoices(list(object(reply).choices)) : null
  return {status, fault: error && faultOf(of, error, NO_REASON)}
}

/** The status of a whole answer that passes as it came and reports a failure; null where it reports none. */
export function statusOfFailure(endpoint: EndpointName, reply: unknown): number | null {
  const key = ANSWER[endpoint]
  if (!key || !isObject(reply)) return null
  const error = key === 'choices' ? errorOfChat(reply) : errorBeside(key, reply)
  return error && statusFor(error, reply)
}

/** A response that failed has its output, too. */
function errorBeside(key: string, reply: Json): RawError | null {
  const is_failed = reply.status === 'failed' || reply[key] === undefined
  return is_failed && isObject(reply.error) ? anyError(reply) : null
}

function statusFor(error: RawError, reply: Json): number {
  const words = [error.code, error.type].map(word => (typeof word === 'string' ? BY_WORD[word] : undefined))
  return statusIn(error.code) ?? statusIn(reply.status) ?? words.find(Boolean) ?? UNNAMED
}

function errorOfChat(reply: Json): RawError | null {
  const choices = list(reply.choices)
  return choices.length === 0 ? errorOf(reply) : errorInChoices(choices)
}

/** The error of choices that all failed; null where one of them is an answer, or there are none. */
function errorInChoices(choices: readonly unknown[]): RawError | null {
  const errors = choices.map(choice => object(choice).error).filter(error => isObject(error) || isSaid(error))
  return errors.length === 0 || errors.length < choices.length ? null : anyError({error: errors[0]})
}

function isSaid(error: unknown): boolean {
  return typeof error === 'string' && error !== ''
}

/** The error in an answer's place; null where there is none. */
function errorOf(reply: Json): RawError | null {
  const {status_code, status_msg} = object(reply.base_resp)
  if (typeof status_msg === 'string' && status_msg !== '') return {message: status_msg, code: status_code}
  const error = anyError(reply)
  return isObject(reply.error) || typeof error.message === 'string' ? error : null
}

/** A status of HTTP that is an error; null for what is none. */
export function statusIn(value: unknown): number | null {
  const status = typeof value === 'string' ? Number(value) : value
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600 ? status : null
}
