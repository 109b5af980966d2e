import {createHmac} from 'node:crypto'
import {parsed} from '../../base/json-object.ts'
import {createSeal, type Seal} from '../../base/seal.ts'
import type {AnswerMarks} from '../../ports/cache/index.ts'
import type {NewSimilarEntry, SimilarEntry} from '../semantic/vector-store.ts'
import type {StoredPoint} from './wire.ts'

const FORM = 1
/** 64 bits less these are 53: a whole number in JSON. */
const SURPLUS_BITS = 11n

/** An entry that opened, and its own id. */
export interface OpenedEntry {
  readonly id: number
  readonly entry: Omit<SimilarEntry, 'id' | 'partition' | 'similarity'>
  /** Entries are listed and cleared by them. */
  readonly about: AnswerMarks
}

/**
 * Entries as a store outside gets them. It can be read by others and written by others: they learn from a point which
 * others share its partition, when it ends, and its vector; and a point that they made or changed does not open.
 */
export class EntrySeal {
  readonly #seal: Seal
  readonly #key: Uint8Array

  constructor(seal: Pick<Seal, 'derived'>) {
    this.#seal = createSeal(seal.derived('vector store entries'))
    this.#key = seal.derived('vector store places')
  }

  /** The name of a partition outside: 64 hex digits, so that no text of a caller gets into a filter. */
  placeOf(partition: string): string {
    return this.#hash('partition', partition).toString('hex')
  }

  /** The id of the entry of an answer. It is written again in its own place, by whichever process. */
  idOf(place: string, digest: string): number {
    return Number(this.#hash('id', JSON.stringify([place, digest])).readBigUInt64BE() >> SURPLUS_BITS)
  }

  close(entry: NewSimilarEntry): StoredPoint {
    const {workspace_id, digest, log_id, features, vector, created_at_ms, expires_at_ms, about} = entry
    const marks = [about?.model ?? null, about?.namespace ?? null]
    const plain = [FORM, workspace_id, digest, log_id, features, created_at_ms, expires_at_ms, ...marks]
    const place = this.placeOf(entry.partition)
    return {
      id: this.idOf(place, digest),
      partition: place,
      vector,
      expires_at_ms,
      sealed: this.#seal.close(JSON.stringify(plain), boundTo(place)).toString('base64'),
    }
  }

  /** The entry; null where it was not sealed here for this place. */
  open(place: string, sealed: string): OpenedEntry | null {
    const content = parsed(this.#plain(place, sealed) ?? '')
    if (!Array.isArray(content)) return null
    const [form, workspace_id, digest, log_id, features, ...rest] = content as readonly unknown[]
    const [created_at_ms, expires_at_ms, model, namespace] = rest
    if (form !== FORM || typeof created_at_ms !== 'number' || typeof expires_at_ms !== 'number') return null
    if (typeof workspace_id !== 'string' || typeof digest !== 'string') return null
    if (typeof log_id !== 'string' || typeof features !== 'string') return null
    const about = {model: textOrNull(model), namespace: textOrNull(namespace)}
    const entry = {workspace_id, digest, log_id, features, created_at_ms, expires_at_ms}
    return {id: this.idOf(place, digest), entry, about}
  }

  #plain(place: string, sealed: string): string | undefined {
    try {
      return this.#seal.open(Buffer.from(sealed, 'base64'), boundTo(place))
    } catch {
      return undefined
    }
  }

  #hash(of: string, text: string): Buffer {
    return createHmac('sha256', this.#key).update(`${of} ${text}`).digest()
  }
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

/** A place is of one partition, and that of one workspace: it binds the organisation, too. */
const boundTo = (place: string) => ({
  table: 'vector_store',
  column: 'entry',
  row: place,
  organisation_id: '',
})
