import {once} from 'node:events'
import {type AddressInfo, createServer as createTcp, type Server, type Socket} from 'node:net'
import {createServer as createTls, TLSSocket} from 'node:tls'
import {onTestFinished} from 'vitest'
import {CERTIFICATE, PRIVATE_KEY} from './tls.ts'

/** How it treats the next connections. */
export type SyslogManners =
  | 'takes'
  /** Resets a connection in the middle of its first message. */
  | 'resets'
  /** Closes a connection without reading it. */
  | 'closes'
  /** Reads nothing. */
  | 'deaf'
  /** Reads all and never closes. */
  | 'stays'

export interface SyslogServer {
  readonly port: number
  manners: SyslogManners
  /** Messages of connections that it read to their end, in their order. */
  readonly messages: string[]
  /** Messages of any connection. */
  readonly seen: string[]
  connections: number
  stop(): Promise<void>
  start(): Promise<void>
}

/** A receiver of syslog over TCP or TLS, which reads octet counting strictly. */
export async function startSyslog({secure = true} = {}): Promise<SyslogServer> {
  const sockets = new Set<Socket>()
  let listener: Server | undefined
  const server = {port: 0, manners: 'takes' as SyslogManners, messages: [] as string[], seen: [] as string[]}
  const self = Object.assign(server, {
    connections: 0,
    async stop() {
      for (const socket of sockets) socket.destroy()
      listener?.close()
      if (listener) await once(listener, 'close')
      listener = undefined
    },
    async start() {
      const take = (socket: Socket) => {
        self.connections++
        socket.on('error', () => undefined)
        receive(socket, self)
      }
      listener = secure
        ? createTls({cert: CERTIFICATE, key: PRIVATE_KEY, allowHalfOpen: true}, take)
        : createTcp({allowHalfOpen: true, pauseOnConnect: true}, take)
      // a handshake that fails leaves a connection as well
      listener.on('connection', (raw: Socket) => {
        sockets.add(raw)
        raw.on('error', () => undefined).on('close', () => sockets.delete(raw))
      })
      listener.listen(server.port, '127.0.0.1')
      await once(listener, 'listening')
      server.port = (listener.address() as AddressInfo).port
    },
  })
  await self.start()
  onTestFinished(() => self.stop())
  return self
}

function receive(socket: Socket, {manners, messages, seen}: Pick<SyslogServer, 'manners' | 'messages' | 'seen'>) {
  if (manners === 'deaf') return void socket.pause()
  if (manners === 'closes') return void socket.end()
  let bytes = Buffer.alloc(0)
  const own: string[] = []
  socket.on('data', part => {
    if (manners === 'resets') return void (socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy())
    bytes = Buffer.concat([bytes, part])
    for (;;) {
      const frame = frameIn(bytes)
      if (!frame) break
      own.push(frame.message)
      seen.push(frame.message)
      bytes = bytes.subarray(frame.length)
    }
  })
  socket.on('end', () => {
    if (manners === 'stays') return
    if (bytes.length > 0) throw new Error('a message was cut')
    messages.push(...own)
    socket.end()
  })
  socket.resume()
}

/** MSG-LEN SP SYSLOG-MSG (RFC 6587, 3.4.1). */
function frameIn(bytes: Buffer): {message: string; length: number} | undefined {
  const space = bytes.indexOf(0x20)
  if (space < 0) return undefined
  const digits = bytes.subarray(0, space).toString('latin1')
  if (!/^[1-9]\d*$/.test(digits)) throw new Error(`no length: ${digits}`)
  const length = space + 1 + Number(digits)
  return bytes.length < length ? undefined : {message: bytes.subarray(space + 1, length).toString('utf8'), length}
}

export interface SyslogMessage {
  readonly priority: number
  readonly time: string
  readonly host: string
  readonly app: string
  readonly process: string
  readonly id: string
  readonly element: string | null
  readonly parameters: Readonly<Record<string, string>>
  readonly text: string
}

/** Reads a message by the grammar of RFC 5424, 6. Throws where it is none. */
export function readSyslog(message: string): SyslogMessage {
  const names = [255, 48, 128, 32].map(most => `([\\x21-\\x7e]{1,${most}}) `).join('')
  const form = new RegExp(`^<(\\d{1,3})>1 (\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{1,6}Z) ${names}`)
  const [head = '', priority, time, host, app, process, id] = form.exec(message) ?? []
  if (head === '') throw new Error(`no message of RFC 5424: ${message}`)
  const rest = message.slice(head.length)
  const facts = {priority: Number(priority), time: time!, host: host!, app: app!, process: process!, id: id!}
  if (rest.startsWith('- ')) return {...facts, element: null, parameters: {}, text: rest.slice(2)}
  const name = '[\\x21\\x23-\\x3c\\x3e-\\x5c\\x5e-\\x7e]{1,32}'
  const value = '"(?:[^"\\\\\\]]|\\\\["\\\\\\]])*"'
  const [data = '', element] = new RegExp(`^\\[(${name})(?: ${name}=${value})*\\] `).exec(rest) ?? []
  if (data === '') throw new Error(`no structured data: ${rest}`)
  const parameters = Object.fromEntries(
    [...data.matchAll(/ ([^ =]+)="((?:[^"\\\]]|\\["\\\]])*)"/g)].map(([, name, value]) => [
      name!,
      value!.replace(/\\(["\\\]])/g, '$1'),
    ]),
  )
  return {...facts, element: element!, parameters, text: rest.slice(data.length)}
}

/** Reads a line of CEF as ArcSight's guide says it: a header of seven parts, then names and values. */
export function readCef(line: string): {
  readonly header: readonly string[]
  readonly fields: Readonly<Record<string, string>>
} {
  const parts = /^CEF:0((?:\|(?:[^|\\]|\\[|\\])*){6})\|(.*)$/s.exec(line)
  if (!parts) throw new Error(`no CEF: ${line}`)
  const header = [...parts[1]!.matchAll(/\|((?:[^|\\]|\\[|\\])*)/g)].map(([, text]) =>
    text!.replace(/\\([|\\])/g, '$1'),
  )
  const fields: Record<string, string> = {}
  for (const [, name, value] of parts[2]!.matchAll(/(?:^| )(\w+)=((?:[^=\\]|\\[=\\nr])*)(?=$| \w+=)/g))
    fields[name!] = value!.replace(/\\([=\\nr])/g, (_, mark: string) =>
      mark === 'n' ? '\n' : mark === 'r' ? '\r' : mark,
    )
  return {header, fields}
}
