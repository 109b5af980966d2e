interface Entry<V> {
  readonly key: string
  value: V
  next: Entry<V> | undefined
}

const MIN_BUCKETS = 64
/** Ids end in what is random or counted; the rest of them need not be looked at. */
const HASHED_CHARACTERS = 12

/**
 * A Map by ids for what comes and goes with every call. V8's own Map is no good at that: each table it outgrows, which
 * deletions bring about every few calls, keeps its entries and a link to the next table. Once one of them is in the old
 * space, all that follow are moved there too, with everything that was in them, until the next full collection. Nothing
 * here outlives its deletion.
 */
export class IdMap<V> {
  #buckets: (Entry<V> | undefined)[] = emptyBuckets(MIN_BUCKETS)
  #swept = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: string): V | undefined {
    let entry = this.#buckets[this.#bucketOf(key)]
    while (entry && entry.key !== key) entry = entry.next
    return entry?.value
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  set(key: string, value: V): void {
    const bucket = this.#bucketOf(key)
    const first = this.#buckets[bucket]
    for (let entry = first; entry; entry = entry.next) {
      if (entry.key !== key) continue
      entry.value = value
      return
    }
    this.#buckets[bucket] = {key, value, next: first}
    if (++this.#size > this.#buckets.length) this.#grow()
  }

  /** Takes the value out and gives it. */
  take(key: string): V | undefined {
    const bucket = this.#bucketOf(key)
    let before: Entry<V> | undefined
    for (let entry = this.#buckets[bucket]; entry; entry = entry.next) {
      if (entry.key === key) {
        if (before) before.next = entry.next
        else this.#buckets[bucket] = entry.next
        entry.next = undefined // an entry that is old already must not hold younger ones
        this.#size--
        return entry.value
      }
      before = entry
    }
    return undefined
  }

  *values(): Generator<V> {
    for (const first of this.#buckets) for (let entry = first; entry; entry = entry.next) yield entry.value
  }

  /** Looks at the next `buckets` of them all, in turn, and forgets what is over there. */
  sweep(buckets: number, isOver: (value: V) => boolean): void {
    for (let n = 0; n < buckets; n++) {
      this.#swept = (this.#swept + 1) % this.#buckets.length
      let entry = this.#buckets[this.#swept]
      while (entry) {
        const {key, value, next} = entry
        if (isOver(value)) this.take(key)
        entry = next
      }
    }
  }

  #bucketOf(key: string): number {
    let hash = 0
    for (let at = Math.max(0, key.length - HASHED_CHARACTERS); at < key.length; at++)
      hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0
    return hash & (this.#buckets.length - 1)
  }

  #grow() {
    const former = this.#buckets
    this.#buckets = emptyBuckets(former.length * 2)
    for (const first of former) {
      for (let entry = first; entry; ) {
        const {next} = entry
        const bucket = this.#bucketOf(entry.key)
        entry.next = this.#buckets[bucket]
        this.#buckets[bucket] = entry
        entry = next
      }
    }
  }
}

/** The length stays a power of two. */
function emptyBuckets<V>(length: number): (Entry<V> | undefined)[] {
  return new Array<Entry<V> | undefined>(length).fill(undefined)
}
