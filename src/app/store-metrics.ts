import {Counter, Gauge, type Registry} from 'prom-client'
import type {Store} from '../store/database.ts'
import type {Revocations} from './revocations.ts'

/** Tells whether the database answers, and how old the news of revocations is. */
export function storeMetrics(
  registry: Registry,
  store: Pick<Store, 'givenUp' | 'unwritable'>,
  revocations: Pick<Revocations, 'silence' | 'age_ms'>,
): void {
  new Gauge({
    name: 'gateway_database_answers',
    help: '1 while the database answers; at 0 /readyz is 503.',
    registers: [registry],
    collect() {
      this.set(revocations.silence === null ? 1 : 0)
    },
  })
  new Gauge({
    name: 'gateway_database_writable',
    help: '1 while changes can be written to the database; at 0 they are refused with 503.',
    registers: [registry],
    collect() {
      this.set(store.unwritable() === null ? 1 : 0)
    },
  })
  new Gauge({
    name: 'gateway_revocations_age_seconds',
    help: 'How long ago it was last read what other processes revoked or changed.',
    registers: [registry],
    collect() {
      this.set(revocations.age_ms / 1000)
    },
  })
  new Counter({
    name: 'gateway_database_given_up_total',
    help: 'Waits for the database that were given up at their deadline, each with its connection.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(store.givenUp())
    },
  })
}

/** Tells whether Redis answers. */
export function redisMetric(registry: Registry, redis: {readonly silence: string | null}): void {
  new Gauge({
    name: 'gateway_redis_answers',
    help: '1 while Redis answers; at 0 limits are not shared, and strict ones refuse.',
    registers: [registry],
    collect() {
      this.set(redis.silence === null ? 1 : 0)
    },
  })
}
