/** One value of the Basic Encoding Rules (X.690), with definite length. */
export interface BerValue {
  readonly tag: number
  /** Its content, undecoded. */
  readonly bytes: Buffer
  /** The values inside, where it is constructed; else none. */
  readonly parts: readonly BerValue[]
}

/** A message that is longer than this is not read. */
export const MAX_MESSAGE_BYTES = 1_048_576
const MAX_DEPTH = 8
const MAX_VALUES = 20_000
const CONSTRUCTED = 0x20
const SEQUENCE = 0x30

/** Bytes are not what the protocol allows. */
export class BerFault extends Error {
  override name = 'BerFault'
}

/**
 * The length in bytes of the message at the beginning of `bytes`; undefined while its head is not all there. Throws
 * BerFault where no message begins, or one that is too long.
 */
export function messageLength(bytes: Buffer): number | undefined {
  if (bytes.length > 0 && bytes[0] !== SEQUENCE) throw new BerFault('no message begins where one was expected')
  const head = readHead(bytes, 0)
  if (head && head.end > MAX_MESSAGE_BYTES) throw new BerFault(`a message of more than ${MAX_MESSAGE_BYTES} bytes`)
  return head?.end
}

/** Reads one whole value. Each length must be exact at each level. Throws BerFault. */
export function readBer(bytes: Buffer): BerValue {
  const count = {left: MAX_VALUES}
  const [value, ...more] = readAll(bytes, MAX_DEPTH, count)
  if (!value || more.length > 0) throw new BerFault('one value was expected')
  return value
}

/** A whole number of at most four bytes. Throws BerFault. */
export function berInteger({bytes}: BerValue): number {
  if (bytes.length < 1 || bytes.length > 4) throw new BerFault('a number has a wrong length')
  return bytes.readIntBE(0, bytes.length)
}

function readAll(bytes: Buffer, depth: number, count: {left: number}): BerValue[] {
  const values: BerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const head = readHead(bytes, at)
    if (!head || head.end > bytes.length) throw new BerFault('a value is longer than the place it is in')
    if (depth === 0 || count.left-- === 0) throw new BerFault('a message has too many values')
    const tag = bytes[at]!
    const content = bytes.subarray(head.start, head.end)
    values.push({tag, bytes: content, parts: tag & CONSTRUCTED ? readAll(content, depth - 1, count) : []})
    at = head.end
  }
  return values
}

/** Places in `bytes` at which the content of the value at `at` begins and ends. */
function readHead(bytes: Buffer, at: number): {readonly start: number; readonly end: number} | undefined {
  const first = bytes[at + 1]
  if (first === undefined) return undefined
  if (first < 0x80) return {start: at + 2, end: at + 2 + first}
  const size = first & 0x7f
  if (size < 1 || size > 4) throw new BerFault('a length cannot be read')
  if (bytes.length < at + 2 + size) return undefined
  const start = at + 2 + size
  return {start, end: start + bytes.readUIntBE(at + 2, size)}
}
