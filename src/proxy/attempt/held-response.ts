/** So much of a refusal is read while it waits. */
const MAX_BYTES = 1 << 18

/** A response that waits until it is known whether the client gets it. */
export class HeldResponse {
  readonly status: number
  readonly headers: Record<string, string | string[]>
  readonly parts: Buffer[] = []
  has_ended = false
  #length = 0

  constructor(status: number, headers: Record<string, string | string[]>) {
    this.status = status
    this.headers = headers
  }

  /** False when no more should come for now. */
  takes(chunk: Buffer): boolean {
    this.parts.push(chunk)
    this.#length += chunk.length
    return this.#length < MAX_BYTES
  }

  end(): void {
    this.has_ended = true
  }
}
