import type {EndpointName} from '../../schema/endpoints.ts'
import type {Json} from '../translation.ts'
import {keyBytes, stringBytes, stringTokens} from './scan.ts'
import {textKeysOf} from './text-keys.ts'

/** Counts the most tokens of the text in chunks that a translator writes. */
export class TextCounter {
  readonly #keys: readonly Buffer[]
  #bytes: number
  /** Text before its beginning counts a token a byte. */
  most_tokens: number

  constructor(endpoint: EndpointName, bytes_before: number) {
    this.#keys = textKeysOf(endpoint).map(keyBytes)
    this.#bytes = bytes_before
    this.most_tokens = bytes_before
  }

  /** The chunks of an event, after which the text has so many bytes. Text under other keys counts a token a byte. */
  count(chunks: readonly Json[], text_bytes: number): void {
    let bytes = 0
    for (const chunk of chunks) {
      const json = Buffer.from(JSON.stringify(chunk))
      for (const key of this.#keys) {
        bytes += stringBytes(json, key)
        this.most_tokens += stringTokens(json, key)
      }
    }
    this.most_tokens += Math.max(0, text_bytes - this.#bytes - bytes)
    this.#bytes = text_bytes
  }
}
