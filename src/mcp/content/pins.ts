import {hash} from 'node:crypto'
import {isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import type {PinRules} from '../../schema/mcp-pins.ts'

/** Pins: a capability is known by the hash of its definition, so that one that changes behind our back is noticed. */

/** Members of an entry that a model or its client acts by. */
const PINNED = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'arguments',
  'uri',
  'uriTemplate',
  'mimeType',
] as const

/** Keys of `_meta` that may differ in each list: those of the protocol, traces, and times. */
const VOLATILE = /^(?:io\.modelcontextprotocol\/.*|traceparent|tracestate|baggage|progressToken)$/
const MOMENT = /(?:^|[/._-])(?:timestamp|[a-z]+ed_?at|last_?(?:modified|updated)|(?:request|trace)_?id)$/i
/** A longer one is no time or id, whatever its key. */
const MAX_MOMENT = 64

/** The part of an entry that is pinned. */
export function definitionOf(entry: JsonObject): JsonObject {
  const members: [string, JsonValue][] = []
  for (const key of PINNED) {
    const value = own(entry, key)
    if (value !== undefined) members.push([key, value])
  }
  const meta = own(entry, '_meta')
  if (isObject(meta)) {
    const lasting = Object.entries(meta).filter(([key, value]) => !isVolatile(key, value))
    if (lasting.length > 0) members.push(['_meta', Object.fromEntries(lasting)])
  }
  return Object.fromEntries(members)
}

function isVolatile(key: string, value: JsonValue): boolean {
  return VOLATILE.test(key) || (MOMENT.test(key) && JSON.stringify(value).length <= MAX_MOMENT)
}

/** SHA-256 of a definition in its canonical form, in hexadecimal. */
export function definitionHash(definition: JsonObject): string {
  return hash('sha256', canonicalJson(definition), 'hex')
}

/** JSON without blanks, members in the order of their keys. */
function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`
}

/** A row's pin, as far as a call needs it (`CapabilityForCall` has it). */
export interface RowPin {
  /** Null: no sync has read it yet. */
  readonly pin_state: 'approved' | 'changed' | 'new' | null
  readonly approved_hashes: readonly string[]
  readonly seen_hashes: readonly string[]
  readonly gone_at: string | null
}

export interface PinVerdict {
  /** It may be in a list that is passed on. */
  readonly visible: boolean
  readonly callable: boolean
  readonly state: 'approved' | 'changed' | 'new'
  /** The rows do not have it: report it (`Sightings`). */
  readonly is_news: boolean
}

/**
 * Judges one capability by its row, and by the entry of the list that passes. On a call `entry` is that of the list
 * that this client got last, or null where none is known: then the row alone decides, and a capability of which
 * principals see different definitions may be called as long as one of them is approved.
 */
export function judgePin(rules: PinRules, row: RowPin | undefined, entry: JsonObject | null): PinVerdict {
  const enforces = rules.tool_pinning === 'enforce'
  if (!row || row.pin_state === null) {
    const is_open = !enforces && (row !== undefined || rules.new_capabilities === 'allow')
    return {visible: is_open, callable: is_open, state: 'new', is_news: true}
  }
  if (entry === null) {
    const is_approved = row.pin_state === 'approved' || (rules.per_principal && row.pin_state === 'changed')
    return open(!enforces || is_approved, row.pin_state, false)
  }
  const seen = definitionHash(definitionOf(entry))
  if (row.approved_hashes.includes(seen)) {
    const is_back = row.gone_at !== null || (row.pin_state !== 'approved' && !rules.per_principal)
    return open(true, 'approved', is_back)
  }
  const state = row.approved_hashes.length > 0 ? 'changed' : 'new'
  // a sync that saw the approved one again has healed the row: this is a change once more
  const is_healed = row.pin_state === 'approved' && !rules.per_principal
  return open(!enforces, state, is_healed || row.gone_at !== null || !row.seen_hashes.includes(seen))
}

function open(is_open: boolean, state: PinVerdict['state'], is_news: boolean): PinVerdict {
  return {visible: is_open, callable: is_open, state, is_news}
}
