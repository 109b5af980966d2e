import type {z} from 'zod'
import type {Side} from '../../schema/guardrails.ts'
import {type Check, type CheckContext, check, excerpt, failed, judged, type Transform, type Verdict} from '../check.ts'
import {CheckFault} from '../fault.ts'
import {timeoutParameter} from '../headers.ts'
import {ask} from '../http.ts'
import {isList, type JsonObject, type JsonValue} from '../json.ts'
import {jsonText, readingJson} from '../json-text.ts'
import {inTimeSlices} from '../time-slices.ts'
import type {View} from '../view.ts'
import {type Credential, credentialsParameter, type PartnerCredentials, resolved} from './credentials.ts'

/** One call of a partner's API. */
export interface PartnerAsk {
  readonly url: string
  /** Beside the content type. A function is given the body, to sign it. */
  readonly headers: Readonly<Record<string, string>> | ((body: string) => Readonly<Record<string, string>>)
  readonly body: JsonObject
}

/** The input of a partner. */
export interface PartnerCall<Parameters, Name extends string> {
  readonly view: View
  readonly context: CheckContext
  readonly parameters: Parameters
  /** Those that were not given are empty. */
  readonly credentials: Readonly<Record<Name, string>>
  /** The judged texts, at least one; and all of them, a line break between two. */
  readonly texts: readonly string[]
  readonly text: string
  readonly is_input: boolean
  /** Another call of the partner's, such as one for a token. */
  post(request: {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }): Promise<JsonValue>
}

/** The new value of a text. */
export interface Redaction {
  readonly from: string
  readonly to: string
}

/** A partner's ruling. */
export interface Ruling {
  readonly passes: boolean
  /** The partner's names of its findings; no part of the text. */
  readonly labels?: readonly string[]
  readonly redactions?: readonly Redaction[]
  /** A whole body in the old one's place. */
  readonly body?: JsonValue
  readonly transformed?: Transform
}

export interface PartnerOptions<Shape extends z.ZodRawShape, Name extends string> {
  /** `<partner>.<name>`. */
  readonly id: string
  readonly title: string
  /** One sentence: when it passes. */
  readonly about: string
  readonly sides: readonly Side[]
  readonly kind?: 'mutator'
  readonly aliases?: readonly string[]
  readonly credentials: Readonly<Record<Name, Credential>>
  readonly shape: Shape
  readonly parameter_aliases?: Readonly<Record<string, string>>
  /** Milliseconds; 5000 (docs/guardrails.md, Partners). */
  readonly timeout_ms?: number
  /** One call, or one for each text. */
  ask(call: PartnerCall<z.output<z.ZodObject<Shape>>, Name>): PartnerAsk | readonly PartnerAsk[] | Promise<PartnerAsk>
  /** Reads the answers, in the order of the calls. Throws `unknownForm` for what it does not know. */
  read(replies: readonly JsonValue[], call: PartnerCall<z.output<z.ZodObject<Shape>>, Name>): Ruling
}

/** A partner's check, and what the documentation says of it besides. */
export interface PartnerCheck extends Check {
  readonly credentials: Readonly<Record<string, Credential>>
  readonly timeout_ms: number
}

export const BOTH: readonly Side[] = ['input', 'output']
const TIMEOUT_MS = 5000
const MAX_BYTES = 8 * 1024 * 1024
const MAX_ASKS = 50
const AT_ONCE = 5
const MAX_LABELS = 50
const LONGEST_LABEL = 100

