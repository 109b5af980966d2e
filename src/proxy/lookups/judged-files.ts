import {createHash} from 'node:crypto'
import {LRUCache} from 'lru-cache'
import type {Log} from '../../base/log.ts'
import type {Store} from '../../store/database.ts'
import {findJudgedFile, keepJudgedFile} from '../../store/judged-files.ts'
import type {JudgedFiles, ObjectPlace} from '../services.ts'
import {keyOf} from './seen-objects.ts'

const MOST_IN_MEMORY = 10_000
/** A batch is made of its file soon; one that is older is judged again. */
const MAX_AGE_MS = 30 * 24 * 3_600_000

/**
 * In the database, so that it outlives the process and all processes share it; what cannot be kept there is judged
 * again.
 */
export class KeptJudgements implements JudgedFiles {
  readonly #here = new LRUCache<string, string>({max: MOST_IN_MEMORY, ttl: MAX_AGE_MS})
  readonly #store: Store
  readonly #now: () => number
  readonly #log: Log

  constructor(store: Store, now: () => number, log: Log) {
    this.#store = store
    this.#now = now
    this.#log = log
  }

  note(workspace_id: string, place: ObjectPlace, id: string, digest: string) {
    const key = hashed(workspace_id, place, id)
    const judged_at_ms = this.#now()
    this.#here.set(key, digest)
    this.#store
      .write(db => keepJudgedFile(db, {key, digest, judged_at_ms}, judged_at_ms - MAX_AGE_MS))
      .catch((fault: unknown) =>
        this.#log.error({fault}, 'a file that was judged could not be noted: it will be judged again'),
      )
  }

  async isJudged(workspace_id: string, place: ObjectPlace, id: string, digest: string): Promise<boolean> {
    const key = hashed(workspace_id, place, id)
    if (this.#here.get(key) === digest) return true
    try {
      return (await findJudgedFile(this.#store.db, key, this.#now() - MAX_AGE_MS)) === digest
    } catch (fault) {
      this.#log.error({fault}, 'whether a file was judged could not be read: it is judged again')
      return false
    }
  }
}

function hashed(workspace_id: string, place: ObjectPlace, id: string): string {
  return createHash('sha256')
    .update(keyOf(workspace_id, place, id))
    .digest('hex')
}
