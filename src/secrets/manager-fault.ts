/**
 * `unreachable`: no answer that says yes or no; `throttled`: it takes a request later; `denied`: our login, or its
 * rights; `missing`: no such secret, or its version was deleted; `unusable`: it is there, and cannot be used.
 */
export type ManagerFaultKind = 'unreachable' | 'throttled' | 'denied' | 'missing' | 'unusable'

interface FaultFacts {
  readonly status?: number
  /** The manager's word for it; kept only where it is a word. */
  readonly code?: string | null
  readonly request_id?: string | null
  readonly retry_after_ms?: number | null
  /** Another token, or another session, may be let in. */
  readonly may_mint?: boolean
  readonly cause?: unknown
}

/** A word, as codes and request ids are: no sentence, in which a manager may quote what it was given. */
const WORD = /^[A-Za-z][\w.:-]{2,63}$/
const ID = /^[\w.:=+/-]{4,128}$/

/**
 * A manager of secrets, or the service that gives its tokens, did not give a secret. The sentence is ours: of an
 * answer it holds status, code and request id alone.
 */
export class ManagerFault extends Error {
  readonly kind: ManagerFaultKind
  readonly code: string | null
  readonly retry_after_ms: number | null
  readonly may_mint: boolean

  constructor(kind: ManagerFaultKind, sentence: string, facts: FaultFacts = {}) {
    const {status, code = null, request_id = null, retry_after_ms = null, may_mint = false} = facts
    const word = code !== null && WORD.test(code) ? code : null
    const id = request_id !== null && ID.test(request_id) ? `request ${request_id}` : null
    const facts_text = [status === undefined ? null : `HTTP ${status}`, word, id].filter(Boolean).join(', ')
    super(
      facts_text ? `${sentence} (${facts_text})` : sentence,
      facts.cause === undefined ? undefined : {cause: facts.cause},
    )
    this.name = 'ManagerFault'
    this.kind = kind
    this.code = word
    this.retry_after_ms = retry_after_ms
    this.may_mint = may_mint
  }

  /** True for a definite no: nothing that was fetched before is used after it. */
  get is_definite(): boolean {
    return this.kind === 'denied' || this.kind === 'missing' || this.kind === 'unusable'
  }
}

/** Any fault as one of a manager's; one that it is not is a silence, whose cause stays in the log. */
export function asManagerFault(fault: unknown, who: string): ManagerFault {
  if (fault instanceof ManagerFault) return fault
  return new ManagerFault('unreachable', `${who} cannot be reached`, {cause: fault})
}
