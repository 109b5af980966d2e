import type {Asked, OutageWorld, Reply} from './world.ts'

/** A kind of call: its key, and what it sends beside the usual. */
interface Kind {
  /** `known`: a call used its key before the outage, on the same way; `new`: none did; `wrong`: no key is so. */
  readonly key: 'known' | 'new' | 'wrong'
  /** Of its key. */
  readonly limit?: object
  readonly asked?: Asked
}

const TOKENS = {type: 'tokens', credit_limit: 1_000_000}
const STREAMED = {stream: true, stream_options: {include_usage: true}}
const CACHED = JSON.stringify({provider: '@demo', cache: {mode: 'simple', max_age: 60}})
/** The slug of a saved config, which `prepared` makes. */
const SAVED = 'saved-for-outages'

export const CALLS = {
  'a known key': {key: 'known'},
  'a known key, streamed': {key: 'known', asked: {body: STREAMED}},
  'a known key, by a saved config': {key: 'known', asked: {headers: {'x-gateway-config': SAVED}}},
  'a known key, with the cache': {key: 'known', asked: {headers: {'x-gateway-config': CACHED}}},
  'a compatible limit of tokens': {key: 'known', limit: {usage_limits: TOKENS}},
  'a compatible limit of requests': {
    key: 'known',
    limit: {rate_limits: [{type: 'requests', unit: 'rpm', value: 10_000}]},
  },
  'a strict limit': {key: 'known', limit: {usage_limits: {...TOKENS, enforcement: 'strict'}}},
  'a strict limit, streamed': {
    key: 'known',
    limit: {usage_limits: {...TOKENS, enforcement: 'strict'}},
    asked: {body: STREAMED},
  },
  'a new key': {key: 'new'},
  'a key that is none': {key: 'wrong'},
} as const satisfies Readonly<Record<string, Kind>>
export type CallName = keyof typeof CALLS
export const CALL_NAMES = Object.keys(CALLS) as CallName[]

/** The calls of one outage, whose keys are known, or are not. */
export interface Prepared {
  send(name: CallName): Promise<Reply>
  /** Makes each known key known again: after changes, and on a gateway that began later. */
  know(): Promise<void>
}

let wrong = 0

/** Makes the keys of all kinds. */
export async function prepared(world: OutageWorld): Promise<Prepared> {
  const reply = await world.post('/v1/configs', {
    ...{name: SAVED, slug: SAVED, workspace_id: world.workspace_id, config: {provider: '@demo'}},
  })
  // the config is there from the second outage on
  if (reply.status !== 200 && !/taken/.test(reply.text)) throw new Error(reply.text)
  const keys = new Map<CallName, string>()
  for (const name of CALL_NAMES) keys.set(name, await keyFor(world, CALLS[name]))
  const send = (name: CallName) => {
    const kind: Kind = CALLS[name]
    return world.call(keys.get(name)!, kind.asked)
  }
  return {
    send,
    async know() {
      await world.looked()
      const known = CALL_NAMES.filter(name => CALLS[name].key === 'known')
      for (const name of known) await servedBy(() => send(name), name)
    },
  }
}

async function keyFor(world: OutageWorld, {key, limit}: Kind): Promise<string> {
  if (key === 'wrong') return `gk-no-key-of-this-gateway-at-all-${++wrong}`
  return (await world.key(limit)).key
}

const MOST_TRIES = 20

/** On a machine that does much else, one request of three meets its deadline. */
async function servedBy(ask: () => Promise<Reply>, name: string) {
  for (let tries = 0; tries < MOST_TRIES; tries++) if ((await ask()).status === 200) return
  throw new Error(`${name} was not served in ${MOST_TRIES} tries, with its store at hand`)
}
