import type {RemoveReport} from './remove-objects.ts'
import type {UploadReport} from './upload-bodies.ts'

/** The requests of the main thread to the uploader's, one thing at a time. */
export type UploaderCommand =
  | {readonly order: 'upload'; readonly packs: readonly string[]}
  /** Remove the objects of rows made before. */
  | {readonly order: 'remove'; readonly before_ms: number}

export type UploaderEvent =
  | {readonly news: 'uploaded'; readonly report: UploadReport}
  | {readonly news: 'removed'; readonly report: RemoveReport}
  | {readonly news: 'unreadable'; readonly path: string}
  | {readonly news: 'failed'; readonly message: string}
