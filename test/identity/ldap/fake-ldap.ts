import {once} from 'node:events'
import {createServer, type Socket} from 'node:net'
import {createSecureContext, TLSSocket} from 'node:tls'
import {type BerValue, berInteger, messageLength, readBer} from '../../../src/identity/ldap/ber.ts'
import {CERTIFICATE, PRIVATE_KEY} from '../../support/tls.ts'

/** One request as it came. */
export interface LdapRequest {
  readonly id: number
  readonly kind: 'bind' | 'search' | 'startTls' | 'unbind' | 'other'
  /** The name that is bound, or the base of the search. */
  readonly dn: string
  readonly password: string
  readonly is_tls: boolean
  /** All its bytes, as text: the values that a search looks for are in it. */
  readonly text: string
  /** Which connection, from 1. */
  readonly connection: number
}

/** Bytes to send, `close` to end the connection, null for silence; `tls` starts TLS after the bytes before it. */
export type LdapReplies = readonly (Buffer | 'close' | 'tls')[] | null

export interface FakeLdap {
  readonly port: number
  readonly url: string
  /** All requests, in order. */
  readonly received: LdapRequest[]
  /** How many sockets were opened. */
  readonly opened: () => number
  /** Ends the sockets that are open now. */
  readonly dropAll: () => Promise<void>
  readonly close: () => Promise<void>
}

const TLS_HANDSHAKE = 0x16
const SECURE = createSecureContext({cert: CERTIFICATE, key: PRIVATE_KEY})

/** An LDAP server that answers as `answer` says, however wrong; `greeting` is sent unasked to each connection. */
export async function startFakeLdap(
  answer: (request: LdapRequest) => LdapReplies,
  {greeting}: {readonly greeting?: Buffer} = {},
): Promise<FakeLdap> {
  const received: LdapRequest[] = []
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer(raw => {
    const connection = ++count
    sockets.add(raw)
    raw.on('close', () => sockets.delete(raw))
    raw.on('error', () => {})
    if (greeting) raw.write(greeting)
    const serve = (socket: Socket, is_tls: boolean) => {
      let bytes = Buffer.alloc(0)
      const read = (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk])
        // a client may begin TLS where it was not taken
        const lengthNow = () => (bytes[0] === TLS_HANDSHAKE ? undefined : messageLength(bytes))
        let length = lengthNow()
        while (length !== undefined && length <= bytes.length) {
          const request = readRequest(bytes.subarray(0, length), is_tls, connection)
          bytes = bytes.subarray(length)
          received.push(request)
          send(answer(request) ?? [])
          length = lengthNow()
        }
      }
      const send = (replies: readonly (Buffer | 'close' | 'tls')[]) => {
        // in one write, so that they come in one segment
        const all = replies.filter(reply => Buffer.isBuffer(reply))
        if (all.length > 0) socket.write(Buffer.concat(all))
        if (replies.includes('close')) socket.end()
        if (!replies.includes('tls')) return
        socket.off('data', read)
        const secure = new TLSSocket(socket, {isServer: true, secureContext: SECURE})
        secure.on('error', () => {})
        serve(secure, true)
      }
      socket.on('data', read)
    }
    serve(raw, false)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const dropAll = async () => {
    await Promise.all([...sockets].map(socket => once(socket.destroy(), 'close')))
  }
  return {
    port: address.port,
    url: `ldap://localhost:${address.port}`,
    received,
    opened: () => count,
    dropAll,
    async close() {
      await dropAll()
      server.close()
    },
  }
}

const KINDS: Readonly<Record<number, LdapRequest['kind']>> = {96: 'bind', 99: 'search', 119: 'startTls', 66: 'unbind'}

function readRequest(message: Buffer, is_tls: boolean, connection: number): LdapRequest {
  const [id, operation] = readBer(message).parts as [BerValue, BerValue]
  const kind = KINDS[operation.tag] ?? 'other'
  const [first, second, third] = operation.parts
  const dn = kind === 'bind' ? second : kind === 'search' ? first : undefined
  return {
    id: berInteger(id),
    kind,
    dn: dn?.bytes.toString() ?? '',
    password: kind === 'bind' ? (third?.bytes.toString() ?? '') : '',
    is_tls,
    text: message.toString('latin1'),
    connection,
  }
}

/** A value of BER around its content. */
export function tlv(tag: number, ...content: readonly (Buffer | string | number)[]): Buffer {
  const bytes = Buffer.concat(content.map(each => (typeof each === 'number' ? Buffer.from([each]) : Buffer.from(each))))
  const {length} = bytes
  const head = length < 0x80 ? [tag, length] : [tag, 0x83, length >> 16, (length >> 8) & 0xff, length & 0xff]
  return Buffer.concat([Buffer.from(head), bytes])
}

/** A whole message to `request`. */
export function message(id: number, operation: Buffer, ...controls: readonly Buffer[]): Buffer {
  return tlv(0x30, tlv(2, id), operation, ...(controls.length > 0 ? [tlv(0xa0, ...controls)] : []))
}

const RESPONSES = {bind: 0x61, search: 0x65, startTls: 0x78, unbind: 0x78, other: 0x78} as const

/** The result that ends the answer to a request. */
export function result({id, kind}: LdapRequest, code: number, diagnostic = '', ...controls: readonly Buffer[]): Buffer {
  return message(id, tlv(RESPONSES[kind], tlv(0x0a, code), tlv(4), tlv(4, diagnostic)), ...controls)
}

export function entry(
  {id}: LdapRequest,
  dn: string,
  attributes: Readonly<Record<string, readonly (string | Buffer)[]>>,
): Buffer {
  const list = Object.entries(attributes).map(([name, values]) =>
    tlv(0x30, tlv(4, name), tlv(0x31, ...values.map(value => tlv(4, value)))),
  )
  return message(id, tlv(0x64, tlv(4, dn), tlv(0x30, ...list)))
}

export function reference({id}: LdapRequest, ...urls: readonly string[]): Buffer {
  return message(id, tlv(0x73, ...urls.map(url => tlv(4, url))))
}

/** A password policy control, with an error or a warning (0: time before the end, 1: logins that are left). */
export function policyControl({error, warning}: {readonly error?: number; readonly warning?: 0 | 1}): Buffer {
  const value = tlv(
    0x30,
    ...(warning === undefined ? [] : [tlv(0xa0, tlv(0x80 + warning, 3))]),
    ...(error === undefined ? [] : [tlv(0x81, error)]),
  )
  return tlv(0x30, tlv(4, '1.3.6.1.4.1.42.2.27.8.5.1'), tlv(4, value))
}
