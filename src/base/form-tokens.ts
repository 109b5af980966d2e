import {formBoundary, isPartHead, MAX_PART_HEAD, MAX_PARTS, type PartHead, partHead} from './multipart.ts'
import {FormFault} from './multipart-stream.ts'

/** A piece of a form as it came; all pieces in a row are the form, byte by byte. */
export interface FormToken {
  /**
   * `part`: a boundary and the head behind it. `content`: of that part. `last`: the boundary that ends the form.
   * `rest`: the bytes that follow, which are ignored.
   */
  readonly kind: 'part' | 'content' | 'last' | 'rest'
  readonly bytes: Buffer
  readonly head?: PartHead
}

const LINE_END = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

/**
 * The pieces of a form as it comes, unchanged. Of it no more is held than the chunk at hand and what may be the
 * beginning of a boundary. Throws `FormFault` where two readers could find different parts in it, as `formParts` does.
 */
export async function* formTokens(source: AsyncIterable<Uint8Array>, content_type: string): AsyncGenerator<FormToken> {
  const boundary = formBoundary(content_type)
  if (boundary === null) throw new FormFault('its content type names no boundary, or more than one')
  const mark = Buffer.concat([LINE_END, boundary])
  const form = new Held(source)
  let opening = await form.opening(boundary, mark)
  for (let parts = 0; ; parts++) {
    if (parts > MAX_PARTS) throw new FormFault(`it has more than ${MAX_PARTS} parts`)
    await form.atLeast(2)
    if (form.begins('--')) break
    const length = await form.headLength()
    const text = form.peek(length - HEAD_END.length)
    if (!isPartHead(text)) throw new FormFault('the head of a part is not well formed')
    yield {kind: 'part', head: partHead(text), bytes: Buffer.concat([opening, form.take(length)])}
    // An empty part ends with the line end that ends its head.
    await form.atLeast(boundary.length)
    if (form.beginsWith(boundary)) opening = form.take(boundary.length)
    else {
      for await (const bytes of form.until(mark)) yield {kind: 'content', bytes}
      opening = form.take(mark.length)
    }
  }
  yield {kind: 'last', bytes: Buffer.concat([opening, form.take(2)])}
  for await (const bytes of form.all()) yield {kind: 'rest', bytes}
}

/** Bytes that arrived and are not passed on yet. */
class Held {
  readonly #source: AsyncIterator<Uint8Array>
  #bytes: Buffer = NOTHING

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The first boundary; before it there is nothing but a line end. */
  async opening(boundary: Buffer, mark: Buffer): Promise<Buffer> {
    await this.atLeast(boundary.length)
    if (this.beginsWith(boundary)) return this.take(boundary.length)
    await this.atLeast(mark.length)
    if (this.beginsWith(mark)) return this.take(mark.length)
    throw new FormFault('it does not begin with its boundary')
  }

  begins(text: string): boolean {
    return this.#bytes.toString('latin1', 0, text.length) === text
  }

  beginsWith(bytes: Buffer): boolean {
    return this.#bytes.subarray(0, bytes.length).equals(bytes)
  }

  peek(length: number): string {
    return this.#bytes.toString('latin1', 0, length)
  }

  take(length: number): Buffer {
    const taken = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length)
    return taken
  }

  /** Of the head that begins here, with the empty line that ends it. */
  async headLength(): Promise<number> {
    for (let from = 0; ; ) {
      const end = this.#bytes.indexOf(HEAD_END, from)
      if (end > MAX_PART_HEAD || (end < 0 && this.#bytes.length > MAX_PART_HEAD))
        throw new FormFault('the head of a part is too long')
      if (end >= 0) return end + HEAD_END.length
      from = Math.max(0, this.#bytes.length - HEAD_END.length + 1)
      await this.#more()
    }
  }

  /** The bytes up to `mark`, which is left. */
  async *until(mark: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#bytes.indexOf(mark)
      const sure = at >= 0 ? at : this.#bytes.length - mark.length + 1
      if (sure > 0) yield this.take(sure)
      if (at >= 0) return
      await this.#more()
    }
  }

  async *all(): AsyncGenerator<Buffer> {
    if (this.#bytes.length > 0) yield this.take(this.#bytes.length)
    for (let next = await this.#source.next(); !next.done; next = await this.#source.next()) yield bufferOf(next.value)
  }

  async atLeast(length: number): Promise<void> {
    while (this.#bytes.length < length) await this.#more()
  }

  async #more(): Promise<void> {
    const next = await this.#source.next()
    if (next.done) throw new FormFault('it ends before its last boundary')
    const chunk = bufferOf(next.value)
    this.#bytes = this.#bytes.length > 0 ? Buffer.concat([this.#bytes, chunk]) : chunk
  }
}

function bufferOf({buffer, byteOffset, byteLength}: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
