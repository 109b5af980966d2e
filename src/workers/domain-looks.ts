import {Gauge, type Registry} from 'prom-client'
import type {Log} from '../base/log.ts'
import type {LookForTxt, TxtLook} from '../ports/dns/txt.ts'
import {challengeOf} from '../schema/domains.ts'
import type {Store} from '../store/database.ts'
import {countLostDomains, domainsToLookAt, nextLookAt, noteDomainLook} from '../store/domains.ts'
import type {DomainsTable} from '../store/tables/directories.ts'
import type {Job} from './schedule.ts'

const HOUR_MS = 3_600_000
/** A domain that lost its record is looked at each day, so that it is known soon when it is back. */
const LOST_MS = 24 * HOUR_MS
/** Name servers that gave no answer have time until then. */
const SILENT_MS = 6 * HOUR_MS
const MOST_DOMAINS = 200
const AT_ONCE = 5

export interface DomainLookParts {
  readonly store: Store
  readonly look: LookForTxt
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly now: () => number
}

export interface DomainLooks {
  readonly job: Job
  /** How many verified domains have lost their record; null where another process does the job. */
  lost(): number | null
}

/**
 * Looks once a week for the records that proved domains. One that is gone is reported, and the domain stays verified:
 * people sign in by it, and a record that was tidied away must not shut them out. Each look has a deadline.
 */
export function domainLooks(parts: DomainLookParts): DomainLooks {
  const {store, now} = parts
  let counted = {lost: 0, until_ms: 0}
  return {
    job: {
      name: 'domain-looks',
      every_ms: HOUR_MS,
      async run({now_ms, lost}) {
        const due = await domainsToLookAt(store.db, isoAt(now_ms), MOST_DOMAINS)
        for (let at = 0; at < due.length && !lost.aborted; at += AT_ONCE)
          await Promise.all(due.slice(at, at + AT_ONCE).map(row => lookedAt(row, now_ms, parts)))
        counted = {lost: await countLostDomains(store.db), until_ms: now_ms + 2 * HOUR_MS}
      },
    },
    lost: () => (now() < counted.until_ms ? counted.lost : null),
  }
}

/** The number of domains that lost their record. */
export function domainMetrics(registry: Registry, {lost}: Pick<DomainLooks, 'lost'>): void {
  new Gauge({
    name: 'gateway_domains_lost',
    help: 'Verified domains whose DNS record was gone at the last look; of the process that looks.',
    registers: [registry],
    collect() {
      const count = lost()
      if (count === null) this.remove()
      else this.set(count)
    },
  })
}

async function lookedAt(
  row: DomainsTable,
  now_ms: number,
  {store, look, log}: Pick<DomainLookParts, 'store' | 'look' | 'log'>,
): Promise<void> {
  const {dns_name, dns_value} = challengeOf(row)
  const seen = await look(dns_name, dns_value)
  const change = changeBy(seen, row, now_ms)
  const is_kept = await store.write(db => noteDomainLook(db, row, change))
  if (!is_kept || change.lost_at === undefined) return
  const {organisation_id, domain} = row
  const was_lost = (row.lost_at ?? null) !== null
  if (change.lost_at === null && was_lost)
    log.info({organisation_id, domain, name: dns_name}, 'the record that proved a domain is back')
  if (change.lost_at !== null && !was_lost)
    log.warn(
      {organisation_id, domain, name: dns_name, outcome: seen.outcome},
      'the record that proved a domain is gone; the domain stays verified',
    )
}

/** No answer says nothing of a record. */
function changeBy({outcome}: TxtLook, {lost_at}: DomainsTable, now_ms: number) {
  const now = isoAt(now_ms)
  if (outcome === 'silent' || outcome === 'busy') return {look_due_at: isoAt(now_ms + SILENT_MS)}
  if (outcome === 'found') return {look_due_at: nextLookAt(now), looked_at: now, lost_at: null}
  return {look_due_at: isoAt(now_ms + LOST_MS), looked_at: now, lost_at: lost_at ?? now}
}

const isoAt = (ms: number) => new Date(ms).toISOString()
