import type {Upstream} from '../operation.ts'
import type {Options} from '../options.ts'
import type {Json} from '../translation.ts'

/** A batch as a vendor's reply describes it. */
export interface VendorBatch {
  /** As the gateway remembers it. */
  readonly id: string
  /** Nothing of it runs any more: its results are all that there will be. */
  readonly has_ended: boolean
}

/** The results of a batch, in the vendor's format. */
export interface BatchResults {
  /** One for each request, parsed; undefined for what is no JSON. */
  readonly rows: AsyncIterable<unknown>
  /** The one model that ran all of them; null where each row names its own. */
  readonly model: string | null
  /** How many requests the vendor says were answered; null where it does not say. */
  readonly succeeded: number | null
}

export interface ResultReads {
  readonly upstream: Upstream
  readonly options: Options
  /** Counts what was read. */
  readonly seen: {bytes: number}
}

/** A row of the results: the reply that it holds; `failed`, which costs nothing; or `unread`, as it is neither. */
export type RowAnswer = {readonly reply: Json} | 'failed' | 'unread'

/** How one vendor describes its batches. */
export interface BatchDialect {
  /** The batches in a reply: the one that it is, or those that it lists. */
  batchesIn(reply: Json): readonly VendorBatch[]
  /** The batch that a path names. */
  idIn(path: string): string | null
  /** The path at which the vendor shows a batch, after `/v1`; percent-encoded. */
  pathOf(id: string): string
  /** `pathOf` is a unified route, as the vendor's own path has the place of a project in it. */
  readonly is_unified?: true
  /** The requests in the body that begins a batch; empty where they are in a file. */
  requestsIn(body: Json): readonly unknown[]
  /** Throws `UnreadableResultsFault` for what can never be read, `UpstreamFault` for a status that is no answer. */
  resultsOf(id: string, reads: ResultReads): Promise<BatchResults>
  answerIn(row: Json): RowAnswer
}

/** Results that cannot be read, now or later: `message` says why. */
export class UnreadableResultsFault extends Error {
  constructor(why: string) {
    super(why)
    this.name = 'UnreadableResultsFault'
  }
}
