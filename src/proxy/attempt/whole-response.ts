import {Refusal} from '../../base/errors.ts'
import {errorBody} from '../../providers/chat.ts'
import {shapedError, shapedReply} from '../../providers/messages/index.ts'
import {readReply} from '../../providers/openai/observe.ts'
import {failureOfWhole} from '../../providers/reported-failure.ts'
import {InvalidResponseFault} from '../../providers/translation.ts'
import {vendorFacts} from '../../providers/vendor-operations/facts.ts'
import {usageInHeaders} from '../../providers/vendor-operations/header-usage.ts'
import {asRefusal} from '../inbound/error-response.ts'
import type {RewrittenResponse} from '../records/attempt-result.ts'
import type {Copy} from '../upstream/body-copy.ts'
import {decodeWhole} from '../upstream/decode.ts'
import {JSON_TYPE, type TranslatedReply, translated} from '../upstream/translate.ts'
import type {AttemptParts} from './attempt-owner.ts'
import type {OpenResponse} from './open-response.ts'
import {holdsLinks, withOwnAddresses} from './reply-links.ts'
import {estimateOf} from './unreported-usage.ts'

const ENCODED = 'it is encoded, though the request wants plain text'

/** Translates a whole response, good or not, and has its guardrails check it. `done` may run at once. */
export function rewriteResponse(
  parts: AttemptParts,
  response: OpenResponse,
  copy: Copy,
  done: (fault: Refusal | null, rewritten?: RewrittenResponse) => void,
): void {
  const {call, request} = parts
  const {status, encoding, headers} = response
  if (copy.isCut)
    return done(new Refusal('upstream.bad_reply', {provider: request.provider.slug, reason: 'it is too long'}))
  const body = copy.bytes()
  const header_usage = usageInHeaders(request.provider.slug, headers)
  const has_links = status < 300 && holdsLinks(parts, headers)
  decodeWhole(encoding, body, plain => {
    try {
      if (plain === null && (has_links || call.is_shaped))
        throw new Refusal('upstream.bad_reply', {provider: request.provider.slug, reason: ENCODED})
      const reply = request.translating
        ? translated(request.translating, status, plain ?? body, header_usage, estimateOf(parts))
        : untranslated(plain ?? body)
      const {guardrails} = call
      const answered = reply.status ?? status
      const is_error = answered >= 300
      if (!guardrails || (is_error && !guardrails.judges_errors))
        return done(null, {...reply, status: answered, kept: reply.bytes, logged: reply.bytes})
      if (plain === null) return done(guardrails.unreadable('it is encoded in a way that guardrails cannot read'))
      const judged = is_error ? guardrails.evaluateError(reply, answered) : guardrails.evaluateResponse(reply, answered)
      judged.then(
        checked => done(null, checked),
        fault => done(asRefusal(fault)),
      )
    } catch (fault) {
      done(asRefusal(fault))
    }
  })

  function untranslated(came: Buffer): TranslatedReply {
    const {slug} = request.provider
    const failure = status < 300 ? failureOfWhole(call.endpoint, came, {provider: slug}) : null
    if (failure?.fault) {
      const bytes = Buffer.from(JSON.stringify(errorBody({provider: slug}, failure.fault)))
      return {...readReply(call.endpoint, came), bytes, status: failure.status, content_type: JSON_TYPE}
    }
    const bytes = has_links ? withOwnAddresses(came, parts) : call.is_shaped ? shaped(came) : came
    const is_vendors = call.endpoint === 'proxy'
    const {usage, model, hops} = is_vendors ? vendorFacts(bytes, slug, headers) : readReply(call.endpoint, bytes)
    return {
      bytes,
      ...(failure && {status: failure.status}),
      content_type: (bytes === came ? headers['content-type'] : undefined) ?? JSON_TYPE,
      usage,
      model,
      hops,
    }
  }
  function shaped(came: Buffer): Buffer {
    const {slug} = request.provider
    try {
      return status < 300 ? shapedReply(call.endpoint, came) : shapedError(status, came, slug)
    } catch (cause) {
      if (!(cause instanceof InvalidResponseFault)) throw cause
      throw new Refusal('upstream.bad_reply', {provider: slug, reason: cause.message}, {cause})
    }
  }
}
