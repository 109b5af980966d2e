import type {WirePiece} from '../../../base/websocket/index.ts'

/** A message as it came: its frames, and what they say; `payload` null: it is longer than what is read. */
export interface Message {
  readonly wire: Buffer
  readonly payload: Buffer | null
  readonly is_text: boolean
  readonly bytes: number
}

export type GatheredFrames =
  /** It is held until the message is whole. */
  | {readonly kind: 'part'}
  | {readonly kind: 'message'; readonly message: Message}
  /** The message is too long to be read: `wire` is what is there of it, and the rest follows. */
  | {readonly kind: 'long'; readonly wire: Buffer; readonly is_end: boolean}
  /** More of such a message. */
  | {readonly kind: 'rest'; readonly is_end: boolean}

/**
 * Puts the frames of one direction together to messages, so that each leaves whole or not at all. No more is held than
 * a message within the bound.
 */
export class MessageFrames {
  readonly #most_bytes: number
  #held: Buffer[] = []
  #held_bytes = 0
  #is_long = false

  constructor(most_bytes: number) {
    this.#most_bytes = most_bytes
  }

  /** Takes a piece that is no control frame. */
  take({bytes, ended}: WirePiece): GatheredFrames {
    const is_end = ended !== null
    if (this.#is_long) {
      this.#is_long = !is_end
      return {kind: 'rest', is_end}
    }
    this.#held.push(bytes)
    this.#held_bytes += bytes.length
    const is_long =
      this.#held_bytes > this.#most_bytes + FRAMING_BYTES || (ended?.kind === 'message' && ended.payload === null)
    if (!is_end && !is_long) return {kind: 'part'}
    const wire = this.#held.length === 1 ? bytes : Buffer.concat(this.#held)
    this.#held = []
    this.#held_bytes = 0
    if (is_long || ended?.kind !== 'message') {
      this.#is_long = !is_end
      return {kind: 'long', wire, is_end}
    }
    const {payload, is_text} = ended
    return {kind: 'message', message: {wire, payload, is_text, bytes: ended.bytes}}
  }
}

/** The most bytes of framing around a message of the bound. */
const FRAMING_BYTES = 64 << 10
