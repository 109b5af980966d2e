import {Gauge, type Registry} from 'prom-client'
import type {Log} from '../base/log.ts'
import {AHEAD_MS, type WatchedCertificate} from '../identity/certificate-watch.ts'
import type {Job} from './schedule.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Connections in the metric: those that end first. */
const MOST_LABELS = 100

export interface CertificateJobServices {
  watched(lost: AbortSignal): Promise<readonly WatchedCertificate[]>
  readonly log: Pick<Log, 'warn'>
  readonly registry: Registry
}

/**
 * Looks at the certificates that people need to sign in, before they are locked out: a warn line a day for each that
 * ends within 30 days, has ended, or whose metadata cannot be read; and a metric. Each process has its own metric, and
 * its own metadata to keep.
 */
export function certificatesJob({watched, log, registry}: CertificateJobServices): Job {
  let known: readonly WatchedCertificate[] = []
  let warned = new Map<string, number>()
  new Gauge({
    name: 'gateway_certificate_expiry_timestamp_seconds',
    help: 'When a certificate ends that people need to sign in, by its use and by the id of its connection.',
    labelNames: ['use', 'connection'],
    registers: [registry],
    collect() {
      this.reset()
      for (const {use, connection, ends_ms} of soonest(known))
        this.set({use, connection: connection?.id ?? ''}, ends_ms / 1000)
    },
  })
  return {
    name: 'certificates',
    every_ms: HOUR_MS,
    each_process: true,
    async run({now_ms, lost}) {
      known = await watched(lost)
      const next = new Map<string, number>()
      for (const certificate of known) {
        const problem = problemOf(certificate, now_ms)
        if (problem === null) continue
        const name = `${problem}\0${certificate.use}\0${certificate.connection?.id ?? ''}`
        const before_ms = warned.get(name)
        const is_due = before_ms === undefined || now_ms - before_ms >= DAY_MS
        next.set(name, is_due ? now_ms : before_ms)
        if (is_due) log.warn(factsOf(certificate, now_ms), problem)
      }
      warned = next
    },
  }
}

function problemOf({ends_ms, unread}: WatchedCertificate, now_ms: number): string | null {
  if (ends_ms !== null && ends_ms <= now_ms) return 'a certificate of sign-in has ended'
  if (ends_ms !== null && ends_ms - now_ms <= AHEAD_MS) return 'a certificate of sign-in ends soon'
  if (unread !== null) return 'the metadata of a connection cannot be read; its certificates are not known'
  return ends_ms === null ? 'a certificate of sign-in cannot be read' : null
}

function factsOf({use, connection, ends_ms, unread}: WatchedCertificate, now_ms: number) {
  return {
    use,
    ...(connection && {connection: connection.name, organisation_id: connection.organisation_id}),
    ...(ends_ms !== null && {
      ends_at: new Date(ends_ms).toISOString(),
      days_left: Math.floor((ends_ms - now_ms) / DAY_MS),
    }),
    ...(unread !== null && {reason: unread}),
  }
}

function soonest(all: readonly WatchedCertificate[]) {
  return all
    .flatMap(each => (each.ends_ms === null ? [] : [{...each, ends_ms: each.ends_ms}]))
    .toSorted((a, b) => a.ends_ms - b.ends_ms)
    .slice(0, MOST_LABELS)
}
