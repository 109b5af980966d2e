import {join} from 'node:path'
import {JournalFault} from './errors.ts'
import {segmentName} from './format.ts'
import {type Segment, type SegmentDirectory, sparePath} from './segment.ts'

const COPIED_AT_ONCE_BYTES = 1024 * 1024

/**
 * Writes a segment whose file was removed or replaced from outside again under its name: its data, up to `end`, are
 * still behind the open descriptor. Returns the copy, which is complete once it has the name.
 */
export function restoreSegment(place: SegmentDirectory, lost: Segment, end: number): Segment {
  const {files, folder} = place
  files.makeFolder(folder)
  const path = sparePath(place, `restored-${lost.number}`, end)
  const fd = files.openSync(path, 'w')
  try {
    const bytes = Buffer.allocUnsafeSlow(Math.min(end, COPIED_AT_ONCE_BYTES))
    for (let at = 0; at < end; ) {
      const read = files.readSync(lost.fd, bytes, 0, Math.min(bytes.length, end - at), at)
      if (read <= 0 || files.writeSync(fd, bytes, 0, read, at) !== read)
        throw new JournalFault('fault', 'the copy was cut short')
      at += read
    }
    files.renameSync(path, join(folder, segmentName(lost.number)))
    return {fd, number: lost.number, bytes: end, offset: end}
  } catch (fault) {
    files.closeSync(fd)
    throw fault
  }
}
