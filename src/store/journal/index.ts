export {JournalFault} from './errors.ts'
export {type Files, nodeFiles, type ReadableFiles} from './files.ts'
export {type JournalOwner, KINDS, type Mark, type RecordKind, segmentName} from './format.ts'
export type {AppendCallback, Journal, JournalStatus, OpenIntent} from './journal.ts'
export {type OpenJournal, openJournal} from './open.ts'
export type {SegmentEnd, SegmentRecord} from './read-segment.ts'
export {
  type JournalRecord,
  type JournalWarning,
  type ReadJournal,
  type RecoveredIntent,
  type Recovery,
  readJournal,
  recover,
  SegmentMissingFault,
} from './reader.ts'
export type {JournalEvent, JournalSettings} from './settings.ts'
