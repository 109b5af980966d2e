import {withCallFees} from '../../providers/call-fees.ts'
import {underWay} from '../../providers/openai/background.ts'
import {requestedMode} from '../../providers/openai/mode.ts'
import {type ReplyFacts, readReply, requestUnits} from '../../providers/openai/observe.ts'
import {NO_MODE, usageOfKind} from '../../providers/service-tiers.ts'
import {batchesInReply} from '../../providers/vendor-batches/index.ts'
import {vendorFacts} from '../../providers/vendor-operations/facts.ts'
import type {CalledOperation} from '../../providers/vendor-operations/operation.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Hop} from '../../schema/hops.ts'
import type {Outcome} from '../../schema/records.ts'
import {emptyUsage, totals, type Usage, type UsageSource} from '../../schema/usage.ts'
import {type AskedText, answerTokens, promptOf, type SeenText, textTokens} from './text-tokens.ts'

/** Endpoints whose answers use up tokens or units. The rest cost nothing. */
const USES: ReadonlySet<EndpointName> = new Set([
  'chatComplete',
  'complete',
  'embed',
  'createModelResponse',
  'rerank',
  'ocr',
  'imageGenerate',
  'imageEdit',
  'imageVariation',
  'createSpeech',
  'createTranscription',
  'createTranslation',
  'moderate',
  'messages',
])
/** Endpoints that say text in tokens: what they used can be estimated from the text. */
const SPEAKS: ReadonlySet<EndpointName> = new Set([
  'chatComplete',
  'complete',
  'createModelResponse',
  'messages',
  'embed',
])

/**
 * Endpoints that begin or end jobs, take files or count beforehand: the usage that their answers tell is that of other
 * calls.
 */
const TELLS_OF_OTHERS: ReadonlySet<EndpointName> = new Set([
  'messagesCountTokens',
  'uploadFile',
  'createBatch',
  'cancelBatch',
  'cancelFinetune',
])
/** Methods that use nothing up: they show what is there, or take it away. */
export const FREE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])
/** Endpoints that may begin a response in the background: it is charged once it ended. */
const BEGINS_RESPONSES: ReadonlySet<EndpointName> = new Set(['createModelResponse', 'proxy'])
/** By pass-through an end is put to what another call began: a response, a run, a job. */
const CANCELS = /^[\w/.:%~-]+\/cancel$/

/** The endpoint that was called; by pass-through, whatever its path means. */
export interface AskedFor {
  readonly endpoint: EndpointName
  readonly method: string
  /** Behind `/v1`, without the query. */
  readonly path: string
  /** By a vendor's own path: what that means; null for unified routes, and for paths that the table does not know. */
  readonly operation: CalledOperation | null
}

/** True where the usage that an answer tells is that of another call, which is charged for it. */
export function isOfOthers({endpoint, method, path, operation}: AskedFor): boolean {
  if (operation) return operation.operation.money === 'free'
  return FREE_METHODS.has(method) || TELLS_OF_OTHERS.has(endpoint) || (endpoint === 'proxy' && CANCELS.test(path))
}

/**
 * True where what was used can be estimated from the text: of a route that says text in tokens, or a vendor's own path
 * to one.
 */
export function speaks({endpoint, operation}: Pick<AskedFor, 'endpoint' | 'operation'>): boolean {
  if (SPEAKS.has(endpoint)) return true
  return (
    endpoint === 'proxy' &&
    operation !== null &&
    operation.operation.generates &&
    operation.operation.money === 'costed'
  )
}

/** The facts of an attempt once it ended. */
export interface EndedAttempt extends AskedFor, AskedText, SeenText {
  /** Of the request that left. */
  readonly model: string | null
  /** The body that left, where it may ask for a mode of service; null where nothing in it does. */
  readonly mode_in: Buffer | null
  readonly status: number | null
  readonly outcome: Outcome
  /** The findings of a stream or a translation; null when the whole answer is read here. */
  readonly reply_facts: ReplyFacts | null
  /** The answer's body, decoded; null where it is not there whole. */
  readonly plain: Buffer | null
  /** The provider's kind. */
  readonly kind: string
  /** The answer's headers, lower case. */
  readonly reply_headers: Readonly<Record<string, string>>
  /** True where `plain` lacks what is long in it: its text is not there to be counted. */
  readonly is_skimmed?: boolean
  /** The request was written whole, and no answer began: its prompt may have been read all the same. */
  readonly is_unanswered?: boolean
  /** Its response is still being made, and is charged once it ended. */
  readonly is_background?: boolean
  /** A stream that did not come to its end. */
  readonly is_cut_stream: boolean
}

