import {createHmac} from 'node:crypto'
import {parsed} from '../../base/json-object.ts'
import {createSeal, type Seal} from '../../base/seal.ts'
import type {NewSimilarEntry, SimilarEntry} from '../semantic/vector-store.ts'
import type {StoredPoint} from './wire.ts'

const FORM = 1
/** 64 bits less these are 53: a whole number in JSON. */
const SURPLUS_BITS = 11n

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
  idOf(partition: string, digest: string): number {
    return Number(this.#hash('id', JSON.stringify([partition, digest])).readBigUInt64BE() >> SURPLUS_BITS)
  }

  close(entry: NewSimilarEntry): StoredPoint {
    const {partition, workspace_id, digest, log_id, features, vector, created_at_ms, expires_at_ms} = entry
    const plain = JSON.stringify([FORM, workspace_id, digest, log_id, features, created_at_ms, expires_at_ms])
    return {
      id: this.idOf(partition, digest),
      partition: this.placeOf(partition),
      vector,
      expires_at_ms,
      sealed: this.#seal.close(plain, placeIn(partition)).toString('base64'),
    }
  }

  /** The entry; null where it was not sealed here for this partition. */
  open(partition: string, sealed: string): Omit<SimilarEntry, 'similarity'> | null {
    const content = parsed(this.#plain(partition, sealed) ?? '')
    if (!Array.isArray(content)) return null
    const [form, workspace_id, digest, log_id, features, created_at_ms, expires_at_ms] = content as readonly unknown[]
    if (form !== FORM || typeof created_at_ms !== 'number' || typeof expires_at_ms !== 'number') return null
    if (typeof workspace_id !== 'string' || typeof digest !== 'string') return null
    if (typeof log_id !== 'string' || typeof features !== 'string') return null
    const id = this.idOf(partition, digest)
    return {id, partition, workspace_id, digest, log_id, features, created_at_ms, expires_at_ms}
  }

  #plain(partition: string, sealed: string): string | undefined {
    try {
      return this.#seal.open(Buffer.from(sealed, 'base64'), placeIn(partition))
    } catch {
      return undefined
    }
  }

  #hash(of: string, text: string): Buffer {
    return createHmac('sha256', this.#key).update(`${of} ${text}`).digest()
  }
}

/** The partition is of one workspace: it binds the organisation, too. */
const placeIn = (partition: string) => ({
  table: 'vector_store',
  column: 'entry',
  row: partition,
  organisation_id: '',
})
