/** A file that the gateway keeps itself, until its provider gets it. */
export interface StoredFile {
  readonly id: string
  readonly file_name: string
  readonly purpose: string
  readonly bytes: number
  /** Seconds since the epoch. */
  readonly created_at: number
}

/** The files of one workspace for one kind of provider. Keeps what `put` was given whole, or nothing of it. */
export interface FileStore {
  put(file: {
    readonly file_name: string
    readonly purpose: string
    readonly content: AsyncIterable<Buffer>
  }): Promise<StoredFile>
  /** Null for an unknown id, or one of another workspace. */
  find(id: string): Promise<StoredFile | null>
  read(file: StoredFile): AsyncIterable<Buffer>
  remove(file: StoredFile): Promise<void>
  /** The newest first. */
  list(): Promise<readonly StoredFile[]>
}
