import {topLevel} from '../../base/json.ts'
import {object, parsed} from '../../base/json-object.ts'
import {NO_MODE, type RequestedMode, tierWord} from '../service-tiers.ts'

const NO_KEYS: ReadonlySet<string> = new Set()
/** Members that ask for a mode of service, in the words of OpenAI, Anthropic, Google and Bedrock. */
const TIER_KEYS = ['service_tier', 'serviceTier'] as const
const SPEED_KEY = 'speed'
const KEYS = [...TIER_KEYS, SPEED_KEY].map(key => ({key, bytes: Buffer.from(`"${key}"`)}))
/** A longer value is no word, and no object that holds one. */
const MAX_VALUE_BYTES = 1024

/** True where a body whose top level has these keys may ask for a mode. */
export function mayAskMode(keys: {has(key: string): boolean}): boolean {
  return KEYS.some(({key}) => keys.has(key))
}

/** The mode that a request asks for. A body without such a member is searched and not read. */
export function requestedMode(body: Buffer): RequestedMode {
  if (!KEYS.some(({bytes}) => body.includes(bytes))) return NO_MODE
  try {
    const members = topLevel(body, NO_KEYS)
    const valueIn = (key: string) => {
      const span = members.get(key)
      return span && span.end - span.start <= MAX_VALUE_BYTES
        ? parsed(body.toString('utf8', span.start, span.end))
        : undefined
    }
    const tiers = TIER_KEYS.map(valueIn).map(value => tierWord(value) ?? tierWord(object(value).type))
    const tier = tiers.find(word => word !== undefined) ?? null
    const speed = tierWord(valueIn(SPEED_KEY)) ?? null
    return tier === null && speed === null ? NO_MODE : {tier, speed}
  } catch {
    return NO_MODE // not JSON: the provider refuses it
  }
}
