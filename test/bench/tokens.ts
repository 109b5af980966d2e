import {heldToken, signer} from '../support/tokens.ts'
import {measure} from './load.ts'
import {SMALL} from './scenarios.ts'
import {administer, CALL_HEADERS, changeKeys, startGateway} from './subjects/gateway.ts'
import type {Surroundings} from './subjects/subject.ts'

/** The cost of a token as a key. Microseconds of processor time for one answer. */
export interface TokenCost {
  readonly key_us: number
  readonly token_us: number
}

const WARM_UP_ROUNDS = 2

/**
 * Measures calls with a verified RS256 token beside the same calls with a key, in turn at the same gateway; the best
 * round of each counts. The key counts no rate here, as a token counts none.
 */
export async function tokenCost(
  {rounds, seconds, is_binary}: {rounds: number; seconds: number; is_binary: boolean},
  around: Omit<Surroundings, 'upstream'>,
): Promise<TokenCost> {
  const gateway = await startGateway(around, is_binary)
  try {
    const {origin} = new URL(gateway.url)
    await changeKeys(origin, {rate_limits: null})
    const token = await trustedToken(origin)
    const load = {folder: around.folder, processors: around.load_processors}
    const cost = async (headers: Readonly<Record<string, string>>, s: number) => {
      const {cpu_us, failed} = await measure({...gateway, headers}, SMALL, s, load)
      if (failed > 0) throw new Error(`${failed} calls failed`)
      return cpu_us ?? Number.NaN
    }
    const with_token = {...CALL_HEADERS, authorization: `Bearer ${token}`}
    // a compiler at run time is done with what is hot after some ten thousand calls
    for (let round = 0; round < WARM_UP_ROUNDS; round++)
      for (const headers of [CALL_HEADERS, with_token]) await cost(headers, seconds)
    let key_us = Number.POSITIVE_INFINITY
    let token_us = Number.POSITIVE_INFINITY
    for (let round = 0; round < rounds; round++) {
      key_us = Math.min(key_us, await cost(CALL_HEADERS, seconds))
      token_us = Math.min(token_us, await cost(with_token, seconds))
    }
    return {key_us, token_us}
  } finally {
    await gateway.stop()
  }
}

/** A token of a person, by a key that the organisation has in its own set. */
async function trustedToken(origin: string): Promise<string> {
  const call = administer(origin)
  const by = signer('RS256')
  await call('PUT', '/admin/organisation/auth', {jwt: {jwks: {keys: [by.jwk]}}})
  const {id: organisation_id} = await call<{id: string}>('GET', '/admin/organisation')
  const [workspace] = (await call<{data: {slug: string}[]}>('GET', '/admin/workspaces')).data
  const claims = {organisation_id, workspace_slug: workspace!.slug, scope: 'completions.write', sub: 'bench'}
  return heldToken(by, claims, Date.now())
}
