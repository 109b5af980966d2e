import {EgressFault, refusalOf} from '../../base/egress/faults.ts'
import {Refusal} from '../../base/errors.ts'
import {McpFault, printable} from '../wire/faults.ts'

/** The upstream does not know the session (any more): open another, and repeat the request, which it did not take. */
export class SessionLostFault extends Error {
  readonly status: number | null

  constructor(status: number | null) {
    super('The session of the MCP server is gone.')
    this.name = 'SessionLostFault'
    this.status = status
  }
}

/** The upstream is of another era than it was taken for: probe it again, and repeat the request that it refused. */
export class EraDisprovedFault extends Error {
  readonly status: number

  constructor(status: number) {
    super('The MCP server speaks another revision of the protocol than it did.')
    this.name = 'EraDisprovedFault'
    this.status = status
  }
}

/** The upstream wants another credential. */
export class UnauthorisedFault extends Error {
  readonly status: number
  readonly www_authenticate: string | null

  constructor(status: number, www_authenticate: string | null) {
    super(`The MCP server refused the credential with status ${status}.`)
    this.name = 'UnauthorisedFault'
    this.status = status
    this.www_authenticate = www_authenticate
  }
}

/** The end of a request that was cancelled. */
export function cancelled(cause?: unknown): Error {
  const fault = new Error('The request was cancelled.', {cause})
  fault.name = 'AbortError'
  return fault
}

export function nonsense(server: string, reason: string, cause?: unknown): McpFault {
  return new McpFault('upstream_nonsense', {server, reason: printable(reason)}, {cause})
}

export function unreachable(server: string, reason: string, cause?: unknown): McpFault {
  return new McpFault('upstream_unreachable', {server, reason: printable(reason)}, {cause})
}

/** The end of a request whose connection the gateway closes, as it does when the process ends. */
export function shuttingDown(server: string, cause?: unknown): McpFault {
  const facts = {server, reason: 'the gateway is shutting down', deadline: 'drain'}
  return new McpFault('upstream_unreachable', facts, {cause})
}

/** True for faults that are said to the caller as they are. */
function isOurs(fault: unknown): fault is Error {
  return (
    fault instanceof McpFault ||
    fault instanceof SessionLostFault ||
    fault instanceof EraDisprovedFault ||
    fault instanceof UnauthorisedFault ||
    (fault instanceof Error && fault.name === 'AbortError' && !('code' in fault))
  )
}

/** The fault of a request that could not be sent, or whose reply broke off. */
export function transportFault(fault: unknown, server: string): Error {
  if (isOurs(fault)) return fault
  if (fault instanceof EgressFault) return unreachable(server, fault.reason, fault)
  const refusal = refusalOf(fault, server)
  if (fault instanceof Refusal || refusal.code === 'host.blocked')
    return unreachable(server, String(refusal.details.reason ?? refusal.message), fault)
  if (refusal.code === 'upstream.bad_reply') return nonsense(server, String(refusal.details.reason), fault)
  if (refusal.code === 'draining') return shuttingDown(server, fault)
  if (refusal.code === 'internal') return unreachable(server, 'the request could not be sent', fault)
  return unreachable(server, 'the connection ended before its answer', fault)
}
