import {createHash} from 'node:crypto'
import {parsed} from '../../base/json-object.ts'
import {type Assembler, createAssembler} from '../../cache/assemble.ts'
import {behaviouralHeaders, cacheKey} from '../../cache/key.ts'
import {type CacheListener, type CacheLookup, lookUp} from '../../cache/lookup.ts'
import {markOf} from '../../cache/marks.ts'
import {decideCache, isStateful, isStreamed, mayStore, tellsFailure} from '../../cache/rules.ts'
import type {CacheEntry, CacheKey} from '../../ports/cache/index.ts'
import {holdsCredential} from '../../providers/options.ts'
import type {ResponseSink} from '../attempt/attempt-owner.ts'
import {type Call, isSecret} from '../call/call.ts'
import {wholeOf} from '../inbound/body.ts'
import type {AttemptResult} from '../records/attempt-result.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'
import {headerList} from '../upstream/client-headers.ts'
import type {RequestTranslation} from '../upstream/translate.ts'

type Services = Uses<'cache' | 'now'>

/** An answer longer than this is read for its own caller alone. */
const MAX_FOLLOWED_BYTES = 8 << 20

/** A call at the cache, before one target: what it finds there, or what comes to be kept. */
export class CacheParticipant implements CacheListener, ResponseSink {
  /** The client's cache status when nothing is found. */
  readonly status: 'MISS' | 'REFRESH'
  readonly key: CacheKey
  readonly max_age_ms: number
  /** Called with the answer once it is kept. */
  onKept: ((answer: unknown) => void) | null = null
  readonly #call: Call
  readonly #now: () => number
  readonly #lookup: CacheLookup
  /** Assembles the answer that is coming in. */
  #assembler: Assembler | null = null
  readonly #result = Promise.withResolvers<CacheEntry | null>()
  #abandon: (() => void) | undefined
  #seen_bytes = 0

  constructor(
    call: Call,
    key: CacheKey,
    {status, max_age_ms}: Pick<CacheParticipant, 'status' | 'max_age_ms'>,
    services: Services,
    begin: (listener: CacheListener) => CacheLookup,
  ) {
    this.status = status
    this.max_age_ms = max_age_ms
    this.key = key
    this.#call = call
    this.#now = services.now
    this.#lookup = begin(this)
    const {outcome} = this.#lookup
    if (outcome !== 'pending') this.#result.resolve(outcome === 'miss' ? null : outcome)
  }

  onHit(entry: CacheEntry): void {
    this.#result.resolve(entry)
  }

  onMiss(): void {
    this.#result.resolve(null)
  }

  onAbandoned(): void {
    this.#abandon?.()
  }

  /** The stored entry, or null: the provider is to be called. Pending for ever after `leave`. */
  result(): Promise<CacheEntry | null> {
    return this.#result.promise
  }

  /** Another's call is waited for. */
  get follows(): boolean {
    return this.#lookup.follows
  }

  /** Sets what is called when no caller wants the response any more. */
  setAbandon(abandon: () => void): void {
    this.#abandon = abandon
  }

  /** Others wait for this answer: it is read at the provider's pace. */
  get is_followed(): boolean {
    return this.#lookup.followed
  }

  /** An answer begins: nothing of an attempt before it is part of it. */
  restart(): void {
    const {endpoint, body} = this.#call
    this.#assembler = body.kind === 'json' && body.stream && isStreamed(endpoint) ? createAssembler(endpoint) : null
    this.#seen_bytes = 0
  }

