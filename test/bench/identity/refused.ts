import {setTimeout as sleep} from 'node:timers/promises'
import {administer} from '../subjects/gateway.ts'
import type {ScimClient} from './directory.ts'

const TRIES = 5
const PATIENCE_MS = 30_000

/**
 * The most milliseconds, of some people, from the reply that one is switched off to the first refusal of his key at
 * `places`, which know the key from calls before.
 */
export async function refusedAfter(
  {make, patch}: ScimClient,
  administration: string,
  places: readonly string[],
): Promise<number> {
  const call = administer(administration)
  const [workspace] = (await call<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  let most_ms = 0
  for (let at = 0; at < TRIES; at++) {
    const user_id = await make('/Users', {userName: `leaver-${at}@example.com`})
    await call('POST', `/admin/workspaces/${workspace!.id}/users`, {users: [{id: user_id, role: 'member'}]})
    const body = {name: `leaver ${at}`, workspace_id: workspace!.id, user_id, scopes: ['completions.write']}
    const {key} = await call<{key: string}>('POST', '/api-keys/workspace/user', body)
    const isRefused = async (origin: string) => {
      const reply = await fetch(`${origin}/v1/models`, {headers: {'x-gateway-api-key': key}})
      await reply.arrayBuffer()
      if (reply.status !== 200 && reply.status !== 401) throw new Error(`GET /v1/models answers ${reply.status}`)
      return reply.status === 401
    }
    for (const origin of places) while (await isRefused(origin)) await sleep(5)
    await patch(`/Users/${user_id}`, {op: 'replace', path: 'active', value: false})
    const began_ms = performance.now()
    for (const origin of places)
      while (!(await isRefused(origin))) {
        if (performance.now() - began_ms > PATIENCE_MS) throw new Error(`${origin} still takes the key`)
        await sleep(1)
      }
    most_ms = Math.max(most_ms, performance.now() - began_ms)
  }
  return most_ms
}
