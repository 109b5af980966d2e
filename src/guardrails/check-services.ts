import {isIP} from 'node:net'
import {LRUCache} from 'lru-cache'
import {judge} from '../base/egress/address.ts'
import type {Lookup} from '../base/egress/lookup.ts'
import type {Egress} from '../base/egress/pools.ts'
import type {CheckContext} from './check.ts'
import type {Http, Memory} from './http.ts'

/** The part of a check's context that is not of one call: how it reaches services, what it keeps, what time it is. */
export type CheckServices = Pick<CheckContext, 'http' | 'resolve' | 'memory' | 'after' | 'now_ms'>

export interface CheckWorldOptions {
  readonly egress: Pick<Egress, 'destination' | 'pool'>
  readonly lookup: Lookup
  readonly memory: Memory
  readonly now_ms: () => number
}

/**
 * A world whose services are reached through the wall, in the name of a workspace: where a caller's custom host may not
 * be, they are not.
 */
export function checkEnvironment(
  workspace_id: string,
  {egress, lookup, memory, now_ms}: CheckWorldOptions,
): CheckServices {
  return {
    http: httpThrough(egress, workspace_id),
    memory: {
      get: key => memory.get(`${workspace_id} ${key}`),
      put: (key, value, max_age_s) => memory.put(`${workspace_id} ${key}`, value, max_age_s),
    },
    now_ms,
    after: ms => AbortSignal.timeout(ms),
    async resolve(named) {
      const bracketed = isIP(named) === 6 ? `[${named}]` : named
      const {hostname, trust} = egress.destination(`https://${bracketed}`, {kind: 'caller'})
      const addresses = isIP(hostname) ? [hostname] : await lookup(hostname)
      const open = addresses.filter(address => {
        const verdict = judge(address)
        return verdict === null || (verdict === 'private' && trust === 'listed')
      })
      if (!open.length) throw new Error('the name leads to no address that may be called')
      return open
    },
  }
}

function httpThrough(egress: CheckWorldOptions['egress'], workspace_id: string): Http {
  return async ({method, url, headers, body}, signal) => {
    const {origin, pathname, search} = new URL(url)
    const destination = egress.destination(origin, {kind: 'caller'})
    const request = {
      origin: destination.origin,
      path: pathname + search,
      method,
      headers: {...headers},
      body: body ?? null,
      signal,
    }
    const reply = await egress.pool(destination, workspace_id).request(request)
    const values = Object.entries(reply.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ])
    return {status: reply.statusCode, headers: Object.fromEntries(values), body: reply.body}
  }
}

const MAX_KEPT = 1000

/** The memory of checks between calls; the oldest entry is dropped first. */
export function checkMemory(): Memory {
  const kept = new LRUCache<string, {readonly value: unknown}>({max: MAX_KEPT})
  return {
    get: key => kept.get(key)?.value,
    put: (key, value, max_age_s) => void kept.set(key, {value}, {ttl: Math.max(1, Math.ceil(max_age_s * 1000))}),
  }
}
