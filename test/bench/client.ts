import {mkdirSync} from 'node:fs'
import {join} from 'node:path'
import {type Dispatcher, Pool} from 'undici'
import {Egress} from '../../src/base/egress/pools.ts'
import {readTrusted} from '../../src/base/egress/trust.ts'
import {SMALL} from './scenarios.ts'
import {startProvider} from './subjects/provider.ts'

/**
 * Processor microseconds of one call to a provider, 32 at a time, 1 KB there and back: by our own client and by
 * undici's, in turns.
 */
const CLIENTS = 32
const CALLS = 40_000
const ROUNDS = 5

const folder = join(import.meta.dirname, '../../.bench')
mkdirSync(folder, {recursive: true})
const provider = await startProvider({folder, processors: undefined, load_processors: undefined})
const egress = new Egress({trusted: readTrusted(['127.0.0.1'])})
const theirs = new Pool(provider.origin, {connections: CLIENTS, headersTimeout: 0, bodyTimeout: 0})
try {
  const ours = egress.pool(egress.destination(provider.origin, {kind: 'caller'}))
  const best = {ours: Infinity, undici: Infinity}
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, pool] of [['ours', ours] as const, ['undici', theirs] as const]) {
      const before = process.cpuUsage()
      await callAll(pool)
      const {user, system} = process.cpuUsage(before)
      if (round > 0) best[name] = Math.min(best[name], (user + system) / CALLS)
    }
  }
  console.log(
    `client, ours: ${best.ours.toFixed(1)} us; undici's: ${best.undici.toFixed(1)} us; ${(best.undici / best.ours).toFixed(2)} times as much`,
  )
} finally {
  await Promise.all([egress.destroy(), theirs.destroy()])
  await provider.stop()
}

function callAll(pool: Dispatcher): Promise<void> {
  const body = Buffer.from(SMALL.body)
  const options = {
    method: 'POST',
    path: '/v1/chat/completions',
    headers: {'content-type': 'application/json', authorization: 'Bearer key'},
    body,
  } as const
  const {promise, resolve, reject} = Promise.withResolvers<void>()
  let begun = 0
  let ended = 0
  const call = () => {
    begun++
    pool.dispatch(options, {
      onRequestStart() {},
      onResponseStart(_, status) {
        if (status !== 200) reject(new Error(`the provider answered ${status}`))
      },
      onResponseData() {},
      onResponseEnd() {
        if (++ended === CALLS) resolve()
        else if (begun < CALLS) call()
      },
      onResponseError: (_, error) => reject(error),
    })
  }
  for (let client = 0; client < CLIENTS; client++) call()
  return promise
}
