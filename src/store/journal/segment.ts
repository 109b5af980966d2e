import {join} from 'node:path'
import {JournalFault} from './errors.ts'
import type {Files} from './files.ts'
import {encodeHead, encodeHeader, HEAD_BYTES, HEADER_BYTES, type SegmentHeader, segmentName} from './format.ts'

/** A file whose blocks are reserved, not yet a segment: it gets its number, header and name when it is needed. */
export interface PreallocatedSegment {
  readonly fd: number
  readonly path: string
  readonly bytes: number
}

/** The segment being written. Data ends at `offset`. */
export interface Segment {
  readonly fd: number
  readonly number: number
  readonly bytes: number
  offset: number
}

export interface SegmentDirectory {
  readonly files: Files
  readonly folder: string
  /** Bytes the journal never takes from the disk, so that the databases can still be flushed and segments retired. */
  readonly headroom_bytes: number
}

const ZEROS = Buffer.alloc(1024 * 1024)
const SPARE_SUFFIX = '.spare'

/** The room for records in a spare once it is a segment; the seal at its end is not counted. */
export const usableBytes = (spare: PreallocatedSegment) => spare.bytes - HEADER_BYTES - HEAD_BYTES

export const isSpareName = (name: string) => name.endsWith(SPARE_SUFFIX)

/**
 * Reserves `bytes` on the disk under a spare's name, off the loop. Zeros are written, for only that reserves blocks
 * everywhere (a file made long with ftruncate has none), and synced, so that a quota or a late allocation fails here
 * and later syncs are short.
 */
export async function prepareSpare(
  place: SegmentDirectory,
  serial: number,
  bytes: number,
): Promise<PreallocatedSegment> {
  const {files} = place
  const path = sparePath(place, serial, bytes)
  const fd = await files.open(path, 'wx+')
  try {
    for (let at = 0; at < bytes; )
      at += checked(await files.write(fd, ZEROS, 0, Math.min(ZEROS.length, bytes - at), at))
    await files.datasync(fd)
    return {fd, path, bytes}
  } catch (fault) {
    await discardSpare(files, {fd, path, bytes})
    throw fault
  }
}

/** The same on the loop and without the sync: for the rare moment when a turn needs room and none is prepared. */
export function prepareSpareNow(place: SegmentDirectory, serial: number, bytes: number): PreallocatedSegment {
  const {files} = place
  const path = sparePath(place, serial, bytes)
  const fd = files.openSync(path, 'wx+')
  try {
    for (let at = 0; at < bytes; ) at += checked(files.writeSync(fd, ZEROS, 0, Math.min(ZEROS.length, bytes - at), at))
    return {fd, path, bytes}
  } catch (fault) {
    void discardSpare(files, {fd, path, bytes})
    throw fault
  }
}

/** Gives the spare's blocks back. Never fails: what is left over is removed at the next start. */
export async function discardSpare(files: Files, {fd, path}: PreallocatedSegment): Promise<void> {
  try {
    files.closeSync(fd)
    await files.remove(path)
  } catch {}
}

/** Turns a spare into the segment of `header`. The name comes last: a file with a segment's name has its header. */
export function beginSegment(place: SegmentDirectory, spare: PreallocatedSegment, header: SegmentHeader): Segment {
  const {files} = place
  if (files.writeSync(spare.fd, encodeHeader(header), 0, HEADER_BYTES, 0) !== HEADER_BYTES)
    throw new JournalFault('fault', 'the header of a segment was cut short')
  files.renameSync(spare.path, join(place.folder, segmentName(header.segment)))
  return {fd: spare.fd, number: header.segment, bytes: spare.bytes, offset: HEADER_BYTES}
}

/** Writes the seal behind the data without moving `offset`; gives where the segment then ends. */
export function writeSeal(files: Files, {fd, offset}: Segment): number {
  const seal = Buffer.alloc(HEAD_BYTES)
  encodeHead(seal, 0, 'sealed', 0, 0)
  try {
    return files.writeSync(fd, seal, 0, HEAD_BYTES, offset) === HEAD_BYTES ? offset + HEAD_BYTES : offset
  } catch {
    return offset // the next segment's header says where this one ends
  }
}

/**
 * Puts zeros over what a failed write left behind `offset`, as far as the disk lets us; the next segment's header says
 * the same.
 */
export function wipe(files: Files, {fd, offset}: Segment, bytes: number): void {
  try {
    for (let at = 0; at < bytes; )
      at += checked(files.writeSync(fd, ZEROS, 0, Math.min(ZEROS.length, bytes - at), offset + at))
  } catch {}
}

/** The path of a new file of `bytes`, which the disk has room for, beside what the journal leaves free. */
export function sparePath(
  {files, folder, headroom_bytes}: SegmentDirectory,
  serial: number | string,
  bytes: number,
): string {
  const free_bytes = files.freeBytes(folder)
  if (free_bytes < bytes + headroom_bytes)
    throw new JournalFault(
      'full',
      `the disk has ${free_bytes} bytes free; a segment takes ${bytes} and leaves ${headroom_bytes}`,
    )
  return join(folder, `${serial}${SPARE_SUFFIX}`)
}

/** A write of no bytes would loop for ever. */
function checked(written: number): number {
  if (written <= 0) throw new JournalFault('fault', 'the disk took no bytes')
  return written
}
