import {ENDPOINTS, type EndpointName} from '../schema/endpoints.ts'
import type {Side} from '../schema/guardrails.ts'
import type {Hook} from './hook.ts'
import {whySkipped} from './run.ts'
import {isGuarded} from './texts.ts'

/** An operation of a provider, as far as guardrails ask: one of the table, or `proxy` for one that it does not know. */
export interface GuardedOperation {
  readonly name: EndpointName
  readonly method: string
}

/**
 * The part of one side of an operation that guardrails read: its texts, in the dialect of its route; all its strings;
 * its strings when a guardrail sets `every_route`; nothing.
 */
export type Coverage = 'dialect' | 'strings' | 'every_route' | 'none'

/**
 * Operations of other dialects whose answers are text; what was made in the background is fetched as the answer that it
 * is.
 */
const WRITES_TEXT: ReadonlySet<EndpointName> = new Set([
  'ocr',
  'createTranscription',
  'createTranslation',
  'getModelResponse',
])
/** Methods that come without a body, and whose answers show what is there. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])

/**
 * The one place that knows. What an operation that the table does not know answers to a request with a body may be a
 * text.
 */
export function coverageOf({name, method}: GuardedOperation, side: Side): Coverage {
  if (isGuarded(name, side)) return 'dialect'
  if (side === 'input') return READS.has(method) ? 'none' : 'strings'
  return WRITES_TEXT.has(name) || (name === 'proxy' && !READS.has(method)) ? 'strings' : 'every_route'
}

/**
 * The operations that guardrails know of: the table's, and for each side of what it does not know one row. Another
 * table may take its place.
 */
export const OPERATIONS: readonly (GuardedOperation & {readonly path: string})[] = [
  ...ENDPOINTS.filter(({later}) => !later).map(({name, method, path}) => ({name, method, path})),
  {name: 'proxy', method: 'POST', path: '/*'},
  {name: 'proxy', method: 'GET', path: '/*'},
]

/** Paths that take a file whose rows are judged, and that make a batch of one. */
export const UPLOADS_ROWS = /\/files(?:\/upload)?$/
export const RUNS_ROWS = /(?:^|\/)(?:batches|batch\/jobs)$/

/**
 * The checks that judge each row of a file for batches: those that judge a call of the row's route. Null for an
 * operation that has no such file.
 */
export function coveredRows(
  hook: Hook,
  {method, path}: {readonly method: string; readonly path: string},
): readonly string[] | null {
  const is_of_file = /^\/(?:files|files\/upload|batches|batch\/jobs)$/.test(path)
  return method === 'POST' && is_of_file ? coveredBy(hook, ROW, 'input').judged : null
}

const ROW: GuardedOperation = {name: 'chatComplete', method: 'POST'}

/**
 * Why a check says nothing of a side: it is for the other one, there is no body, the answer is no text, or it asks for
 * more than strings.
 */
export type NotJudged = 'other_side' | 'no_body' | 'no_text' | 'not_text' | 'not_here'

export interface CoveredSide {
  readonly side: Side
  readonly reads: Coverage
  readonly judged: readonly string[]
  readonly skipped: readonly {readonly id: string; readonly reason: NotJudged}[]
}

/** The part of one side of an operation that a guardrail judges. */
export function coveredBy(hook: Hook, operation: GuardedOperation, side: Side): CoveredSide {
  const reads = coverageOf(operation, side)
  const kind =
    reads === 'dialect'
      ? 'dialect'
      : reads === 'strings' || (reads === 'every_route' && hook.every_route)
        ? 'strings'
        : 'none'
  const judged: string[] = []
  const skipped: {id: string; reason: NotJudged}[] = []
  for (const check of hook.checks) {
    const why = whySkipped(check, hook, kind, {side, endpoint: operation.name})
    if (why === null) judged.push(check.id)
    else if (!check.prepared.check.sides.includes(side)) skipped.push({id: check.id, reason: 'other_side'})
    else if (why === 'not_text') skipped.push({id: check.id, reason: 'not_text'})
    else
      skipped.push({
        id: check.id,
        reason:
          kind === 'dialect' || (side === 'output' && reads === 'none')
            ? 'not_here'
            : side === 'input'
              ? 'no_body'
              : 'no_text',
      })
  }
  return {side, reads, judged, skipped}
}
