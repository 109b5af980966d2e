import type {JsonObject} from '../base/json-member.ts'
import type {PinRules} from './mcp-pins.ts'

/** How the pin of a capability changes when its server is read, or a list of it passes. */

/** A definition that was seen and is not approved. */
export interface SeenDefinition {
  readonly hash: string
  readonly at: string
  readonly definition: JsonObject
}

/** A text in a definition that reads like orders to a model, and the rules by which it does. */
export interface Suspicion {
  /** A JSON Pointer into the definition. */
  readonly path: string
  readonly rules: readonly string[]
}

export interface Pin {
  readonly state: 'approved' | 'changed' | 'new'
  /** Oldest first. */
  readonly approved_hashes: readonly string[]
  /** The one that was approved last. */
  readonly approved_definition: JsonObject | null
  /** Oldest first. */
  readonly seen: readonly SeenDefinition[]
  readonly suspicions: readonly Suspicion[]
  readonly gone_at: string | null
}

export interface Sighting extends SeenDefinition {
  /** Null: it was not looked at again, and has those that it had. */
  readonly suspicions: readonly Suspicion[] | null
}

/** A matter that people hear of: by the audit log and an alert. */
export type PinEvent = 'changed' | 'new' | 'suspicious'

export interface PinChange {
  readonly pin: Pin
  readonly events: readonly PinEvent[]
}

export interface PinMoment {
  readonly rules: PinRules
  /** The integration was never read before: what it has then is what its administrator chose. */
  readonly is_first: boolean
  /** `sync`: the integration's own look. `list`: one that a client got, whose view may be another. */
  readonly by: 'sync' | 'list'
}

const MOST_SEEN = 8
const MOST_APPROVED = 32
/** A definition that was not seen again for so long is forgotten. */
const SEEN_MS = 30 * 86_400_000

/**
 * The pin after its capability was seen. The first sight approves, unless `enforce` holds and it is not the first of
 * the integration, or its texts are suspicious. An approved definition keeps its approval, also after it was gone.
 */
export function pinSeen(before: Pin | null, sighting: Sighting, moment: PinMoment): PinChange {
  const {rules} = moment
  const {hash} = sighting
  const is_known = before !== null && (before.approved_hashes.includes(hash) || isSeen(before, hash))
  const is_suspicious = (sighting.suspicions ?? []).length > 0
  const events: PinEvent[] = is_suspicious && !is_known ? ['suspicious'] : []
  if (before === null) {
    const approves = rules.tool_pinning !== 'enforce' || (moment.is_first && !is_suspicious)
    if (approves) return {pin: approvedAlone(null, sighting), events}
    return {pin: unapproved(null, sighting), events: [...events, 'new']}
  }
  if (before.approved_hashes.includes(hash)) return {pin: approvedAgain(before, sighting, moment), events}
  if (rules.tool_pinning === 'off') return {pin: approvedBeside(before, sighting, rules), events}
  const pin = unapproved(before, sighting)
  // a list may differ by its client, and is reported once; a sync that finds the change again reports it again
  const is_again = before.state === 'approved' && moment.by === 'sync'
  if (is_known && !is_again) return {pin, events}
  return {pin, events: [...events, before.approved_hashes.length > 0 ? 'changed' : 'new']}
}

/** The pin of a capability that its server offers no more; null once it was gone for 30 days. */
export function pinGone(before: Pin, at: string): Pin | null {
  if (before.gone_at === null) return {...before, gone_at: at}
  return Date.parse(at) - Date.parse(before.gone_at) > SEEN_MS ? null : before
}

/** The pin after a person approved one of its definitions; null where it has none with this hash. */
export function pinApproved(before: Pin, hash: string, {per_principal}: Pick<PinRules, 'per_principal'>): Pin | null {
  if (before.approved_hashes.includes(hash)) return before
  const chosen = before.seen.find(each => each.hash === hash)
  if (!chosen) return null
  const others = per_principal ? before.approved_hashes : []
  const left = per_principal ? before.seen.filter(each => each !== chosen) : []
  return {
    ...before,
    state: left.length > 0 ? 'changed' : 'approved',
    approved_hashes: [...others, hash].slice(-MOST_APPROVED),
    approved_definition: chosen.definition,
    seen: left,
  }
}

function isSeen({seen}: Pin, hash: string): boolean {
  return seen.some(each => each.hash === hash)
}

function approvedAlone(before: Pin | null, {hash, definition, suspicions}: Sighting): Pin {
  return {
    ...{state: 'approved', approved_hashes: [hash], approved_definition: definition},
    ...{seen: [], suspicions: suspicions ?? before?.suspicions ?? [], gone_at: null},
  }
}

/** With `off` whatever comes is approved. */
function approvedBeside(before: Pin, sighting: Sighting, {per_principal}: PinRules): Pin {
  const {hash} = sighting
  const others = per_principal ? before.approved_hashes : []
  return {...approvedAlone(before, sighting), approved_hashes: [...others, hash].slice(-MOST_APPROVED)}
}

/** Other definitions stay known for a while: lists that differ by their client are not news each time. */
function approvedAgain(before: Pin, {at, suspicions}: Sighting, {rules, by}: PinMoment): Pin {
  const seen = lately(before, at)
  const heals = by === 'sync' && !rules.per_principal
  const state = seen.length === 0 || heals ? 'approved' : before.state
  return {...before, state, seen, suspicions: suspicions ?? before.suspicions, gone_at: null}
}

function unapproved(before: Pin | null, {hash, at, definition, suspicions}: Sighting): Pin {
  const approved_hashes = before?.approved_hashes ?? []
  const others = before ? lately(before, at).filter(each => each.hash !== hash) : []
  return {
    state: approved_hashes.length > 0 ? 'changed' : 'new',
    approved_hashes,
    approved_definition: before?.approved_definition ?? null,
    seen: [...others, {hash, at, definition}].slice(-MOST_SEEN),
    suspicions: suspicions ?? before?.suspicions ?? [],
    gone_at: null,
  }
}

function lately({seen}: Pin, now: string): readonly SeenDefinition[] {
  return seen.filter(({at}) => Date.parse(now) - Date.parse(at) <= SEEN_MS)
}
