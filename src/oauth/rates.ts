import {hashOfWord} from '../identity/mcp-oauth/words.ts'
import {addFailure} from '../store/sign-in-failures.ts'
import type {OAuthServices} from './services.ts'

const MINUTE_MS = 60_000
export const MOST_A_MINUTE = 60

/** Counts a request of an address in all processes; false where it has had its 60 of a minute. */
export async function mayRequest(
  {store, now}: Pick<OAuthServices, 'store' | 'now'>,
  endpoint: 'authorize' | 'register' | 'token',
  client_ip: string,
): Promise<boolean> {
  const at = now()
  const key = hashOfWord(`oauth ${endpoint} ${network(client_ip)}`)
  const time = {now: at.toISOString(), expires_at: new Date(at.getTime() + MINUTE_MS).toISOString()}
  return store.write(async db => (await addFailure(db, key, {...time, most: MOST_A_MINUTE})) !== null)
}

/** An IPv6 address stands for its network of 64 bits, all of which one host has. */
function network(client_ip: string): string {
  if (!client_ip.includes(':') || client_ip.startsWith('::ffff:')) return client_ip
  const [head = '', tail = ''] = client_ip.split('::')
  const groups = head.split(':').filter(Boolean)
  const last = tail.split(':').filter(Boolean)
  const zeros = client_ip.includes('::') ? Array.from({length: 8 - groups.length - last.length}, () => '0') : []
  return [...groups, ...zeros, ...last].slice(0, 4).join(':')
}
