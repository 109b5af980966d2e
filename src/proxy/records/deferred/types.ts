import type {Charged} from '../../../charge/charged.ts'
import type {BatchWords} from '../../../providers/vendor-operations/operation.ts'
import type {Deferred} from '../../../schema/deferred.ts'
import type {EndpointName} from '../../../schema/endpoints.ts'
import type {Intent} from '../../../schema/records.ts'
import type {Usage, UsageSource} from '../../../schema/usage.ts'
import type {Call} from '../../call/call.ts'
import type {Target} from '../../targets/target.ts'
import type {UpstreamRequest} from '../../upstream/build-request.ts'
import type {AttemptResult, Statuses} from '../attempt-result.ts'

/** An attempt that was answered, before that is written down. */
export interface CompletedAttempt {
  readonly call: Call
  readonly target: Target
  readonly request: Pick<UpstreamRequest, 'output' | 'operation' | 'destination' | 'path'>
  readonly intent: Intent
  readonly result: Pick<AttemptResult, 'outcome' | 'stream' | 'source' | 'received_bytes'> & {
    readonly statuses: Pick<Statuses, 'provider'>
  }
  /** The answer's body, decoded; null where it is not there whole. */
  readonly plain: Buffer | null
}

/** The work in an answer that is charged later. */
export interface DeferredWork {
  /** Work that the call began, and the endpoint of its requests. `words`: of a batch by a vendor's own path. */
  readonly begun: {readonly id: string; readonly endpoint: EndpointName; readonly words?: BatchWords} | null
  /** Work that ended, by its id, and the function that reads its usage. */
  readonly ended: ReadonlyMap<string, (work: Deferred) => Promise<DeferredUsage | null>>
}

/** The usage of deferred work. */
export interface DeferredUsage {
  readonly usage: Usage
  readonly charged: Charged
  readonly model: string | null
  /** The URL that it was read from. */
  readonly url: string
  readonly upstream_url: string | null
  readonly bytes: number
  /** `provider` unless some of it, or all, could not be read; then `warning` says why. */
  readonly source?: UsageSource
  readonly warning?: string
}
