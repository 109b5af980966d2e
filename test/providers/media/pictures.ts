/** Heads of pictures of a size, as files of each format begin. */
export const FORMATS: Readonly<Record<string, (width: number, height: number) => Buffer>> = {
  png(width, height) {
    const head = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(9)])
    head.writeUInt32BE(width, 16)
    head.writeUInt32BE(height, 20)
    return head
  },
  jpeg: (width, height) => jpeg(width, height, 0xc0, 16),
  'progressive jpeg of a camera': (width, height) => jpeg(width, height, 0xc2, 60_000),
  gif(width, height) {
    const head = Buffer.alloc(13)
    head.write('GIF89a', 'latin1')
    head.writeUInt16LE(width, 6)
    head.writeUInt16LE(height, 8)
    return head
  },
  'webp, lossy'(width, height) {
    const head = webp('VP8 ')
    head.writeUInt16LE(width, 26)
    head.writeUInt16LE(height, 28)
    return head
  },
  'webp, lossless'(width, height) {
    const head = webp('VP8L')
    head.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 21)
    return head
  },
  'webp, extended'(width, height) {
    const head = webp('VP8X')
    head.writeUIntLE(width - 1, 24, 3)
    head.writeUIntLE(height - 1, 27, 3)
    return head
  },
}

function jpeg(width: number, height: number, frame: number, exif_bytes: number): Buffer {
  const exif = Buffer.alloc(exif_bytes + 4)
  exif.writeUInt16BE(0xffe1, 0)
  exif.writeUInt16BE(exif_bytes + 2, 2)
  const size = Buffer.alloc(12)
  size.writeUInt16BE(0xff00 | frame, 0)
  size.writeUInt16BE(17, 2)
  size.writeUInt8(8, 4)
  size.writeUInt16BE(height, 5)
  size.writeUInt16BE(width, 7)
  return Buffer.concat([Buffer.from('ffd8', 'hex'), exif, size, Buffer.alloc(20)])
}

function webp(form: string): Buffer {
  const head = Buffer.alloc(40)
  head.write('RIFF', 0, 'latin1')
  head.write('WEBP', 8, 'latin1')
  head.write(form, 12, 'latin1')
  return head
}
