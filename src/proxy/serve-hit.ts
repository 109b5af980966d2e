import {replay} from '../cache/replay.ts'
import {isStreamed} from '../cache/rules.ts'
import type {CacheEntry} from '../ports/cache/index.ts'
import {answerHeaders} from './answer.ts'
import type {Call, Passage} from './call.ts'
import type {ProxyServices} from './services.ts'
import {noteHit} from './settle.ts'
import type {Target} from './target.ts'

/** Answers a call with what was kept, as a stream where it asks for one. False when it cannot be told so: then it is no hit. */
export function serveHit(call: Call, target: Target, passage: Passage, {body: kept}: CacheEntry, on: ProxyServices): boolean {
  const {body, endpoint, relay} = call
  const is_stream = body.kind === 'json' && body.stream
  const bytes = !is_stream ? kept : isStreamed(endpoint) ? replay(endpoint, kept, {include_usage: body.asks_usage}) : null
  if (!bytes) return false
  relay.feedFrom(null)
  const theirs = {'content-type': is_stream ? 'text/event-stream; charset=utf-8' : 'application/json'}
  const how = {is_stream, rewrites: true, timing: null, passage, retry_attempt_count: 0, on}
  relay.head(200, answerHeaders(call, target, theirs, how), false)
  noteHit(call, target, passage, {bytes, headers: theirs, is_stream}, on)
  relay.end([bytes])
  return true
}
