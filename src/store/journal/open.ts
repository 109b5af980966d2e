import {join} from 'node:path'
import {after} from '../../base/delay.ts'
import {nodeFiles} from './files.ts'
import {checkStoreId, type Mark} from './format.ts'
import {Journal} from './journal.ts'
import {listSegments, type RecoveredIntent} from './reader.ts'
import {isSpareName} from './segment.ts'
import type {JournalSettings} from './settings.ts'

const MB = 1024 * 1024
const DEFAULTS = {
  now: Date.now,
  segment_bytes: 16 * MB,
  settlement_bytes: 4096,
  headroom_bytes: 32 * MB,
  sync_ms: 100,
  retry_ms: 1000,
  after,
  onWritten: () => {},
  report: () => {},
  files: nodeFiles,
}

export type OpenJournal = Pick<JournalSettings, 'folder' | 'store_id' | 'epoch'> &
  Partial<JournalSettings> & {
    /** The flusher's mark: segments are numbered on from it, even when the folder was emptied by hand. */
    readonly mark: Mark
    /** The attempts that `recover` found open: carried forward like any other until they are settled. */
    readonly open: readonly RecoveredIntent[]
  }

/**
 * The journal of a data directory, opened for writing in a new segment; never in one that exists. Call `recover` first,
 * append a settlement for each intent it found open, then serve. Refuses (TypeError) a store id that is no UUID.
 */
export async function openJournal({mark, open, ...given}: OpenJournal): Promise<Journal> {
  const settings: JournalSettings = {...DEFAULTS, ...given}
  const {files, folder, store_id, epoch} = settings
  checkStoreId(store_id)
  files.makeFolder(folder)
  const unused = files.list(folder).filter(isSpareName)
  await Promise.all(unused.map(name => files.remove(join(folder, name))))
  const segments = listSegments(folder, files, {store_id, epoch})
  const ours = segments.filter(({header}) => header?.store_id === store_id && header.epoch === epoch)
  const last = Math.max(mark.segment, ...segments.map(({number}) => number))
  const journal = new Journal(
    settings,
    last + 1,
    ours.map(({number}) => number),
    open,
  )
  await journal.begin()
  return journal
}
