import {createReadStream} from 'node:fs'
import {mkdir, open, readdir, readFile, rename, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {newTimeId} from '../base/ids.ts'
import type {FileStore, StoredFile} from '../schema/file-store.ts'

/** A shelf holds as much as it may. */
export class FileStoreFullFault extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'FileStoreFullFault'
  }
}

const PREFIX = 'gw_file_'
const ID = /^gw_file_[\da-f-]{36}$/
const LIFE_S = 30 * 24 * 3600
const MAX_FILE_BYTES = 256 << 20
const MAX_BYTES = 2 ** 31

/**
 * The files of one workspace for one provider, in a folder of the data directory: each is its content and, once that is
 * whole, a page about it. They go after 30 days, and hold 2 GB at most. Of this process's directory alone: another
 * gateway does not see them.
 */
export class LocalFileStore implements FileStore {
  readonly #folder: string
  readonly #now: () => number

  constructor(folder: string, now: () => number) {
    this.#folder = folder
    this.#now = now
  }

  async put({file_name, purpose, content}: Parameters<FileStore['put']>[0]): Promise<StoredFile> {
    await mkdir(this.#folder, {recursive: true, mode: 0o700})
    const held = (await this.#kept()).reduce((sum, {bytes}) => sum + bytes, 0)
    const id = PREFIX + newTimeId(this.#now())
    const path = join(this.#folder, `${id}.rows`)
    const file = await open(path, 'wx', 0o600)
    try {
      let bytes = 0
      for await (const piece of content) {
        bytes += piece.length
        if (bytes > MAX_FILE_BYTES) throw new FileStoreFullFault(`a file may have ${MAX_FILE_BYTES >> 20} MB at most`)
        if (held + bytes > MAX_BYTES) throw new FileStoreFullFault('no more files are kept here now: delete some')
        await file.writeFile(piece)
      }
      await file.sync()
      const page: StoredFile = {id, file_name, purpose, bytes, created_at: this.#seconds()}
      await this.#write(page)
      return page
    } catch (fault) {
      await rm(path, {force: true})
      throw fault
    } finally {
      await file.close()
    }
  }

  async find(id: string): Promise<StoredFile | null> {
    if (!ID.test(id)) return null
    const page = await this.#page(`${id}.json`)
    return page && !this.#isOver(page) ? page : null
  }

  read({id}: StoredFile): AsyncIterable<Buffer> {
    return createReadStream(join(this.#folder, `${id}.rows`))
  }

  async remove({id}: StoredFile): Promise<void> {
    await rm(join(this.#folder, `${id}.json`), {force: true})
    await rm(join(this.#folder, `${id}.rows`), {force: true})
  }

  async list(): Promise<readonly StoredFile[]> {
    return (await this.#kept()).toSorted((one, other) => (one.id < other.id ? 1 : -1))
  }

  /** Deletes files that are past their time, or were never whole. */
  async #kept(): Promise<StoredFile[]> {
    const names = await readdir(this.#folder).catch(() => [] as string[])
    const kept: StoredFile[] = []
    for (const name of names) {
      if (!name.endsWith('.json')) continue
      const page = await this.#page(name)
      if (page && this.#isOver(page)) await this.remove(page)
      else if (page) kept.push(page)
    }
    const old = `${PREFIX}${newTimeId(this.#now() - LIFE_S * 1000)}`
    for (const name of names) {
      const is_torn = name.endsWith('.rows') && !names.includes(name.replace('.rows', '.json'))
      if (is_torn && name < old) await rm(join(this.#folder, name), {force: true})
    }
    return kept
  }

  async #write(page: StoredFile) {
    const path = join(this.#folder, `${page.id}.json`)
    const file = await open(`${path}.part`, 'w', 0o600)
    try {
      await file.writeFile(JSON.stringify(page))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.part`, path)
  }

  async #page(name: string): Promise<StoredFile | null> {
    try {
      return JSON.parse(await readFile(join(this.#folder, name), 'utf8')) as StoredFile
    } catch {
      return null
    }
  }

  #isOver({created_at}: StoredFile): boolean {
    return this.#seconds() - created_at > LIFE_S
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000)
  }
}
