import {createHash} from 'node:crypto'
import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import type {Seal} from '../../base/seal.ts'
import type {McpServer} from '../call/server.ts'
import type {McpCaller} from '../services.ts'
import {McpFault} from '../wire/faults.ts'

/** A state is good for so long. */
export const STATE_MS = 10 * 60_000
/** A longer state is not read. */
const MOST_LENGTH = 16 * 1024
/** A state of an upstream that does not fit is nonsense. */
export const MOST_UPSTREAM_STATE = 10 * 1024
export const MOST_ROUNDS = 10

/** The request that a state belongs to: a retry has to be the same. */
export interface StatedRequest {
  readonly caller: McpCaller
  readonly server: Pick<McpServer, 'id'>
  readonly method: string
  readonly params: JsonObject | undefined
}

/** The content of a sealed state. */
export interface RequestState {
  /** The logical call, whatever number of requests it takes. */
  readonly call_id: string
  readonly log_id: string
  /** The round that the state opens, from 2 on. */
  readonly round: number
  /** The call that waits in a process for its answer; null where the upstream waits for nothing. */
  readonly held: {readonly id: string; readonly holder: string} | null
  /** The state of a modern upstream; null where it gave none. */
  readonly upstream: string | null
  readonly expires_ms: number
  /** The person was sent to sign in at the upstream: the next round is the call's first there. */
  readonly is_sign_in?: boolean
}

/** Seals a state so that it opens for this principal and this request alone. */
export function sealState(seal: Pick<Seal, 'close'>, owner: StatedRequest, state: RequestState): string {
  return seal.close(JSON.stringify(state), placeOf(owner)).toString('base64url')
}

/** The content of a state. Throws `state_invalid` (-32602) for whatever is not as it was given. */
export function openState(seal: Pick<Seal, 'open'>, owner: StatedRequest, text: string, now_ms: number): RequestState {
  const invalid = (cause?: unknown) => new McpFault('state_invalid', {}, {cause})
  if (text.length > MOST_LENGTH || !/^[\w-]+$/.test(text)) throw invalid()
  let opened: unknown
  try {
    opened = parsed(seal.open(Buffer.from(text, 'base64url'), placeOf(owner)))
  } catch (cause) {
    throw invalid(cause)
  }
  const state = opened as RequestState
  if (!isObject(opened) || state.expires_ms <= now_ms || state.round > MOST_ROUNDS) throw invalid()
  return state
}

function placeOf({caller, server, method, params}: StatedRequest) {
  const {kind, id, user_id, organisation_id} = caller
  return {
    table: 'mcp_request_state',
    column: method,
    row: JSON.stringify([kind, id, user_id, server.id, digestOf(params)]),
    organisation_id,
  }
}

/** Members that a retry may change: they are no part of it. */
const OF_ROUND: ReadonlySet<string> = new Set(['_meta', 'inputResponses', 'requestState'])

function digestOf(params: JsonObject | undefined): string {
  const kept = Object.keys(params ?? {}).filter(key => !OF_ROUND.has(key))
  const digest = createHash('sha256')
  for (const key of kept.sort()) digest.update(`${JSON.stringify(key)}:${canonical(own(params, key))},`)
  return digest.digest('base64url')
}

/** JSON with sorted keys: clients may write the same value in another order. As deep as a message may be. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const keys = Object.keys(value).sort()
  return `{${keys.map(key => `${JSON.stringify(key)}:${canonical(own(value, key))}`).join(',')}}`
}
