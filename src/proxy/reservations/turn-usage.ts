import {topLevel} from '../../base/json.ts'
import {sessionTokens} from '../../providers/media/prompt.ts'
import {estimateTokens} from '../../providers/openai/observe.ts'
import {keyBytes, stringBytes} from '../../providers/openai/scan.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'
import {HEARD_BYTES_A_TOKEN, mostSessionTokens, SPOKEN_BYTES_A_TOKEN, TELEPHONE_FACTOR} from './figures.ts'

const SOUND_IN_BASE64 = 3 / 4
const SAYS: ReadonlySet<string> = new Set(['conversation.item.create', 'response.create', 'session.update'])
const DELTA = keyBytes('delta')
const AUDIO = keyBytes('audio')
/** Keys of what a client's message says to the model. */
const TEXTS = ['text', 'instructions', 'output', 'arguments'].map(keyBytes)
/** Formats of sound from telephones, in the words of both versions of the API. */
const TELEPHONE = ['g711', 'audio/pcmu', 'audio/pcma'].map(word => Buffer.from(word))

/** The sent input that no answer has been charged for: at most so many tokens. */
interface Sent {
  readonly text: number
  readonly images: number
  readonly sound: number
}

/**
 * Bytes in both directions since the last answer was counted: the least that a turn without reported usage has used,
 * and the most.
 */
export class TurnUsage {
  #text_in = 0
  #audio_in = 0
  #text_out = 0
  #audio_out = 0
  #sent: Sent = {text: 0, images: 0, sound: 0}
  #sound_factor = 1

  /** A client's message that went on; `payload` null when it was not read, for it is sound or too long. */
  sent(type: string | null, payload: Buffer | null, bytes: number): void {
    if (type === null || payload === null) this.#heard(bytes)
    else if (type === 'input_audio_buffer.append') {
      this.#heard(stringBytes(payload, AUDIO))
      for (const key of TEXTS) this.#text_in += stringBytes(payload, key)
    } else if (SAYS.has(type)) {
      this.#heard(stringBytes(payload, AUDIO))
      for (const key of TEXTS) this.#text_in += stringBytes(payload, key)
      this.addWords(payload)
    }
  }

  /** An event says to the model all that is in it: a client's, or the provider's own of how the session begins. */
  addWords(payload: Buffer): void {
    if (TELEPHONE.some(word => payload.includes(word))) this.#sound_factor = TELEPHONE_FACTOR
    const sound_bytes = stringBytes(payload, AUDIO)
    const {text, images, sound} = this.#sent
    const words = wordsIn(payload)
    // beside sound there are few words: a byte is a token at most
    const more = sound_bytes > 0 ? {text: words.length - sound_bytes, images: 0} : sessionTokens(words)
    this.#sent = {text: text + more.text, images: images + more.images, sound}
  }

  #heard(base64_bytes: number) {
    const bytes = base64_bytes * SOUND_IN_BASE64
    this.#audio_in += bytes
    this.#sent = {...this.#sent, sound: this.#sent.sound + bytes / HEARD_BYTES_A_TOKEN}
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
    usage.audio_in_tokens = Math.ceil((this.#audio_in * this.#sound_factor) / HEARD_BYTES_A_TOKEN)
    usage.output_text_tokens = estimateTokens(this.#text_out)
    usage.audio_out_tokens = Math.ceil((this.#audio_out * this.#sound_factor) / SPOKEN_BYTES_A_TOKEN)
    return usage
  }

  /** The input that was sent so far; `reset` subtracts it. */
  get mark(): Sent {
    return this.#sent
  }

  /**
   * The most that the next turn may use, behind an answer that used `before`: all of that is its prompt again, and the
   * longest answer follows.
   */
  most(before: Usage, model: string | null): Usage {
    const {text, images, sound} = this.#sent
    const usage = asPrompt(before)
    usage.input_uncached_tokens += text
    usage.image_in_tokens += images
    usage.audio_in_tokens += Math.ceil(sound * this.#sound_factor)
    usage.audio_out_tokens += mostSessionTokens(model)
    return usage
  }

  /** Counts again from here; input sent behind `mark` stays, for the next turn may be charged for it. */
  reset(mark: Sent = this.#sent): void {
    this.#text_in = this.#audio_in = this.#text_out = this.#audio_out = 0
    const {text, images, sound} = this.#sent
    this.#sent = {
      text: Math.max(0, text - mark.text),
      images: Math.max(0, images - mark.images),
      sound: Math.max(0, sound - mark.sound),
    }
  }
}

/** The content of an event, without the event itself; all of it when it is no event. */
function wordsIn(payload: Buffer): Buffer {
  try {
    const members = topLevel(payload, NO_KEYS)
    const span = members.get('item') ?? members.get('session') ?? members.get('response')
    return span ? payload.subarray(span.start, span.end) : NOTHING
  } catch {
    return payload
  }
}
const NO_KEYS: ReadonlySet<string> = new Set()
const NOTHING = Buffer.alloc(0)

/** The usage of a turn as it is charged in the prompt of the next, when nothing of it is in a cache. */
function asPrompt(before: Usage): Usage {
  return {
    ...emptyUsage(),
    input_uncached_tokens:
      before.input_uncached_tokens +
      before.cache_read_tokens +
      before.output_text_tokens +
      before.output_reasoning_tokens,
    audio_in_tokens: before.audio_in_tokens + before.audio_cache_read_tokens + before.audio_out_tokens,
    image_in_tokens: before.image_in_tokens + before.image_cache_read_tokens + before.image_out_tokens,
  }
}
