/** A credential that was fetched, and when it dies. */
export interface CachedToken<T> {
  readonly value: T
  /** Milliseconds since the epoch; Infinity for what does not die. */
  readonly expires_at_ms: number
}

export interface TokenCacheOptions {
  readonly now_ms: () => number
  /** A credential with less than this left is fetched again. */
  readonly early_ms?: number
  /** The most that are kept; the least recently used goes first. */
  readonly most?: number
}

/**
 * Credentials that cost a call, kept until shortly before they expire. The key is a hash of the whole login, secrets
 * included, so that no caller gets a credential that another's secret bought. Callers of one key share one fetch. A
 * fetch that fails rejects for all who wait and is not remembered; while the credential at hand is still valid, it is
 * returned instead.
 */
export class TokenCache<T> {
  readonly #now_ms: () => number
  readonly #early_ms: number
  readonly #most: number
  /** Least recently used first. */
  readonly #held = new Map<string, CachedToken<T>>()
  readonly #fetching = new Map<string, Promise<T>>()

  constructor({now_ms, early_ms = 5 * 60_000, most = 1000}: TokenCacheOptions) {
    this.#now_ms = now_ms
    this.#early_ms = early_ms
    this.#most = most
  }

  async get(key: string, fetch: () => Promise<CachedToken<T>>): Promise<T> {
    const held = this.#held.get(key)
    if (held && held.expires_at_ms - this.#now_ms() > this.#early_ms) {
      this.#held.delete(key)
      this.#held.set(key, held)
      return held.value
    }
    const fetching = this.#fetching.get(key) ?? this.#fetch(key, fetch)
    try {
      return await fetching
    } catch (error) {
      if (held && held.expires_at_ms > this.#now_ms()) return held.value
      throw error
    }
  }

  /** Forgets the token under `key`: a provider refused it. */
  forget(key: string): void {
    this.#held.delete(key)
  }

  #fetch(key: string, fetch: () => Promise<CachedToken<T>>): Promise<T> {
    const fetching = (async () => {
      try {
        const fetched = await fetch()
        this.#held.delete(key)
        this.#held.set(key, fetched)
        if (this.#held.size > this.#most) this.#held.delete(this.#held.keys().next().value!)
        return fetched.value
      } finally {
        this.#fetching.delete(key)
      }
    })()
    this.#fetching.set(key, fetching)
    return fetching
  }
}
