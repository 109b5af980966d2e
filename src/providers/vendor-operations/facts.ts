import {isObject, parsed} from '../../base/json-object.ts'
import {refusalsIn} from '../anthropic/refusals.ts'
import {modelIn, type ReplyFacts, withTools} from '../openai/reply.ts'
import type {RawObject} from '../openai/usage.ts'
import {usageInHeaders} from './header-usage.ts'
import {laterUsage, type RawUsage, rawUsageOf, usageByHopOf} from './raw-usage.ts'

const NOTHING: ReplyFacts = {usage: null, model: null}
const MOST_PARTS = 4096
const LONGEST_MODEL = 255

/**
 * Usage and model of a whole reply in a vendor's own words, an object or a list of them; nulls for what it does not
 * tell. `headers` are the reply's: some `kind`s of providers count there what the body does not tell.
 */
export function vendorFacts(body: Buffer, kind: string, headers: Readonly<Record<string, string>>): ReplyFacts {
  const reply = parsed(body.toString('utf8'))
  const parts: readonly unknown[] = Array.isArray(reply)
    ? reply.slice(0, MOST_PARTS)
    : reply === undefined
      ? linesOf(body)
      : [reply]
  let report: RawUsage | null = null
  let model: string | null = null
  for (const part of parts) {
    if (!isObject(part)) continue
    report = laterUsage(report, rawUsageOf(part))
    model ??= vendorModel(part)
  }
  const {usage, hops} = usageByHopOf(report, isObject(reply) ? refusalsIn(reply) : null)
  if (!usage) return {...NOTHING, usage: usageInHeaders(kind, headers), model}
  return {usage: isObject(reply) ? withTools(usage, reply) : usage, model, hops}
}

/** The model that a reply or an event names. */
export function vendorModel(json: RawObject): string | null {
  const {modelVersion, response} = json
  const named = modelVersion ?? (isObject(response) ? response.modelVersion : undefined)
  if (typeof named === 'string' && named !== '' && named.length <= LONGEST_MODEL) return named
  return modelIn(json)
}

/** JSON by lines, as engines write what they stream. */
function linesOf(body: Buffer): readonly unknown[] {
  if (body.length > 1 << 20) return []
  return body.toString('utf8').split('\n', MOST_PARTS).map(parsed)
}
