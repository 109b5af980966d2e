import {Counter, Gauge, type Registry} from 'prom-client'
import {after} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import type {LokiSettings, Settings} from '../settings/index.ts'
import {Delivery, noCounts} from '../telemetry/export/delivery.ts'
import {sender} from '../telemetry/export/http.ts'
import {lokiLine} from '../telemetry/loki/log-line.ts'
import {type LokiEntry, LokiPush, lokiBody, lokiMeaning} from '../telemetry/loki/push.ts'
import {openEgress} from './egress.ts'

/** Pushes the log of the process to Loki. */
export interface LogPush {
  measure(registry: Registry): void
  close(): Promise<void>
}

export interface LogPushParts {
  readonly loki: LokiSettings
  readonly settings: Settings
  readonly log: Log
}

const MOST_MS = 300_000
const TIMEOUT_MS = 10_000
const MOST_ENTRIES = 100_000

/** Sends every line of the log from now on. */
export function openLogPush({loki, settings, log}: LogPushParts): LogPush {
  const egress = openEgress(settings, {connections: 1})
  const counts = noCounts()
  const receiver = {
    url: loki.url,
    content_type: 'application/json',
    headers: loki.headers,
    compression: 'gzip',
    timeout_ms: TIMEOUT_MS,
    meaningOf: lokiMeaning,
    rejectedOf: () => ({rejected: 0, reason: null}),
  } as const
  const delivery = new Delivery<LokiEntry>({
    encode: entries => lokiBody(loki.labels, entries),
    send: sender(egress, receiver, Date.now),
    most_items: MOST_ENTRIES,
    most_ms: MOST_MS,
    counts,
    now: Date.now,
    after,
    random: Math.random,
    warn: (text, facts) => log.warn({export: 'loki', ...facts}, text),
  })
  const push = new LokiPush({delivery, counts, after})
  const end = log.copyTo?.(line => {
    const read = lokiLine(line, loki.has_content)
    if (read) push.add(read)
  })
  return {
    measure: registry => logPushMetrics(registry, push, counts),
    async close() {
      end?.()
      await push.close()
      await egress.destroy()
    },
  }
}

function logPushMetrics(registry: Registry, push: LokiPush, counts: ReturnType<typeof noCounts>): void {
  new Counter({
    name: 'gateway_log_push_lines_total',
    help: 'Lines of the process log by what became of them at Loki: sent, refused or tried for too long, dropped unsent.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const outcome of ['sent', 'refused', 'dropped'] as const) this.inc({outcome}, counts[outcome])
    },
  })
  new Counter({
    name: 'gateway_log_push_failures_total',
    help: 'Requests to Loki that failed and were made again.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(counts.failures)
    },
  })
  new Gauge({
    name: 'gateway_log_push_waiting_bytes',
    help: 'Memory of lines that wait for Loki.',
    registers: [registry],
    collect() {
      this.set(push.waiting_bytes)
    },
  })
}
