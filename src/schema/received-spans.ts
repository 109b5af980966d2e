import type {EndpointName} from './endpoints.ts'

/** The endpoint of rows of the log that are spans of applications. */
export const RECEIVED_ENDPOINT: EndpointName = 'ingestTelemetry'

/** True for a row that is a span of an application: it is no call, and the ledger does not know it. */
export const isReceived = (endpoint: string): boolean => endpoint === RECEIVED_ENDPOINT

/** The facts of a span of an application that no column has. */
export interface ReceivedSpanDetail {
  readonly kind: string
  /** Nanoseconds since 1970, in digits. */
  readonly start_ns: string
  readonly end_ns: string
  /** As the conventions of generative AI name it. */
  readonly operation: string | null
  /** True for the work of a model, which has a cost; false for agents, tools and all else. */
  readonly is_charged: boolean
  readonly scope: string
  readonly dropped: number
  /** Its times, its counts of tokens or the length of a value were not as they should be. */
  readonly flags: readonly ('times' | 'tokens' | 'cut')[]
  /** The id of the call through this gateway of which it is the application's view: that call has the cost. */
  readonly own_call_id: string | null
}
