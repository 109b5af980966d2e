import {hostname} from 'node:os'
import {Counter, type Registry} from 'prom-client'
import {after} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import {pushGatewaySettings, type Settings} from '../settings/index.ts'
import {sender} from '../telemetry/export/http.ts'
import {collectorMeaning} from '../telemetry/export/outcome.ts'
import {type PushCounts, PushGateway} from '../telemetry/push-gateway/push-gateway.ts'
import {openEgress} from './egress.ts'

const TIMEOUT_MS = 10_000
const USUAL_PORT = 8787
/** Of the sentence of a push gateway that refuses. */
const MOST_SENTENCE = 300

/** Pushes the page of metrics from now on; undefined where no push gateway is set. Close it to end that. */
export function openMetricsPush({
  settings,
  log,
  page,
  registry,
}: {
  readonly settings: Settings
  readonly log: Log
  readonly page: () => Promise<Buffer>
  readonly registry: Registry
}): {close(): Promise<void>} | undefined {
  // two processes of one machine would overwrite each other
  const instance = settings.port === USUAL_PORT ? hostname() : `${hostname()}:${settings.port}`
  const to = pushGatewaySettings(settings, instance)
  if (!to) return undefined
  const egress = openEgress(settings, {connections: 1})
  const counts: PushCounts = {pushed: 0, failed: 0}
  let sentence = ''
  const receiver = {
    ...to,
    content_type: 'text/plain; version=0.0.4; charset=utf-8',
    compression: 'gzip',
    timeout_ms: TIMEOUT_MS,
    meaningOf(status: number, text: string) {
      sentence = text
        .slice(0, MOST_SENTENCE)
        .replace(/[^\x20-\x7e]+/g, ' ')
        .trim()
      return collectorMeaning(status, '')
    },
    rejectedOf: () => ({rejected: 0, reason: null}),
  } as const
  const put = sender(egress, {...receiver, method: 'PUT'}, Date.now)
  const push = new PushGateway({
    page,
    put(body, signal) {
      sentence = '' // of an earlier answer it would mislead
      return put(body, signal)
    },
    remove: sender(egress, {...receiver, method: 'DELETE'}, Date.now),
    after,
    counts,
    report(reason) {
      if (reason === null) return log.info({}, 'the push gateway takes metrics again')
      log.warn({reason, answer: sentence}, 'metrics could not be pushed to the push gateway')
      sentence = ''
    },
  })
  pushMetrics(registry, counts)
  return {
    async close() {
      await push.close()
      await egress.destroy()
    },
  }
}

function pushMetrics(registry: Registry, counts: PushCounts): void {
  new Counter({
    name: 'gateway_metric_pushes_total',
    help: 'Pushes to the push gateway by their outcome.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const outcome of ['pushed', 'failed'] as const) this.inc({outcome}, counts[outcome])
    },
  })
}
