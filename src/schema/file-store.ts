/** A file that the gateway keeps itself, until its provider is told of it. */
export interface ShelvedFile {
  readonly id: string
  readonly file_name: string
  readonly purpose: string
  readonly bytes: number
  /** Seconds since the epoch. */
  readonly created_at: number
}

/** The files of one workspace for one kind of provider. Keeps what `put` was given whole, or nothing of it. */
export interface Shelf {
  put(file: {readonly file_name: string; readonly purpose: string; readonly content: AsyncIterable<Buffer>}): Promise<ShelvedFile>
  /** Null for an id of nobody's, or of another workspace's. */
  find(id: string): Promise<ShelvedFile | null>
  read(file: ShelvedFile): AsyncIterable<Buffer>
  remove(file: ShelvedFile): Promise<void>
  /** The newest first. */
  list(): Promise<readonly ShelvedFile[]>
}
