import {estimateTokens} from '../../providers/openai/observe.ts'
import {keyBytes, stringBytes} from '../../providers/openai/scan.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'
import {HEARD_BYTES_A_TOKEN, SPOKEN_BYTES_A_TOKEN} from './figures.ts'

const SOUND_IN_BASE64 = 3 / 4
const SAYS: ReadonlySet<string> = new Set(['conversation.item.create', 'response.create', 'session.update'])
const DELTA = keyBytes('delta')
const AUDIO = keyBytes('audio')
/** Keys of what a client's message says to the model. */
const TEXTS = ['text', 'instructions', 'output', 'arguments'].map(keyBytes)

/** Bytes in both directions since the last answer was counted: the least that a turn without reported usage has used. */
export class TurnUsage {
  #text_in = 0
  #audio_in = 0
  #text_out = 0
  #audio_out = 0

  /** A client's message that went on; `payload` null when it was not read, for it is sound or too long. */
  sent(type: string | null, payload: Buffer | null, bytes: number): void {
    if (type === null || payload === null) this.#audio_in += bytes * SOUND_IN_BASE64
    else if (type === 'input_audio_buffer.append' || SAYS.has(type)) {
      this.#audio_in += stringBytes(payload, AUDIO) * SOUND_IN_BASE64
      for (const key of TEXTS) this.#text_in += stringBytes(payload, key)
    }
  }

  /** A piece of an answer. */
  received(type: string, payload: Buffer): void {
    if (type.endsWith('transcript.delta')) return
    const inner = stringBytes(payload, DELTA)
    if (type.endsWith('audio.delta')) this.#audio_out += inner * SOUND_IN_BASE64
    else this.#text_out += inner
  }

  get usage(): Usage {
    const usage = emptyUsage()
    usage.input_uncached_tokens = estimateTokens(this.#text_in)
    usage.audio_in_tokens = Math.ceil(this.#audio_in / HEARD_BYTES_A_TOKEN)
    usage.output_text_tokens = estimateTokens(this.#text_out)
    usage.audio_out_tokens = Math.ceil(this.#audio_out / SPOKEN_BYTES_A_TOKEN)
    return usage
  }

  /** From here on anew. */
  reset(): void {
    this.#text_in = this.#audio_in = this.#text_out = this.#audio_out = 0
  }
}
