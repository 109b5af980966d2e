import {Refusal} from '../../base/errors.ts'
import {readReply} from '../../providers/openai/observe.ts'
import type {Call} from '../call/call.ts'
import {asRefusal} from '../inbound/error-response.ts'
import type {Copy} from '../upstream/body-copy.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'
import {decodeWhole} from '../upstream/decode.ts'
import {type TranslatedReply, translated} from '../upstream/translate.ts'

/** A whole answer as the client is told it. */
export interface Rewritten extends TranslatedReply {
  readonly status: number
  /** The answer as it may be kept for others; null: not at all. */
  readonly kept: Buffer | null
  /** What the log keeps of it. */
  readonly logged: Buffer
}

interface Answered {
  readonly call: Call
  readonly outgoing: UpstreamRequest
  readonly status: number
  readonly encoding: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** Puts a whole answer, good or not, into the client's words, and has its guardrails judge a good one. `done` may run at once. */
export function rewrite(of: Answered, copy: Copy, done: (fault: Refusal | null, reply?: Rewritten) => void): void {
  if (copy.isCut) return done(new Refusal('upstream.bad_reply', {provider: of.outgoing.provider.slug, reason: 'it is too long'}))
  const body = copy.bytes()
  decodeWhole(of.encoding, body, plain => {
    try {
      const reply = inWords(of, plain ?? body)
      const {guardrails: guarded} = of.call
      if (!guarded || of.status >= 300) return done(null, {...reply, status: of.status, kept: reply.bytes, logged: reply.bytes})
      if (plain === null) return done(guarded.unreadable('it is encoded in a way that guardrails cannot read'))
      guarded.evaluateResponse(reply, of.status).then(
        judged => done(null, judged),
        fault => done(asRefusal(fault)),
      )
    } catch (fault) {
      done(fault instanceof Refusal ? fault : new Refusal('internal', {}, {cause: fault}))
    }
  })
}

function inWords({call, outgoing: {translating}, status, headers}: Answered, plain: Buffer): TranslatedReply {
  if (translating) return translated(translating, status, plain)
  const {usage, model} = readReply(call.endpoint, plain)
  return {bytes: plain, content_type: headers['content-type'] ?? 'application/json', usage, model}
}
