import {Refusal} from '../base/errors.ts'
import type {Claim, Counted} from '../ports/counters/index.ts'

/**
 * True when this version can hold such a limit. Requests are atomic in every mode. A strict limit of tokens or cost needs a hold of
 * what the answer may come to and a stream that can be cut; that is not there yet, so it is to be refused when it is set.
 */
export function canHold({type, enforcement}: {readonly type: Counted; readonly enforcement: Claim['mode']}): boolean {
  return enforcement !== 'strict' || type === 'requests'
}

/** The mode of a claim. A strict limit that cannot be held lets nothing through: less would be a promise broken silently. */
export function heldAs(enforcement: Claim['mode'], type: Counted, limit: string): Claim['mode'] {
  if (!canHold({type, enforcement})) throw new Refusal('limit.unavailable', {limit})
  return enforcement
}
