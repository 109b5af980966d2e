import {object} from '../../base/json-object.ts'
import {readUsage} from '../../providers/openai/usage.ts'
import type {Json} from '../../providers/translation.ts'
import type {Uses} from '../services.ts'
import {text} from './events.ts'
import {innerCall, openWork, type SessionInfo, type SessionRecordServices, settle} from './records.ts'

type Services = SessionRecordServices & Uses<'limits'>

const MAX_REMEMBERED = 64

/**
 * A client's speech is transcribed by a model of its own, whose usage comes with the transcript and charged at that
 * model's price (OpenAI, Realtime API, `conversation.item.input_audio_transcription.completed`). Each is an entry of
 * its own, settled before the client hears of it. It counts against limits and takes no request of them: it is a part
 * of the turn that the sound led to.
 */
export class Transcripts {
  readonly #facts: SessionInfo
  readonly #services: Services
  /** The counters of the turn that is charged with it. */
  readonly #counterKeys: () => readonly string[]
  #model: string | null = null
  readonly #settled: string[] = []
  #open = 0
  #after: (() => void) | undefined

  constructor(facts: SessionInfo, counterKeys: () => readonly string[], services: Services) {
    this.#facts = facts
    this.#counterKeys = counterKeys
    this.#services = services
  }

  /** Reads the transcription settings in an event about the session. Speech from before may still be transcribed. */
  learn(event: Json): void {
    const session = object(event.session)
    const {transcription} = object(object(session.audio).input)
    this.#model = text(object(transcription ?? session.input_audio_transcription).model) ?? this.#model
  }

  /** A transcript came: settles what it used, then `done`. */
  completed(event: Json, raw: Buffer, done: () => void): void {
    const usage = readUsage(object(event.usage), 'createTranscription')
    const item = `${text(event.item_id)} ${String(event.content_index)}`
    if (!usage || this.#settled.includes(item)) return done() // reported twice, counted once
    this.#settled.push(item)
    if (this.#settled.length > MAX_REMEMBERED) this.#settled.shift()
    const facts: SessionInfo = {...this.#facts, model: this.#model, reported_model: null}
    const call = innerCall(facts, this.#services)
    const counter_keys = this.#counterKeys()
    const work = openWork(call, facts, null, this.#services, counter_keys)
    this.#open++
    const over = () => {
      done()
      if (--this.#open === 0) this.#after?.()
    }
    work.begin(fault => {
      if (fault) {
        this.#services.log.error({fault, trace_id: call.trace.trace_id}, 'the journal took no intent')
        return over()
      }
      const end = {
        outcome: 'ok',
        status: 200,
        shown_status: 200,
        error: null,
        usage,
        source: 'provider',
        delivered: true,
        request_bytes: 0,
        response_bytes: raw.length,
        times: {queued_at: call.started, sent_at: 0, first_byte_at: 0},
        bodies: {headers: {}, body: raw, cut: false},
      } as const
      const actual = settle(call, facts, work, end, this.#services, over)
      void this.#services.limits.add(counter_keys, actual)
    })
  }

  /** `done` once nothing is being written any more. */
  over(done: () => void): void {
    if (this.#open === 0) done()
    else this.#after = done
  }
}
