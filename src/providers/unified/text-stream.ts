import {laterReport, type Usage} from '../../schema/usage.ts'
import {asksUsage} from '../chat.ts'
import {
  InvalidResponseFault,
  type Json,
  type ProviderFault,
  type StreamEvent,
  type StreamTranslator,
  type TranslationContext,
} from '../translation.ts'
import {faultOf, type RawError} from './fault.ts'
import {textChoice, textCompletion} from './texts.ts'

/** One event of a text completion's stream. Missing members add nothing. */
export interface TextEvent {
  readonly id?: string | null
  readonly model?: string | null
  readonly text?: string
  readonly index?: number
  /** Ends the choice. */
  readonly finish?: string | null
  readonly usage?: Usage | null
  /** The usage that a client is shown, when it is not the charged one. */
  readonly shown_usage?: Usage | null
  readonly is_end?: boolean
  readonly error?: RawError
  /** The status the error would have had. */
  readonly status?: number | null
}

/**
 * A text completion's stream from what `read` makes of each event; null is nothing. `read` may throw
 * `InvalidResponseFault`.
 */
export function textStream(
  context: TranslationContext,
  request: Json,
  read: (event: StreamEvent) => TextEvent | null,
): StreamTranslator {
  let id: string | null = null
  let model: string | null = null
  let usage: Usage | null = null
  let shown_usage: Usage | null = null
  let text_bytes = 0
  let has_begun = false
  let has_reason = false
  let finished = false
  let failed: (ProviderFault & {readonly status: number | null}) | null = null

  function apply(event: TextEvent): readonly Json[] {
    if (event.error) failed = {...faultOf(context, event.error, 'the answer broke off'), status: event.status ?? null}
    if (failed) return []
    // A name that comes after the first chunk comes too late: all chunks of an answer have one.
    if (!has_begun) {
      id ??= event.id ?? null
      model ??= event.model ?? null
    }
    usage = laterReport(usage, event.usage ?? null)
    shown_usage = laterReport(shown_usage, event.shown_usage ?? null)
    text_bytes += Buffer.byteLength(event.text ?? '')
    has_reason ||= Boolean(event.finish)
    finished ||= has_reason || event.is_end === true
    if (!event.text && !event.finish) return []
    has_begun = true
    return [
      textCompletion(context, {
        id,
        model,
        choices: [textChoice(event.index ?? 0, event.text ?? '', event.finish ?? null)],
      }),
    ]
  }

  return {
    event(event) {
      if (failed || event.data === '' || event.data === null || event.data === undefined) return []
      try {
        const text_event = read(event)
        return text_event ? apply(text_event) : []
      } catch (error) {
        if (!(error instanceof InvalidResponseFault)) throw error
        failed = {...faultOf(context, {}, `its stream is not what it documents: ${error.message}`), status: null}
        return []
      }
    },
    end() {
      if (!finished || failed) return []
      // Providers that say no other end than the connection's give no reason either.
      const last = has_reason ? [] : [textCompletion(context, {id, model, choices: [textChoice(0, '', 'stop')]})]
      const shown = shown_usage ?? usage
      return shown && asksUsage(request)
        ? [...last, textCompletion(context, {id, model, choices: [], usage: shown})]
        : last
    },
    get finished() {
      return finished && !failed
    },
    get usage() {
      return usage
    },
    get model() {
      return model
    },
    get failed() {
      return failed
    },
    get text_bytes() {
      return text_bytes
    },
  }
}
