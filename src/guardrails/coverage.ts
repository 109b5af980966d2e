import type {EndpointName} from '../schema/endpoints.ts'
import type {Side} from '../schema/guardrails.ts'
import {isGuarded} from './texts.ts'

/** An operation of a provider, as far as guardrails ask: one of the table, or `proxy` for one that it does not know. */
export interface GuardedOperation {
  readonly name: EndpointName
  readonly method: string
}

/**
 * What guardrails read of one side of an operation: its texts, in the words of its route; its strings, whatever they are; its strings where a
 * guardrail says `every_route`; nothing.
 */
export type Coverage = 'dialect' | 'strings' | 'every_route' | 'none'

/** Operations of other dialects whose answers are text. */
const WRITES_TEXT: ReadonlySet<EndpointName> = new Set(['ocr', 'createTranscription', 'createTranslation'])
/** Methods that come without a body, and whose answers show what is there. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])

/** The one place that knows. What an operation that the table does not know answers to a request with a body may be a text. */
export function coverageOf({name, method}: GuardedOperation, side: Side): Coverage {
  if (isGuarded(name, side)) return 'dialect'
  if (side === 'input') return READS.has(method) ? 'none' : 'strings'
  if (name === 'realtime') return 'none'
  return WRITES_TEXT.has(name) || (name === 'proxy' && !READS.has(method)) ? 'strings' : 'every_route'
}
