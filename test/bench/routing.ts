import {measure} from './load.ts'
import {SMALL} from './scenarios.ts'
import {CALL_HEADERS, startGateway} from './subjects/gateway.ts'
import type {Surroundings} from './subjects/subject.ts'

/**
 * What a config of several targets costs while its first one answers. Microseconds of processor time for one answer.
 */
export interface RoutingCost {
  readonly single_us: number
  readonly fallback_us: number
}

const TARGET = {provider: '@mock'}
const {'x-gateway-provider': _, ...KEY} = CALL_HEADERS
const FALLBACK = {
  ...KEY,
  'x-gateway-config': JSON.stringify({strategy: {mode: 'fallback'}, targets: [TARGET, TARGET, TARGET]}),
}
const SINGLE = {...KEY, 'x-gateway-config': JSON.stringify(TARGET)}

/**
 * Measures a fallback of three targets beside a single one, in turn at the same gateway; the best round of each counts.
 */
export async function routingCost(
  {rounds, seconds, is_binary}: {rounds: number; seconds: number; is_binary: boolean},
  around: Omit<Surroundings, 'upstream'>,
): Promise<RoutingCost> {
  const gateway = await startGateway(around, is_binary)
  try {
    const load = {folder: around.folder, processors: around.load_processors}
    const cost = async (headers: Readonly<Record<string, string>>, s: number) =>
      (await measure({...gateway, headers}, SMALL, s, load)).cpu_us ?? Number.NaN
    await cost(SINGLE, 1)
    await cost(FALLBACK, 1)
    let single_us = Number.POSITIVE_INFINITY
    let fallback_us = Number.POSITIVE_INFINITY
    for (let round = 0; round < rounds; round++) {
      single_us = Math.min(single_us, await cost(SINGLE, seconds))
      fallback_us = Math.min(fallback_us, await cost(FALLBACK, seconds))
    }
    return {single_us, fallback_us}
  } finally {
    await gateway.stop()
  }
}
