import {once} from 'node:events'
import {type AddressInfo, createServer, type Socket} from 'node:net'
import {SMTPServer, type SMTPServerOptions} from 'smtp-server'
import {onTestFinished} from 'vitest'
import type {MailSettings} from '../../src/settings/index.ts'
import {CERTIFICATE, PRIVATE_KEY} from './tls.ts'

export const LOGIN = {user: 'gateway', password: 'hunter2-hunter2'}

export interface Received {
  readonly from: string
  readonly to: readonly string[]
  /** As it came: headers and body. */
  readonly text: string
  readonly user: string | undefined
  readonly is_secure: boolean
}

/**
 * A mail server on loopback, and what it took. Recipients of `refused.example` are refused for good, of `busy.example`
 * for now.
 */
export async function mailServer(options: SMTPServerOptions = {}) {
  const received: Received[] = []
  const server = new SMTPServer({
    key: PRIVATE_KEY,
    cert: CERTIFICATE,
    authOptional: true,
    ...options,
    onAuth({username, password}, _session, done) {
      if (username === LOGIN.user && password === LOGIN.password) return done(null, {user: username})
      done(new Error(`No ${username} with the password ${password}`))
    },
    onRcptTo({address}, _session, done) {
      if (address.endsWith('@refused.example'))
        return done(Object.assign(new Error('No such mailbox'), {responseCode: 550}))
      if (address.endsWith('@busy.example'))
        return done(Object.assign(new Error('Come back later'), {responseCode: 450}))
      done()
    },
    onData(stream, {envelope, user, secure}, done) {
      const chunks: Buffer[] = []
      stream.on('data', chunk => void chunks.push(chunk))
      stream.on('end', () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        const to = envelope.rcptTo.map(({address}) => address)
        received.push({
          from,
          to,
          text: Buffer.concat(chunks).toString(),
          user: user ? String(user) : undefined,
          is_secure: secure,
        })
        done()
      })
    },
  })
  server.on('error', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const close = () => new Promise<void>(resolve => void server.close(() => resolve()))
  onTestFinished(close)
  return {received, close, settings: settingsOf((server.server.address() as AddressInfo).port)}
}

/** A server that takes connections and never says a word. */
export async function silentServer() {
  const sockets: Socket[] = []
  const server = createServer(socket => void sockets.push(socket.on('error', () => undefined)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return settingsOf((server.address() as AddressInfo).port)
}

function settingsOf(port: number): MailSettings {
  return {
    host: '127.0.0.1',
    port,
    security: 'offered',
    ca: CERTIFICATE,
    login: undefined,
    from: 'The Gateway <gateway@example.com>',
  }
}
