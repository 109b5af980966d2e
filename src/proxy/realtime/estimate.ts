import {estimateTokens} from '../../providers/openai/observe.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'

/** Sound as it is sent by default: 24 kHz, 16 bits, one channel, a token each 100 ms heard and each 50 ms spoken (OpenAI, Realtime costs). */
const BYTES_PER_TOKEN_IN = 4800
const BYTES_PER_TOKEN_OUT = 2400
/** What an event has around its sound or text. */
const AROUND_BYTES = 150

/** Bytes in both directions since the last answer was counted: the least that a turn without reported usage has used. */
export class Estimate {
  #text_in = 0
  #audio_in = 0
  #text_out = 0
  #audio_out = 0

  /** A client's message that went on; `type` null when it was not read. */
  sent(type: string | null, bytes: number): void {
    const inner = Math.max(0, bytes - AROUND_BYTES)
    if (type === 'input_audio_buffer.append' || type === null) this.#audio_in += (inner * 3) / 4
    else if (type === 'conversation.item.create' || type === 'response.create') this.#text_in += inner
  }

  /** A piece of an answer. */
  received(type: string, bytes: number): void {
    const inner = Math.max(0, bytes - AROUND_BYTES)
    if (type.endsWith('audio.delta')) this.#audio_out += (inner * 3) / 4
    else if (!type.endsWith('transcript.delta')) this.#text_out += inner
  }

  get usage(): Usage {
    const usage = emptyUsage()
    usage.input_uncached_tokens = estimateTokens(this.#text_in)
    usage.audio_in_tokens = Math.ceil(this.#audio_in / BYTES_PER_TOKEN_IN)
    usage.output_text_tokens = estimateTokens(this.#text_out)
    usage.audio_out_tokens = Math.ceil(this.#audio_out / BYTES_PER_TOKEN_OUT)
    return usage
  }

  /** From here on anew. */
  reset(): void {
    this.#text_in = this.#audio_in = this.#text_out = this.#audio_out = 0
  }
}
