import {Refusal} from '../../base/errors.ts'
import type {Log} from '../../base/log.ts'
import {storeRefusal} from '../../base/store-fault.ts'
import type {MessageEnd, MessageRecord} from '../records/message-record.ts'
import type {RelayedAnswer} from '../relay/answer.ts'
import type {Hello} from '../upstream/upstream.ts'
import {errorObjectText, faultOfRefusal, McpFault} from '../wire/faults.ts'
import type {Era} from '../wire/versions.ts'

/** Anything thrown, as a fault of MCP. Another's is logged, and its words stay here. */
export function faultOf(fault: unknown, log: Pick<Log, 'error'>): McpFault {
  if (fault instanceof McpFault) return fault
  if (fault instanceof Refusal) return faultOfRefusal(fault)
  const of_store = storeRefusal(fault)
  if (of_store) return faultOfRefusal(of_store)
  log.error({fault}, 'a request of MCP failed inside the gateway')
  return new McpFault('internal', {}, {cause: fault})
}

/** Headers of a reply with a fault. */
export function headersOfFault(fault: McpFault): Record<string, string> {
  const {retry_after_s} = fault.facts
  return retry_after_s === undefined ? {} : {'retry-after': String(retry_after_s)}
}

const UPSTREAM_FAULTS: ReadonlySet<string> = new Set([
  'upstream_unreachable',
  'upstream_nonsense',
  'upstream_timeout',
  'result_too_large',
])

/** True where the wait for the upstream ended from our side: a deadline passed, or the process ends. */
const isGivenUp = ({reason, facts}: McpFault): boolean =>
  reason === 'upstream_timeout' || (reason === 'upstream_unreachable' && facts.deadline === 'drain')

/** The end of a request that a fault ended. */
export function endOfFault(fault: McpFault, era: Era, of: EndedHow): MessageEnd {
  const {reason, code} = fault
  const text = errorObjectText(fault)
  const is_unanswered = of.was_sent === true && isGivenUp(fault)
  return {
    outcome: reason === 'upstream_timeout' ? 'timeout' : fault.facts.deadline === 'drain' ? 'aborted' : 'failed',
    status: fault.httpFor(era),
    answer: text,
    error: fault.message,
    // an answer that was too large to be passed on was made all the same
    is_served:
      is_unanswered || reason === 'result_too_large' || reason === 'client_incapable' || reason === 'too_many_rounds',
    is_unanswered,
    delivered: of.delivered,
    is_stream: of.is_stream,
    detail: {
      outcome: UPSTREAM_FAULTS.has(reason) ? 'rpc_error' : 'refused',
      rpc_code: code,
      rounds: of.rounds,
      upstream_protocol: null,
      upstream_transport: null,
    },
  }
}

interface EndedHow {
  readonly delivered: boolean
  readonly rounds: number
  readonly is_stream: boolean
  /** True where the request went out to the upstream. */
  readonly was_sent?: boolean
}

/** The part of guardrails in an end. */
interface GuardsEnd extends Pick<MessageEnd, 'hooks'> {
  /** Status of the row, where it is not that of the answer. */
  readonly row_status?: number
  readonly denial?: string
}

/** The end of a request that the upstream answered. */
export function endOfAnswer(
  {text, status, outcome, rpc_code}: RelayedAnswer,
  hello: Hello,
  of: EndedHow & GuardsEnd,
): MessageEnd {
  const {row_status, denial, hooks} = of
  const is_ok = outcome === 'ok' || outcome === 'input_required'
  return {
    outcome: is_ok ? 'ok' : 'failed',
    status: row_status ?? status,
    answer: text,
    ...(hooks && {hooks}),
    error: is_ok
      ? null
      : denial !== undefined
        ? `${denial}.`
        : outcome === 'tool_error'
          ? 'The tool reported an error.'
          : `The MCP server answered with the error ${rpc_code}.`,
    is_served: true,
    delivered: of.delivered,
    is_stream: of.is_stream,
    detail: {
      ...{outcome, rpc_code, rounds: of.rounds},
      upstream_protocol: hello.protocol_version,
      upstream_transport: 'http',
    },
  }
}

/** The end of a call of a tool that a guardrail denied: nothing of it reached the upstream. */
export function endOfDenied(
  answer: string,
  {row_status = 446, denial = '', hooks, ...of}: EndedHow & GuardsEnd,
): MessageEnd {
  return {
    ...{outcome: 'failed', status: row_status, answer, error: `${denial}.`, is_served: false},
    ...{delivered: of.delivered, is_stream: of.is_stream, ...(hooks && {hooks})},
    detail: {outcome: 'refused', rpc_code: null, rounds: of.rounds, upstream_protocol: null, upstream_transport: null},
  }
}

/** The end of a request that the session answers: the upstream has nothing of the kind. */
export function endOfOurs(of: {
  readonly delivered: boolean
  readonly rounds: number
  readonly is_stream: boolean
}): MessageEnd {
  return {
    ...{outcome: 'ok', status: 200, answer: '{}', error: null, is_served: false},
    ...{delivered: of.delivered, is_stream: of.is_stream},
    detail: {outcome: 'ok', rpc_code: null, rounds: of.rounds, upstream_protocol: null, upstream_transport: null},
  }
}

/** The end of a request that its client left, or that was cancelled. */
export function endOfLeft(status: number, of: Omit<EndedHow, 'delivered'>): MessageEnd {
  const was_sent = of.was_sent === true
  return {
    outcome: 'aborted',
    status,
    answer: null,
    error: 'The client left, or cancelled the request.',
    is_served: was_sent,
    is_unanswered: was_sent,
    delivered: false,
    is_stream: of.is_stream,
    detail: {
      outcome: 'abandoned',
      rpc_code: null,
      rounds: of.rounds,
      upstream_protocol: null,
      upstream_transport: null,
    },
  }
}

/** Writes the end of a record; a journal that takes nothing is logged, and the client has its answer all the same. */
export async function written(record: MessageRecord, end: MessageEnd, log: Pick<Log, 'error'>): Promise<void> {
  try {
    await record.end(end)
  } catch (fault) {
    log.error({fault, trace_id: record.facts.trace.trace_id}, 'the end of a request of MCP could not be written')
  }
}