export interface AttemptUsage {
  readonly usage: Usage
  readonly source: UsageSource
  readonly reported_model: string | null
  /** The parts of it that are charged by themselves; absent or null where it is charged as a whole. */
  readonly hops?: readonly Hop[] | null
}

/**
 * Endpoints that cost without telling how much: replies may be subtitles, which say nothing of how long the sound was;
 * training has no rate.
 */
const MAY_TELL_NOTHING: ReadonlySet<EndpointName> = new Set([
  'createTranscription',
  'createTranslation',
  'createFinetune',
])
const NO_BODY = Buffer.alloc(0)
const NOTHING_SAID: ReplyFacts = {usage: null, model: null}

/** The usage that the provider reported; where it should have and did not, an estimate from the text, marked as one. */
export function usedBy(ended: EndedAttempt): AttemptUsage {
  const used = reportedBy(ended)
  const usage = withCallFees(ended.kind, [ended.model, used.reported_model], used.usage)
  return usage === used.usage ? used : {...used, usage}
}

function reportedBy(ended: EndedAttempt): AttemptUsage {
  const {endpoint, request_body, asked_bytes, status, outcome, plain} = ended
  if (status === null && ended.is_unanswered)
    return {usage: ofKind(ended, promptOf(ended)), source: 'estimated', reported_model: null}
  if (status === null || status >= 300)
    return {usage: emptyUsage(), source: 'none', reported_model: ended.reply_facts?.model ?? null}
  const facts = ended.reply_facts ?? wholeFacts(ended)
  const nothing: AttemptUsage = {usage: emptyUsage(), source: 'none', reported_model: facts.model}
  if (ended.operation?.operation.money === 'deferred')
    return beginsBatch(ended) ? nothing : {...nothing, source: 'unmetered'}
  if (ended.is_background || isOfOthers(ended) || (plain && BEGINS_RESPONSES.has(endpoint) && underWay(plain) !== null))
    return nothing
  const source = outcome === 'ok' && !ended.is_cut_stream ? 'provider' : 'partial'
  if (facts.usage) {
    const usage = ofKind(ended, facts.usage)
    const cut = ended.is_cut_stream && !facts.hops
    return {usage: cut ? withText(usage, ended) : usage, source, reported_model: facts.model, hops: facts.hops}
  }
  const unmetered: AttemptUsage = isUnmetered(ended) ? {...nothing, source: 'unmetered'} : nothing
  if (!USES.has(endpoint) && !speaks(ended)) return unmetered
  const units = request_body && requestUnits(endpoint, request_body)
  if (units) return {usage: units, source, reported_model: facts.model}
  if (!speaks(ended) || asked_bytes === null) return unmetered
  const answered = plain && !ended.is_skimmed ? answerTokens(plain) : null
  const output_text_tokens = endpoint === 'embed' ? 0 : (answered ?? textTokens(ended))
  const usage = {...ofKind(ended, promptOf(ended)), output_text_tokens}
  return {usage, source: outcome === 'ok' ? 'estimated' : 'partial', reported_model: facts.model}
}

/**
 * As its kind of provider means it; where the answer does not tell how it was served, what the request wants counts.
 */
function ofKind({kind, mode_in, reply_headers}: EndedAttempt, reported: Usage): Usage {
  return usageOfKind(kind, reported, mode_in ? requestedMode(mode_in) : NO_MODE, reply_headers)
}

/** True when the reply describes the batch that it began, so that this can be charged from its results. */
function beginsBatch({operation, plain}: EndedAttempt): boolean {
  const batches = operation?.operation.batches
  return Boolean(batches && plain && batchesInReply(batches.words, plain).length > 0)
}

function wholeFacts({endpoint, plain, kind, reply_headers}: EndedAttempt): ReplyFacts {
  if (endpoint === 'proxy') return vendorFacts(plain ?? NO_BODY, kind, reply_headers)
  return plain ? readReply(endpoint, plain) : NOTHING_SAID
}

/**
 * True for work that costs, although nothing tells how much, and for what the table knows no rate for or does not know
 * at all.
 */
function isUnmetered({endpoint, operation}: EndedAttempt): boolean {
  return endpoint === 'proxy' || operation !== null || MAY_TELL_NOTHING.has(endpoint)
}

/** A stream that was cut off had reported little of its answer: the text that was seen counts. */
function withText(usage: Usage, seen: SeenText): Usage {
  const unsaid = textTokens(seen) - totals(usage).completion_tokens
  return unsaid > 0 ? {...usage, output_text_tokens: usage.output_text_tokens + unsaid} : usage
}