/** A check that asks a partner's API: POST of JSON, a verdict, perhaps a redaction (docs/guardrails.md, Partners). */
export function partner<Shape extends z.ZodRawShape, Name extends string>(
  options: PartnerOptions<Shape, Name>,
): PartnerCheck {
  const {id, title, about, sides, kind, aliases = [], parameter_aliases = {}, timeout_ms = TIMEOUT_MS} = options
  const made = check({
    ...{id, title, about, sides, is_service: true as const, aliases, parameter_aliases, ...(kind ? {kind} : {})},
    shape: {
      ...options.shape,
      credentials: credentialsParameter(options.credentials),
      timeout: timeoutParameter(timeout_ms),
    },
    async run(view, input, context) {
      const {credentials, timeout, ...parameters} = input as unknown as {
        credentials: PartnerCredentials
        timeout: number
      }
      const {texts} = view
      if (!texts.length) return failed(new CheckFault('There is no text to judge.'))
      const signal = context.after(timeout)
      const call: PartnerCall<z.output<z.ZodObject<Shape>>, Name> = {
        ...{view, context, texts, text: view.text, is_input: context.side === 'input'},
        parameters: parameters as unknown as z.output<z.ZodObject<Shape>>,
        credentials: await resolved(options.credentials, credentials, context),
        post: ({url, headers, body}) => posted(url, headers, body),
      }
      const requested = await options.ask(call)
      const asks = isAsks(requested) ? requested : [requested]
      if (asks.length > MAX_ASKS)
        throw new CheckFault(`There are more than ${MAX_ASKS} texts to judge.`, 'TooMuchError')
      return verdictOf(options.read(await all(asks, send), call), view)

      async function send({url, headers, body}: PartnerAsk): Promise<JsonValue> {
        const text = await inTimeSlices(jsonText(body))
        const more = typeof headers === 'function' ? headers(text) : headers
        return posted(url, {'content-type': 'application/json', ...more}, text)
      }

      async function posted(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<JsonValue> {
        const {status, text} = await ask(context.http, {method: 'POST', url, headers, body}, signal, MAX_BYTES, title)
        if (status < 200 || status > 299) throw new CheckFault(`${title} answered ${status}.`, 'HttpError')
        const reply = await inTimeSlices(readingJson(text))
        if (reply === undefined) throw new CheckFault(`${title} answered no JSON.`)
        return reply
      }
    },
  })
  return {...made, credentials: options.credentials, timeout_ms}

  function verdictOf(ruling: Ruling, view: View): Verdict {
    const {labels = [], body} = ruling
    const found = [...new Set(labels)].slice(0, MAX_LABELS).map(label => label.slice(0, LONGEST_LABEL))
    const redactions = (ruling.redactions ?? []).filter(({from, to}) => from !== to)
    // An answer is blocked when a text that should have been removed from it cannot be.
    const is_lost = redactions.some(({from}) => !view.texts.includes(from))
    const transformed = ruling.transformed ?? (body === undefined ? redaction(redactions) : whole(body))
    const passes = ruling.passes && !is_lost
    const sentence = is_lost
      ? `${title} redacted what could not be put in its place.`
      : `${title} ${passes ? 'passed' : 'failed'} it.`
    const data = {
      explanation: `${sentence}${found.length ? ` It found: ${found.join(', ')}.` : ''}`,
      ...{found, redacted: transformed !== undefined, textExcerpt: excerpt(view.text)},
    }
    return {...judged(passes, data), ...(transformed && passes ? {transformed} : {})}
  }
}

/** An answer whose form is not the documented one. */
export function unknownForm(who: string): CheckFault {
  return new CheckFault(`${who} answered in a form that is not known.`)
}

function redaction(redactions: readonly Redaction[]): Transform | undefined {
  if (!redactions.length) return undefined
  const by = new Map(redactions.map(({from, to}) => [from, to]))
  return {apply: view => view.rewrite(text => by.get(text) ?? text)}
}

function whole(body: JsonValue): Transform {
  return {is_whole: true, apply: view => view.withBody(body)}
}

function isAsks(requested: PartnerAsk | readonly PartnerAsk[]): requested is readonly PartnerAsk[] {
  return isList(requested)
}

/** `work` done on each, a few at once; the answers in order. */
async function all<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<readonly U[]> {
  const made: U[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const at = next++
      made[at] = await work(items[at]!)
    }
  }
  await Promise.all(Array.from({length: Math.min(AT_ONCE, items.length)}, worker))
  return made
}
