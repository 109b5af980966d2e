import {mkdirSync, rmSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {measure, type Sample} from './load.ts'
import {freePort} from './processes.ts'
import {SMALL} from './scenarios.ts'
import {type Gateway, startGateway} from './subjects/gateway.ts'
import type {Surroundings} from './subjects/subject.ts'

/** The cost of telemetry. Microseconds of processor time for one answer and p99 in milliseconds, the best rounds. */
export interface TelemetryCost {
  readonly cpu_us: Readonly<Record<TelemetryWay, number>>
  readonly p99_ms: Readonly<Record<TelemetryWay, number>>
  /** How far the ledger was behind while the collector was down, at most. */
  readonly lag_ms: number
  /** Bytes of requests that the collector took. */
  readonly sent_bytes: number
}

export const TELEMETRY_WAYS = ['off', 'on', 'down'] as const
export type TelemetryWay = (typeof TELEMETRY_WAYS)[number]

const WARM_UP_ROUNDS = 2
/** The shortest: what a round made is sent within that round. */
const DELAY_MS = '100'

/**
 * Measures the same calls at three gateways in turn: one without telemetry, one that sends spans to a collector, and
 * one whose collector refuses connections.
 */
export async function telemetryCost(
  {rounds, seconds, is_binary}: {rounds: number; seconds: number; is_binary: boolean},
  around: Omit<Surroundings, 'upstream'>,
): Promise<TelemetryCost> {
  const collector = await startCollector()
  const nobody = `http://127.0.0.1:${await freePort()}`
  const sendTo = (url: string) => ({OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: DELAY_MS})
  const env = {off: {}, on: sendTo(collector.url), down: sendTo(nobody)}
  const folder = join(around.folder, 'telemetry')
  const gateways = new Map<TelemetryWay, Gateway>()
  try {
    for (const way of TELEMETRY_WAYS) {
      const own = join(folder, way)
      mkdirSync(own, {recursive: true})
      gateways.set(way, await startGateway({...around, folder: own, env: env[way]}, is_binary))
    }
    const load = {folder: around.folder, processors: around.load_processors}
    const best = new Map<TelemetryWay, {cpu_us: number; p99_ms: number}>()
    let lag_ms = 0
    for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++)
      for (let turn = 0; turn < TELEMETRY_WAYS.length; turn++) {
        const way = TELEMETRY_WAYS[(turn + round) % TELEMETRY_WAYS.length]!
        const gateway = gateways.get(way)!
        const sample = checked(await measure(gateway, SMALL, seconds, load))
        if (way === 'down') lag_ms = Math.max(lag_ms, await lagOf(gateway))
        if (round < WARM_UP_ROUNDS) continue
        const before = best.get(way) ?? {cpu_us: Number.POSITIVE_INFINITY, p99_ms: Number.POSITIVE_INFINITY}
        best.set(way, {
          cpu_us: Math.min(before.cpu_us, sample.cpu_us ?? Number.POSITIVE_INFINITY),
          p99_ms: Math.min(before.p99_ms, sample.p99_ms ?? Number.POSITIVE_INFINITY),
        })
      }
    const figures = (name: 'cpu_us' | 'p99_ms') =>
      Object.fromEntries([...best].map(([way, of]) => [way, of[name]])) as Record<TelemetryWay, number>
    return {cpu_us: figures('cpu_us'), p99_ms: figures('p99_ms'), lag_ms, sent_bytes: collector.bytes()}
  } finally {
    for (const gateway of gateways.values()) await gateway.stop()
    collector.close()
    rmSync(folder, {recursive: true, force: true})
  }
}

function checked(sample: Sample): Sample {
  if (sample.failed > 0) throw new Error(`${sample.failed} calls failed`)
  return sample
}

/** A collector that takes all and reads nothing. */
async function startCollector() {
  let bytes = 0
  const server = createServer((request, reply) => {
    request.on('data', (part: Buffer) => {
      bytes += part.length
    })
    request.on('end', () => reply.writeHead(200, {'content-type': 'application/x-protobuf'}).end())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => bytes,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Milliseconds that the ledger is behind, by the gateway's own metrics. */
async function lagOf({url}: Gateway): Promise<number> {
  const page = await (await fetch(new URL('/metrics', url))).text()
  return Number(/^gateway_journal_lag_seconds (\S+)$/m.exec(page)?.[1] ?? Number.NaN) * 1000
}
