import type {Environment} from '../environment.ts'
import {CommandFault} from '../fault.ts'
import type {Printer} from '../print.ts'
import type {TransportReply} from '../transport.ts'
import {pad, plain, width} from '../width.ts'
import {
  answered,
  askGateway,
  endedWithout,
  interrupted,
  noGateway,
  type ShownSession,
  type SignInPlace,
  sessionIn,
  shortText,
} from './sign-in-gateway.ts'

const SLOWER_S = 5
const LONGEST_INTERVAL_S = 60
const LONGEST_LIFE_S = 3600
/** Answers that are none, one after the other, until it is given up: a gateway may restart meanwhile. */
const MOST_LOST = 5

interface DeviceCode {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly life_s: number
  readonly interval_s: number
}

/** Signs in by a code that a person types in a browser of any machine (RFC 8628). */
export async function signInByDevice(
  world: Environment,
  print: Printer,
  place: SignInPlace,
  host: string,
): Promise<ShownSession> {
  const begin = {method: 'POST', path: '/v1/auth/device', body: {client: 'gateway-cli', host}}
  const next = 'Sign in with a key: gateway login URL --key-stdin'
  const code = codeIn(place.url, answered(place, await askGateway(place, begin), next))
  sayCode(world, print, code)
  const ends_at_ms = world.now() + code.life_s * 1000
  let {interval_s} = code
  let lost = 0
  while (true) {
    await world.sleep(interval_s * 1000, place.signal)
    if (place.signal.aborted) throw interrupted()
    if (world.now() >= ends_at_ms) throw endedWithout('expired_token')
    const reply = await polled(place, code.device_code)
    if (reply instanceof CommandFault) {
      lost += 1
      if (lost === MOST_LOST) throw reply
      interval_s = slower(interval_s)
      continue
    }
    lost = 0
    if (reply.status === 200) return sessionIn(place.url, answered(place, reply, next))
    const error = reply.status === 400 ? shortText(reply.body, 'error') : undefined
    if (error === 'slow_down') interval_s = slower(interval_s)
    else if (error !== undefined && error !== 'authorization_pending') throw endedWithout(error)
    else if (error === undefined) {
      answered(place, reply, next)
      throw noGateway(place.url)
    }
  }
}

/** The answer; the fault of one that was lost, or that a gateway gives for a while. */
async function polled(place: SignInPlace, device_code: string): Promise<TransportReply | CommandFault> {
  const request = {method: 'POST', path: '/v1/auth/device/token', body: {device_code}}
  try {
    const reply = await askGateway(place, request)
    if (reply.status !== 429 && reply.status < 500) return reply
    answered(place, reply, '')
  } catch (fault) {
    if (fault instanceof CommandFault && fault.code !== 'interrupted' && fault.code !== 'redirect') return fault
    throw fault
  }
  throw noGateway(place.url)
}

function slower(interval_s: number): number {
  return Math.min(interval_s + SLOWER_S, LONGEST_INTERVAL_S)
}

function codeIn(url: string, body: Readonly<Record<string, unknown>>): DeviceCode {
  const {expires_in, interval} = body
  const device_code = shortText(body, 'device_code')
  const user_code = shortText(body, 'user_code')
  const page = URL.parse(shortText(body, 'verification_uri') ?? '')
  const is_known = user_code !== undefined && /^[A-Z0-9-]{4,32}$/.test(user_code)
  if (device_code === undefined || !is_known || !page || !/^https?:$/.test(page.protocol)) throw noGateway(url)
  return {
    ...{device_code, user_code, verification_uri: page.href},
    life_s: bounded(expires_in, LONGEST_LIFE_S),
    interval_s: bounded(interval, LONGEST_INTERVAL_S),
  }
}

function bounded(value: unknown, most: number): number {
  return typeof value === 'number' && value >= 1 ? Math.min(value, most) : SLOWER_S
}

/** Nothing but this can be done with the code, so it is said whatever is kept quiet. */
function sayCode({stderr}: Environment, {json}: Printer, {user_code, verification_uri, life_s}: DeviceCode) {
  if (json) return stderr.write(`${JSON.stringify({verification_uri, user_code, expires_in: life_s})}\n`)
  const page = plain(verification_uri)
  const lines = [`Open   ${page}`, `Code   ${user_code}`]
  if (!stderr.isTTY) stderr.write(`To sign in, open ${page} and type the code ${user_code}\n`)
  else stderr.write(`${boxed(lines)}\nWaiting until it is confirmed there; Ctrl-C stops.\n`)
}

function boxed(lines: readonly string[]): string {
  const widest = Math.max(...lines.map(width))
  const rule = '─'.repeat(widest + 4)
  return [`╭${rule}╮`, ...lines.map(line => `│  ${pad(line, widest)}  │`), `╰${rule}╯`].join('\n')
}