  /** The next bytes of a stream, as a client reads them. */
  observe(bytes: Buffer): void {
    this.#assembler?.push(bytes)
    this.#seen_bytes += bytes.length
    if (this.#seen_bytes > MAX_FOLLOWED_BYTES) this.#lookup.decline()
  }

  /** The answer is whole; `plain` null: the stream that was seen. Keeps it where it may be kept. */
  keep(status: number, content_type: string | undefined, plain: Buffer | null, masked = same): void {
    const whole = plain ?? this.#assembler?.end() ?? null
    const body = whole && masked(whole)
    const type = plain ? content_type : 'application/json'
    const answer = body && parsed(body.toString())
    if (body && mayStore(this.#call.endpoint, status, type, answer)) {
      this.#lookup.store({body, stored_at_ms: this.#now()})
      this.onKept?.(answer)
    } else if (status < 300 && !tellsFailure(answer)) this.#lookup.decline()
    else this.#lookup.fail()
  }

  /**
   * The same of an attempt: of a response that guardrails changed what passed, without the hook results of its own
   * call.
   */
  storeResponse({statuses, headers, stream, rewritten}: AttemptResult, plain: Buffer | null, masked = same): void {
    const status = statuses.provider!
    const may_store = statuses.client === status && this.#call.guardrails?.keeps_streams !== false
    if (stream) return may_store ? this.keep(status, undefined, null, masked) : this.#lookup.decline()
    if (!rewritten) return this.keep(status, headers['content-type'], plain, masked)
    if (rewritten.kept && rewritten.status < 300) this.keep(status, rewritten.content_type, rewritten.kept, masked)
    else this.#lookup.decline()
  }

  /** An answer to the same in other words, which ends in `most_ms`: it is kept, and given to all that wait. */
  copy(entry: CacheEntry, most_ms: number): void {
    this.#lookup.store(entry, most_ms)
  }

  /** The same of an answer that is not kept for this request. */
  give(entry: CacheEntry): void {
    this.#lookup.give(entry)
  }

  /** No answer comes. */
  fail(): void {
    this.#lookup.fail()
  }

  /** The provider is not called after all: another call takes this one's place. */
  passLead(): void {
    this.#lookup.passLead()
  }

  /** The client is gone; true when the answer is wanted all the same. */
  leave(): boolean {
    return this.#lookup.leave()
  }
}

const same = (bytes: Buffer) => bytes

/** Takes a call to the cache; null where its config or the call has none. */
export function joinCache(
  call: Call,
  target: Target,
  out: UpstreamRequest,
  services: Services,
): CacheParticipant | null {
  const {body, endpoint, incoming} = call
  if (!target.cache || !services.cache || body.kind !== 'json' || !Buffer.isBuffer(out.body)) return null
  const own = incoming.own.values
  const decision = decideCache({
    rule: target.cache,
    endpoint,
    method: incoming.method,
    has_json: true,
    streams: body.stream,
    is_stateful: endpoint === 'createModelResponse' && isStateful(endpoint, wholeOf(body)),
    debug_off: own.debug === 'false',
    force_refresh: own['cache-force-refresh'],
    organisation_max_age_s: null,
  })
  if (decision.status === 'DISABLED') return null
  const key = keyOf(call, target, out)
  if (!key) return null
  const {cache} = services
  return new CacheParticipant(call, key, decision, services, listener =>
    lookUp(cache, key, {refresh: decision.status === 'REFRESH', max_age_ms: decision.max_age_ms}, listener),
  )
}

/** The place of a call's answer in the cache; null where there is none. */
export function keyOf(call: Call, target: Target, out: UpstreamRequest): CacheKey | null {
  const {caller, endpoint, incoming} = call
  const own = incoming.own.values
  if (!Buffer.isBuffer(out.body)) return null
  const key = cacheKey({
    organisation_id: caller.organisation_id,
    workspace_id: caller.workspace_id,
    provider: target.provider.slug,
    base_url: out.destination ? out.destination.origin + out.destination.basePath : target.provider.slug,
    endpoint,
    path: out.path,
    model: out.model,
    own_credential: ownCredential(call, target, out),
    guards: target.guards?.digest ?? '',
    body: out.body,
    repeated: out.translating && repeatedRequest(out.translating),
    namespace: own['cache-namespace'],
    metadata: call.metadata,
    headers: {...behaviouralHeaders(own), ...forwarded(call, target)},
  })
  return key && {...key, about: {model: markOf(out.model), namespace: markOf(own['cache-namespace'])}}
}

/** The request that an answer repeats members of, or that says in which words its calls are; null for all others. */
function repeatedRequest({client, client_request, speaks_functions}: RequestTranslation): Buffer | null {
  return client?.repeats_request || speaks_functions ? Buffer.from(JSON.stringify(client_request)) : null
}

/**
 * A hash of what the caller, or its config, brings to be let in by the provider: the key, what a login is made of, and
 * every header that is a credential by its name. Null where it is the workspace's own that goes: all who may use it
 * share its answers.
 */
function ownCredential(
  {incoming}: Call,
  {credential_of, key, options}: Target,
  {headers, login}: UpstreamRequest,
): string | null {
  const is_ours = credential_of === 'integration' && (key !== null || holdsCredential(options))
  const sent = Object.entries(headers).filter(
    ([name, value]) => isCredential(name) && (!is_ours || name === 'cookie' || value === incoming.headers[name]),
  )
  const of_login =
    !is_ours && (login !== null || holdsCredential(options)) ? [login?.key, ...Object.entries(options).toSorted()] : []
  if (is_ours ? sent.length === 0 : key === null && sent.length + of_login.length === 0) return null
  const own = [is_ours ? null : key, sent.toSorted(), of_login]
  return createHash('sha256').update(JSON.stringify(own)).digest('hex')
}

/** Names under which logins are sent; of a header that is none, answers are parted needlessly. */
const isCredential = (name: string) =>
  isSecret(name) || /auth|token|key|secret|cookie|session|credential|signature/.test(name)

/** Headers of the client that reach the provider, and may change what it answers. */
function forwarded({incoming}: Call, {forward_headers}: Target): Record<string, string> {
  const listed = incoming.own.values['forward-headers']
  const names = [...HANDED_ON, ...(listed ? headerList(listed, incoming.own.prefix) : forward_headers)]
  const values: Record<string, string> = {}
  for (const name of names) {
    const value = incoming.headers[name]
    if (typeof value === 'string') values[name] = value
  }
  return values
}

const HANDED_ON = ['openai-organization', 'openai-project', 'openai-beta', 'anthropic-beta', 'anthropic-version']
