const SECTION_HEADER_BYTES = 64
const ALLOCATED = 0x2n
const NO_BITS = 8

/**
 * A copy of a 64-bit little-endian ELF file without what is only for debuggers: every section that is not loaded into
 * memory (symbols, debug lines, comments) goes, as `strip -s` does it. The loaded part stays byte for byte as it is. It
 * is done here because a machine's own `strip` knows only its own processor. Source: the ELF-64 object file format,
 * version 1.5. Throws when the file is not such a file, or when something loaded lies behind what would be cut.
 */
export function withoutSymbols(file: Buffer): Buffer {
  if (file.length < 64 || file.toString('latin1', 0, 6) !== '\x7fELF\x02\x01')
    throw new Error('not a 64-bit little-endian ELF file')
  const sections = readSections(file)
  const names = sections[file.readUInt16LE(0x3e)]
  if (!names) throw new Error('the ELF file has no table of section names')
  const kept = sections.filter((section, index) => index === 0 || section.isAllocated)
  const loadedEnd = Math.max(endOfSegments(file), ...kept.map(section => section.end))
  const nameBytes = file.subarray(names.offset, names.end)

  const namesAt = align(loadedEnd)
  const headersAt = align(namesAt + nameBytes.length)
  const result = Buffer.alloc(headersAt + (kept.length + 1) * SECTION_HEADER_BYTES)
  file.copy(result, 0, 0, loadedEnd)
  nameBytes.copy(result, namesAt)
  const moved = new Map(kept.map((section, index) => [section.index, index]))
  for (const [index, {header}] of [...kept, names].entries()) {
    const target = result.subarray(
      headersAt + index * SECTION_HEADER_BYTES,
      headersAt + (index + 1) * SECTION_HEADER_BYTES,
    )
    header.copy(target)
    // sh_link names another section by its place; one that pointed to a dropped section points to none.
    target.writeUInt32LE(moved.get(header.readUInt32LE(40)) ?? 0, 40)
  }
  result.writeBigUInt64LE(BigInt(namesAt), headersAt + kept.length * SECTION_HEADER_BYTES + 24)
  result.writeBigUInt64LE(BigInt(headersAt), 0x28)
  result.writeUInt16LE(kept.length + 1, 0x3c)
  result.writeUInt16LE(kept.length, 0x3e)
  return result
}

type Section = {index: number; header: Buffer; isAllocated: boolean; offset: number; end: number}

function readSections(file: Buffer): Section[] {
  const start = Number(file.readBigUInt64LE(0x28))
  return Array.from({length: file.readUInt16LE(0x3c)}, (_, index) => {
    const header = file.subarray(start + index * SECTION_HEADER_BYTES, start + (index + 1) * SECTION_HEADER_BYTES)
    const offset = Number(header.readBigUInt64LE(24))
    const bytes = header.readUInt32LE(4) === NO_BITS ? 0 : Number(header.readBigUInt64LE(32))
    return {index, header, isAllocated: (header.readBigUInt64LE(8) & ALLOCATED) !== 0n, offset, end: offset + bytes}
  })
}

function endOfSegments(file: Buffer): number {
  const start = Number(file.readBigUInt64LE(0x20))
  const ends = Array.from({length: file.readUInt16LE(0x38)}, (_, index) => {
    const at = start + index * file.readUInt16LE(0x36)
    return Number(file.readBigUInt64LE(at + 8) + file.readBigUInt64LE(at + 32))
  })
  return Math.max(0, ...ends)
}

function align(offset: number): number {
  return Math.ceil(offset / 8) * 8
}
