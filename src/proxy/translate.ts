import {Refusal} from '../base/errors.ts'
import {errorBody} from '../providers/chat.ts'
import {type Words, wordsFor} from '../providers/clients.ts'
import type {Provider} from '../providers/provider.ts'
import {type Answer, BadReply, type Context, type Fault, type Json, type Translated, Untranslatable} from '../providers/translation.ts'
import {applyParams} from '../routing/params.ts'
import type {Usage} from '../schema/usage.ts'
import {type JsonBody, wholeOf} from './body.ts'
import type {Call} from './call.ts'
import type {Target} from './target.ts'

/** A call in the provider's words, and what its answer is turned back with. */
export interface Translating extends Words {
  readonly context: Context
  /** What the client sent, the config's parameters applied; of another client's words, what that came to as chat. */
  readonly asked: Json
  readonly said: Json
  readonly request: Translated
}

/** A whole answer in the client's words. */
export interface TranslatedReply {
  readonly bytes: Buffer
  readonly content_type: string
  readonly usage: Usage | null
  readonly model: string | null
}

/** Null where the body passes as it is. Refuses (400) what the provider has no words for. */
export function translating(call: Call, target: Target, provider: Provider, model: string | null): Translating | null {
  const {endpoint, body, incoming, is_passthrough} = call
  const words = is_passthrough || body.kind !== 'json' ? null : wordsFor(provider, endpoint)
  if (!words) return null
  const {client, translation} = words
  const said = applyParams(wholeOf(body as JsonBody), target.params)
  const own = incoming.own.values
  const strict = target.strict && own['strict-open-ai-compliance'] !== 'false' && own['strict-openai-compliance'] !== 'false'
  const context: Context = {
    provider: provider.slug,
    model: model ?? '',
    is_stream: said.stream === true,
    strict: strict && !client,
    options: target.options,
    call_id: call.id,
    created_s: Math.floor(incoming.at_ms / 1000),
  }
  try {
    const asked = client ? client.toChat(said, context) : said
    return {...words, context, asked, said, request: translation.request(asked, context)}
  } catch (fault) {
    if (!(fault instanceof Untranslatable) && !(fault instanceof RangeError)) throw fault
    throw asUntranslatable(fault, provider.slug)
  }
}

export function asUntranslatable(fault: Error, provider: string): Refusal {
  return new Refusal('body.untranslatable', {provider, reason: `${fault.message}.`}, {cause: fault})
}

/** Writes out what leaves. What is nested too deep to be written is the client's fault. */
export function written(body: Translated['body'], provider: string): Buffer | null {
  return body === null || Buffer.isBuffer(body) ? body : Buffer.from(writtenText(body, provider))
}

export function writtenText(json: unknown, provider: string): string {
  try {
    return JSON.stringify(json)
  } catch (cause) {
    throw new Refusal('body.untranslatable', {provider, reason: 'It is nested too deep.'}, {cause})
  }
}

/** A whole answer, good or not, in the client's words. */
export function translated(of: Translating, status: number, plain: Buffer): TranslatedReply {
  if (status < 300) return translateReply(of, plain)
  return {bytes: translateFault(of, status, plain), content_type: JSON_TYPE, usage: null, model: null}
}

/** A whole 2xx answer in the client's words; throws `upstream.bad_reply` for what is not what its provider documents. */
function translateReply({translation, client, context, asked, said}: Translating, plain: Buffer): TranslatedReply {
  try {
    const {body, usage, model} = translation.reply(parsed(plain), context, asked)
    if (isBinary(body)) return {bytes: body.bytes, content_type: body.content_type, usage, model}
    const answer = client ? client.fromChat(body, context, said) : body
    return {bytes: Buffer.from(JSON.stringify(answer)), content_type: JSON_TYPE, usage, model}
  } catch (cause) {
    if (!(cause instanceof BadReply) && !(cause instanceof RangeError) && !(cause instanceof Untranslatable)) throw cause
    // The sentence has its own full stop, and some providers' words have one too.
    throw new Refusal('upstream.bad_reply', {provider: context.provider, reason: cause.message.replace(/\.$/, '')}, {cause})
  }
}

/** The error that a non-2xx answer tells, as the client's library reads it. */
function translateFault({dialect, client, context}: Translating, status: number, plain: Buffer): Buffer {
  const fault = dialect ? dialect.fault(status, plain, context) : plainFault(plain, context)
  return Buffer.from(JSON.stringify(client ? client.error(status, fault) : errorBody(context, fault)))
}

export const JSON_TYPE = 'application/json'

function isBinary(body: Answer['body']): body is Extract<Answer['body'], {bytes: Buffer}> {
  return Buffer.isBuffer((body as {bytes?: unknown}).bytes)
}

/** JSON, or the bytes where it is none: some answer with a picture. */
function parsed(plain: Buffer): unknown {
  try {
    return JSON.parse(plain.toString())
  } catch {
    return plain
  }
}

/** An error of a provider that speaks OpenAI's words. */
function plainFault(plain: Buffer, {provider}: Context): Fault {
  const said = parsed(plain) as {error?: {message?: unknown; type?: unknown; param?: unknown; code?: unknown}} | null
  const {message, type, param, code} = said?.error ?? {}
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return {
    message: text(message) ?? `${provider} error: ${plain.toString('utf8', 0, 500) || 'no message'}`,
    type: text(type),
    param: text(param),
    code: text(code),
  }
}
