import {setTimeout as sleep} from 'node:timers/promises'
import {Client} from './client.ts'
import {CHAT, STATES, type State} from './states.ts'
import type {GatewaySetup} from './worlds.ts'

/** Plain requests are read by the front; what has a body in chunks is node:http's. */
export type ServerKind = 'front' | 'http'

/** A call that is held in a state. */
export interface Cell {
  readonly state: State
  readonly tag: string
  readonly way: ServerKind
  readonly trace_id: string
  readonly key: string
  readonly client: Client
  /** What has not been sent of its request. */
  readonly rest: string
  /** The call that it follows, where it follows one. */
  readonly leader: Cell | null
}

const SOON_MS = 10_000
let traces = 0

/** Brings a call into each of these states at once, and holds them there. */
export function hold(
  world: GatewaySetup,
  event: string,
  states: readonly State[],
  way: ServerKind,
  patience_ms = 60_000,
): Promise<Cell[]> {
  return Promise.all(states.map(state => holdOne(world, state, way, patience_ms, tagOf(state, event))))
}

async function holdOne(
  world: GatewaySetup,
  state: State,
  way: ServerKind,
  patience_ms: number,
  tag: string,
): Promise<Cell> {
  const {double} = world
  if (state.follows && !tag.startsWith(SENT.name)) {
    const leader = await holdOne(world, {...SENT, request: state.request}, way, patience_ms, `${SENT.name}.${tag}`)
    return {...(await holdOne(world, state, way, patience_ms, leader.tag)), leader}
  }
  const {config, body, part, is_slow, opens} = state.request(tag, double, patience_ms)
  const key = await world.key()
  const trace_id = `life-${process.pid}-${++traces}`
  const client = new Client(world.url, !is_slow)
  await client.connected()
  const text = JSON.stringify(body)
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: gateway',
    'content-type: application/json',
    `x-gateway-api-key: ${key}`,
    `x-gateway-trace-id: ${trace_id}`,
    `x-gateway-config: ${JSON.stringify(config)}`,
    way === 'front' ? `content-length: ${text.length}` : 'transfer-encoding: chunked',
  ].join('\r\n')
  const whole = way === 'front' ? text : `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
  const request = opens ? opening(tag, key, trace_id, config) : `${head}\r\n\r\n${whole}`
  const come = part === 'head' ? 60 : part === 'body' ? head.length + 24 : request.length
  client.send(request.slice(0, come))
  if (state.hears === null || is_slow) await sleep(100) // nobody tells that it has come so far
  if (state.hears !== null) await double.until(state.hears === 'dial' ? 'dial' : `${state.hears} ${tag}`)
  if (state.is_answered && !is_slow) await until(() => client.status !== null)
  if (state.name === 'retry wait') await until(async () => (await world.recorded(trace_id)).entries.length === 1)
  return {state, tag, way, trace_id, key, client, rest: request.slice(come), leader: null}
}

const opening = (tag: string, key: string, trace_id: string, config: object) =>
  [
    `GET /v1/realtime?model=${tag} HTTP/1.1`,
    'host: gateway',
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    `x-gateway-api-key: ${key}`,
    `x-gateway-trace-id: ${trace_id}`,
    `x-gateway-config: ${JSON.stringify(config)}`,
    '\r\n',
  ].join('\r\n')

const SENT = STATES.find(({name}) => name === 'sent')!
/** The double knows by the first word how far to answer. */
const tagOf = ({name}: State, event: string) => `${name}.${event.replace(/ /g, '-')}`

/** Waits for `is_so`, which has to come; false when it does not. */
export async function until(is_so: () => boolean | Promise<boolean>, most_ms = SOON_MS): Promise<boolean> {
  for (const end = performance.now() + most_ms; performance.now() < end; await sleep(25)) if (await is_so()) return true
  return false
}

let asks = 0

/** Asks for as much as a key may hold; gives the status. */
export async function ask({url}: GatewaySetup, key: string): Promise<number> {
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {'content-type': 'application/json', 'x-gateway-api-key': key, 'x-gateway-config': '{"provider":"@main"}'},
    body: JSON.stringify({...CHAT, user: `again.${++asks}`}),
  })
  await reply.arrayBuffer()
  return reply.status
}
