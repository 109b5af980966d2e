/** Pixels of a picture. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** The kind of a file, by its first bytes. */
export type FileKind = 'image' | 'sound' | 'document'

const MAX_SEGMENTS = 256

/** The kind of a file by its first bytes; null for what is none of these, text among it. */
export function kindOf(head: Buffer): FileKind | null {
  if (isPng(head) || isJpeg(head) || isGif(head) || isWebp(head) || isOtherPicture(head)) return 'image'
  const begins = (word: string, at = 0) => head.toString('latin1', at, at + word.length) === word
  if (begins('%PDF') || begins('PK\x03\x04')) return 'document'
  if ((begins('RIFF') && begins('WAVE', 8)) || begins('ID3') || begins('OggS') || begins('fLaC')) return 'sound'
  return head.length > 1 && head[0] === 0xff && (head[1]! & 0xe0) === 0xe0 ? 'sound' : null // a frame of MP3
}

/** HEIC, AVIF or TIFF: pictures whose size is not read. */
function isOtherPicture(head: Buffer): boolean {
  const begins = head.toString('latin1', 0, 4)
  return (
    (isBoxed(head) && /^(?:hei|hev|mif|msf|avi)/.test(head.toString('latin1', 8, 12))) ||
    begins === 'II*\0' ||
    begins === 'MM\0*'
  )
}

/** True of a film: MP4 or QuickTime, WebM or Matroska. */
export function isFilm(head: Buffer): boolean {
  return isBoxed(head) || (head.length >= 4 && head.readUInt32BE(0) === 0x1a45dfa3)
}

/** How large a picture is, by the header of a PNG, JPEG, GIF or WebP; null where the bytes do not tell. */
export function sizeOf(head: Buffer): Size | null {
  const size = isPng(head)
    ? png(head)
    : isGif(head)
      ? gif(head)
      : isJpeg(head)
        ? jpeg(head)
        : isWebp(head)
          ? webp(head)
          : null
  return size && size.width > 0 && size.height > 0 ? size : null
}

const isBoxed = (head: Buffer) => head.toString('latin1', 4, 8) === 'ftyp'
const isPng = (head: Buffer) => head.length >= 4 && head.readUInt32BE(0) === 0x89504e47
const isJpeg = (head: Buffer) => head.length >= 3 && head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff
const isGif = (head: Buffer) => head.toString('latin1', 0, 4) === 'GIF8'
const isWebp = (head: Buffer) => head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP'

function png(head: Buffer): Size | null {
  return head.length < 24 ? null : {width: head.readUInt32BE(16), height: head.readUInt32BE(20)}
}

function gif(head: Buffer): Size | null {
  return head.length < 10 ? null : {width: head.readUInt16LE(6), height: head.readUInt16LE(8)}
}

/** Its size is in the first frame's header, behind any metadata of a camera. */
function jpeg(head: Buffer): Size | null {
  let at = 2
  for (let segment = 0; segment < MAX_SEGMENTS && at + 9 <= head.length; segment++) {
    if (head[at] !== 0xff) return null
    const marker = head[at + 1]!
    if (marker === 0xff) {
      at++
      continue
    }
    const is_frame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (is_frame) return {width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5)}
    const is_bare = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)
    at += is_bare ? 2 : 2 + head.readUInt16BE(at + 2)
  }
  return null
}

function webp(head: Buffer): Size | null {
  if (head.length < 30) return null
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return {width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff}
    case 'VP8L': {
      const bits = head.readUInt32LE(21)
      return {width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1}
    }
    case 'VP8X':
      return {width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1}
    default:
      return null
  }
}
