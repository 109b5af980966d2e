import {JournalFault} from './errors.ts'
import {encodeHead, HEAD_BYTES, MAX_ID_BYTES, MAX_PAYLOAD_BYTES, type RecordKind} from './format.ts'

const USUAL_BYTES = 2 * 1024 * 1024
/** UTF-8 takes at most three bytes for one UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3

/**
 * The records gathered since the last write, encoded one behind the other in one buffer that is used again and again.
 * A record is first staged (encoded behind the others, so that its size is known), then kept or forgotten.
 */
export class Batch {
  buffer = Buffer.allocUnsafeSlow(USUAL_BYTES)
  /** Bytes of the records kept. */
  bytes = 0
  #staged = 0

  /**
   * Encodes a record behind the kept ones and gives its size; refuses one that is too large. A staged record not kept
   * is forgotten.
   */
  stage(kind: RecordKind, id: string, payload: Buffer | string): number {
    const text = typeof payload === 'string'
    if (id.length > MAX_ID_BYTES || payload.length > MAX_PAYLOAD_BYTES) throw tooLarge()
    this.#grow(
      HEAD_BYTES + (id.length + (text ? payload.length : 0)) * MAX_BYTES_PER_UNIT + (text ? 0 : payload.length),
    )
    const body = this.bytes + HEAD_BYTES
    const id_bytes = id === '' ? 0 : this.buffer.write(id, body)
    const payload_bytes = text
      ? this.buffer.write(payload, body + id_bytes)
      : payload.copy(this.buffer, body + id_bytes)
    if (id_bytes > MAX_ID_BYTES || payload_bytes > MAX_PAYLOAD_BYTES) throw tooLarge()
    this.#staged = encodeHead(this.buffer, this.bytes, kind, id_bytes, payload_bytes)
    return this.#staged
  }

  keep(): void {
    this.bytes += this.#staged
    this.#staged = 0
  }

  /** Forgets the kept records; a staged one moves to the front. */
  clear(): void {
    if (this.#staged > 0) this.buffer.copyWithin(0, this.bytes, this.bytes + this.#staged)
    else if (this.buffer.length > USUAL_BYTES) this.buffer = Buffer.allocUnsafeSlow(USUAL_BYTES)
    this.bytes = 0
  }

  #grow(record_bytes: number): void {
    this.#staged = 0
    const needed = this.bytes + record_bytes
    if (needed <= this.buffer.length) return
    const larger = Buffer.allocUnsafeSlow(needed * 2)
    this.buffer.copy(larger, 0, 0, this.bytes)
    this.buffer = larger
  }
}

const tooLarge = () =>
  new JournalFault(
    'too_large',
    `a record's id has at most ${MAX_ID_BYTES} bytes, its payload at most ${MAX_PAYLOAD_BYTES}`,
  )
