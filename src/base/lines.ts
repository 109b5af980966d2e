const LF = 10
const CR = 13

/** A line is longer than what is held of one. */
export class LineTooLongFault extends Error {
  readonly line: number

  constructor(line: number, most_bytes: number) {
    super(`line ${line} is longer than ${most_bytes} bytes`)
    this.name = 'LineTooLongFault'
    this.line = line
  }
}

export interface TextLine {
  readonly bytes: Buffer
  /** Counted from 1, empty lines too. */
  readonly number: number
}

/**
 * The lines of a stream, one at a time and no faster than they are taken, without their ends (LF or CRLF); empty ones
 * are passed over. Of the stream no more is held than the chunk at hand and an unfinished line.
 */
export async function* linesOf(source: AsyncIterable<Uint8Array>, most_bytes: number): AsyncGenerator<TextLine> {
  let number = 1
  let open: Buffer[] = []
  let open_bytes = 0
  const line = (end: Buffer): TextLine | null => {
    const whole = open.length > 0 ? Buffer.concat([...open, end]) : end
    open = []
    open_bytes = 0
    const bare = whole.at(-1) === CR ? whole.subarray(0, -1) : whole
    const bytes = number === 1 && bare[0] === 0xef && bare[1] === 0xbb && bare[2] === 0xbf ? bare.subarray(3) : bare
    return bytes.toString('latin1').trim() === '' ? null : {bytes, number}
  }
  for await (const part of source) {
    const chunk = Buffer.from(part.buffer, part.byteOffset, part.byteLength)
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      if (open_bytes + end - start > most_bytes) throw new LineTooLongFault(number, most_bytes)
      const found = line(chunk.subarray(start, end))
      start = end + 1
      if (found) yield found
      number++
    }
    open_bytes += chunk.length - start
    if (open_bytes > most_bytes) throw new LineTooLongFault(number, most_bytes)
    if (start < chunk.length) open.push(chunk.subarray(start))
  }
  const last = line(Buffer.alloc(0))
  if (last) yield last
}
