import {dispositionParameter} from './multipart-head.ts'

/** A fault of a form, described for its sender. */
export class FormFault extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'FormFault'
  }
}

/** One part of a form. Its content is to be read before the next part is read; what is left of it is passed over. */
export interface FormPart {
  readonly name: string
  /** Null for a plain field. */
  readonly file_name: string | null
  readonly content_type: string | null
  readonly content: AsyncIterable<Buffer>
}

const MAX_HEAD_BYTES = 16 << 10
const MAX_PARTS = 100
const HEAD_END = Buffer.from('\r\n\r\n')

/**
 * The parts of a `multipart/form-data` body (RFC 7578) as they come, no faster than they are taken: of the stream no
 * more is held than the chunk at hand and what could be the beginning of a boundary. Throws `FormFault`.
 */
export async function* readParts(source: AsyncIterable<Uint8Array>, content_type: string): AsyncGenerator<FormPart> {
  const match = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(content_type)
  if (!match) throw new FormFault('the content type is no multipart/form-data with a boundary')
  const reader = new Reader(source, Buffer.from(`\r\n--${match[1] ?? match[2]}`))
  await reader.skip() // before the first boundary there is nothing
  for (let parts = 0; await reader.hasPart(); parts++) {
    if (parts === MAX_PARTS) throw new FormFault(`it has more than ${MAX_PARTS} parts`)
    const head = await reader.head()
    const content = reader.untilMark()
    const disposition = /^content-disposition:\s*form-data\s*;?([^\r\n]*)/im.exec(head)?.[1] ?? ''
    yield {
      name: dispositionParameter(disposition, 'name') ?? '',
      file_name: dispositionParameter(disposition, 'filename'),
      content_type: /^content-type:\s*([^\r\n]+)/im.exec(head)?.[1]?.trim() ?? null,
      content,
    }
    // The part was not wanted; `content` itself may have been left, and then gives no more.
    if (!reader.is_at_mark) await reader.skip()
  }
}

class Reader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #mark: Buffer
  /** As if a line had ended before the first byte: a form may begin with its boundary. */
  #held: Buffer = Buffer.from('\r\n')

  constructor(source: AsyncIterable<Uint8Array>, mark: Buffer) {
    this.#source = source[Symbol.asyncIterator]()
    this.#mark = mark
  }

  /** True when a boundary was the last that was taken. */
  is_at_mark = false

  async skip(): Promise<void> {
    for await (const _ of this.untilMark());
  }

  /** The bytes up to the next boundary, which is taken too. */
  async *untilMark(): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#held.indexOf(this.#mark)
      const sure = at >= 0 ? at : this.#held.length - this.#mark.length + 1
      if (sure > 0) {
        const bytes = this.#held.subarray(0, sure)
        this.#held = this.#held.subarray(sure)
        yield bytes
      }
      if (at >= 0) {
        this.#held = this.#held.subarray(this.#mark.length)
        this.is_at_mark = true
        return
      }
      await this.#more()
    }
  }

  /** After a boundary: whether a part follows, or the end. */
  async hasPart(): Promise<boolean> {
    while (this.#held.length < 2) await this.#more()
    return this.#held.toString('latin1', 0, 2) !== '--'
  }

  async head(): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf(HEAD_END)
      if (end > MAX_HEAD_BYTES || (end < 0 && this.#held.length > MAX_HEAD_BYTES))
        throw new FormFault('the head of a part is too long')
      if (end >= 0) {
        const head = this.#held.toString('latin1', 0, end)
        this.#held = this.#held.subarray(end + HEAD_END.length)
        this.is_at_mark = false
        return head
      }
      await this.#more()
    }
  }

  async #more(): Promise<void> {
    const next = await this.#source.next()
    if (next.done) throw new FormFault('it ends before its last boundary')
    const {buffer, byteOffset, byteLength} = next.value
    const chunk = Buffer.from(buffer, byteOffset, byteLength)
    this.#held = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
  }
}
