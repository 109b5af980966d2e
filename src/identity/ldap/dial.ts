import {isIP, connect as openTcp, type Socket} from 'node:net'
import {checkServerIdentity, connect as openTls} from 'node:tls'
import {after} from '../../base/delay.ts'
import {faultOf} from '../../base/egress/faults.ts'
import {opened} from '../../base/egress/opened.ts'
import type {LdapSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {LdapConnection, noted} from './connection.ts'
import type {LdapRequests} from './requests.ts'
import {type LdapUrl, readLdapUrls} from './urls.ts'

export interface LdapDialing {
  /** Resolves and judges a host: the addresses to dial, in order; throws for one that may not be reached. */
  readonly addressesOf: (hostname: string) => Promise<readonly string[]>
  readonly now_ms: () => number
  readonly connect_ms: number
  readonly answer_ms: number
  /** Called for each step that worked or failed, where they are shown. */
  readonly noted?: (step: LdapStep) => void
}

export interface LdapStep {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

const MOST_ADDRESSES = 8
/** All servers and addresses together may take this many times as long as one. */
const ALL_DIALS = 4

/**
 * A connection to the first server that answers and that `ready` accepts; TLS is on it, where the settings want it,
 * before `ready` is called. Throws the fault of the last one, where none does.
 */
export async function dialed(
  settings: LdapSettings,
  dialing: LdapDialing,
  requests: LdapRequests,
  ready: (connection: LdapConnection) => Promise<void>,
): Promise<LdapConnection> {
  const until_ms = dialing.now_ms() + ALL_DIALS * dialing.connect_ms
  let last = new SignInFault('provider_unreachable', 'no server was tried')
  for (const url of readLdapUrls(settings.url)) {
    if (dialing.now_ms() >= until_ms) throw last
    let addresses: readonly string[]
    try {
      addresses = await within(dialing.connect_ms, signal => untilAborted(dialing.addressesOf(url.hostname), signal))
    } catch (fault) {
      last = failed('connect', url, fault, dialing)
      continue
    }
    if (addresses.length === 0) last = failed('connect', url, NO_ADDRESS, dialing)
    for (const address of addresses.slice(0, MOST_ADDRESSES)) {
      if (dialing.now_ms() >= until_ms) throw last
      let connection: LdapConnection | undefined
      try {
        connection = await connected(settings, url, address, dialing, requests)
        await ready(connection)
        return connection
      } catch (fault) {
        connection?.close()
        if (!(fault instanceof SignInFault) || !isOfServer(fault)) throw fault
        last = fault
      }
    }
  }
  throw last
}

const NO_ADDRESS = new SignInFault('provider_unreachable', 'it has no address')

/** Another server may do better. */
function isOfServer({reason}: SignInFault): boolean {
  return reason === 'provider_unreachable' || reason === 'provider_invalid'
}

async function connected(
  settings: LdapSettings,
  url: LdapUrl,
  address: string,
  dialing: LdapDialing,
  requests: LdapRequests,
): Promise<LdapConnection> {
  const {answer_ms} = dialing
  const socket = await step('connect', url, dialing, () =>
    within(dialing.connect_ms, signal =>
      opened(openTcp({host: address, port: url.port, noDelay: true, keepAlive: true}), 'connect', signal),
    ),
  )
  if (!url.secure && !settings.start_tls) return new LdapConnection(socket, answer_ms)
  return step('TLS', url, dialing, async () => {
    const raw = url.secure ? socket : await afterStartTls(new LdapConnection(socket, answer_ms), requests)
    return new LdapConnection(await secured(raw, url.hostname, settings.ca, dialing.connect_ms), answer_ms)
  })
}

/** A server that refuses StartTLS is left at once: what follows would travel in clear. */
async function afterStartTls(connection: LdapConnection, requests: LdapRequests): Promise<Socket> {
  try {
    const {result} = await connection.ask(requests.startTls)
    if (result.code !== 0) throw new SignInFault('provider_unreachable', `StartTLS was refused: ${noted(result)}`)
    return connection.release()
  } catch (fault) {
    connection.close()
    throw fault
  }
}

/** The certificate must be for the host name of the settings, whichever address was dialled. */
function secured(raw: Socket, hostname: string, ca: string | null, connect_ms: number): Promise<Socket> {
  return within(connect_ms, signal =>
    opened(
      openTls({
        socket: raw,
        host: hostname,
        ...(isIP(hostname) ? {} : {servername: hostname}), // an address has no place in SNI (RFC 6066, 3)
        ...(ca !== null && {ca}),
        minVersion: 'TLSv1.2',
        rejectUnauthorized: true,
        checkServerIdentity: (_, certificate) => checkServerIdentity(hostname, certificate),
      }),
      'secureConnect',
      signal,
    ),
  ).catch(fault => {
    raw.destroy()
    throw fault
  })
}

async function within<T>(ms: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const late = () => controller.abort(new SignInFault('provider_unreachable', `not connected within ${ms} ms`))
  const cancel = after(ms, late)
  try {
    return await run(controller.signal)
  } finally {
    cancel()
  }
}

/** A name server may keep silent for longer than a person waits. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const {promise, reject} = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason), {once: true})
  return Promise.race([work, promise])
}

async function step<T>(name: string, url: LdapUrl, dialing: LdapDialing, run: () => Promise<T>): Promise<T> {
  try {
    const value = await run()
    dialing.noted?.({name, ok: true, detail: url.text})
    return value
  } catch (fault) {
    throw failed(name, url, fault, dialing)
  }
}

function failed(name: string, {text}: LdapUrl, fault: unknown, dialing: LdapDialing): SignInFault {
  const known = fault instanceof SignInFault
  const detail = `${text}: ${known ? fault.detail : faultOf(fault).reason}`
  dialing.noted?.({name, ok: false, detail})
  return new SignInFault(known ? fault.reason : 'provider_unreachable', `${name} ${detail}`, {cause: fault})
}
