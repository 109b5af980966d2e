import {lookup as ask} from 'node:dns/promises'

/** The addresses a host name has, best first. Rejects as `dns.lookup` does when it has none. */
export type Lookup = (hostname: string) => Promise<readonly string[]>

/**
 * Looks a name up as the machine itself does: its hosts file, then its name servers, in the order the system prefers.
 */
export const systemLookup: Lookup = async hostname =>
  (await ask(hostname, {all: true, order: 'verbatim'})).map(({address}) => address)

/**
 * `lookup`, called once for all who want the same name at the same time: a burst of new sockets would otherwise fill
 * the few threads that wait for name servers. Nothing is kept beyond the answer.
 */
export function sharing(lookup: Lookup): Lookup {
  const lookups = new Map<string, Promise<readonly string[]>>()
  return hostname => {
    const known = lookups.get(hostname)
    if (known) return known
    const answer = lookup(hostname).finally(() => lookups.delete(hostname))
    lookups.set(hostname, answer)
    return answer
  }
}
