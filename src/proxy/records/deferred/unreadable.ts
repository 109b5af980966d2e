import {LineTooLongFault} from '../../../base/lines.ts'
import {NOTHING_OWED} from '../../../charge/charged.ts'
import {UpstreamFault} from '../../../providers/operation.ts'
import {MissingOptionFault} from '../../../providers/options.ts'
import {InvalidResponseFault, UnsupportedInputFault} from '../../../providers/translation.ts'
import {UnreadableResultsFault} from '../../../providers/vendor-batches/dialect.ts'
import {emptyUsage} from '../../../schema/usage.ts'
import type {DeferredUsage} from './types.ts'

const MAX_WHY_LENGTH = 300
/**
 * Statuses after which the same question has another answer: logins, loads, outages. All others are the provider's last
 * word.
 */
const PASSING: ReadonlySet<number> = new Set([401, 407, 408, 409, 425, 429])

/** Why results can never be read; throws the fault where they may be read later. */
export function whyUnreadable(fault: unknown): string {
  if (fault instanceof UnreadableResultsFault || fault instanceof LineTooLongFault) return fault.message
  if (
    fault instanceof InvalidResponseFault ||
    fault instanceof UnsupportedInputFault ||
    fault instanceof MissingOptionFault
  )
    return fault.message
  if (fault instanceof UpstreamFault && fault.status < 500 && !PASSING.has(fault.status))
    return `the provider answered ${fault.status} when they were read`
  throw fault
}

/** For a batch whose results cannot be read: it costs, and the amount is unknown. */
export function unmetered(url: string, why: string): DeferredUsage {
  return {
    usage: emptyUsage(),
    charged: NOTHING_OWED,
    model: null,
    url,
    upstream_url: null,
    bytes: 0,
    source: 'unmetered',
    warning: cut(`the results of the batch were not charged: ${why}`),
  }
}

/** Counts rows that could not be read, and keeps the first reason. */
export class UnreadRows {
  count = 0
  why: string | null = null

  add(why: string, rows = 1): void {
    this.count += rows
    this.why ??= why
  }

  /** In the words of a charge; nothing where all was read. */
  flags(): Pick<DeferredUsage, 'source' | 'warning'> {
    if (this.why === null) return {}
    return {source: 'partial', warning: cut(`${this.count} rows of the batch were not charged: ${this.why}`)}
  }
}

function cut(text: string): string {
  return text.length > MAX_WHY_LENGTH ? `${text.slice(0, MAX_WHY_LENGTH)}…` : text
}
