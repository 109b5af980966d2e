import {createHash} from 'node:crypto'
import {LRUCache} from 'lru-cache'

const MOST_LOGINS = 1000

/**
 * The sessions of logins, by a hash of all that a login says, its secrets included: two that differ in a secret alone
 * never share a token.
 */
export class LoginMemory<T extends {}> {
  readonly #known = new LRUCache<string, T>({max: MOST_LOGINS})

  of(place: string, login: Readonly<Record<string, unknown>>, make: (key: string) => T): T {
    const key = hashOf([place, Object.entries(login).toSorted(([one], [other]) => (one < other ? -1 : 1))])
    const known = this.#known.get(key) ?? make(key)
    this.#known.set(key, known)
    return known
  }
}

/** No secret can be read from it. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}
