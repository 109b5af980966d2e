import {once} from 'node:events'
import {type AddressInfo, createServer, type Socket} from 'node:net'

/**
 * A server that lets everybody in, in PostgreSQL's protocol, and then says nothing; each connection is in `sockets`
 * while it lasts.
 */
export async function silentPostgres() {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer(socket => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', () => socket.write(Buffer.concat([AUTHENTICATED, READY])))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `postgres://someone@127.0.0.1:${(server.address() as AddressInfo).port}/test`,
    sockets,
    get connections() {
      return connections
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Messages of the protocol (PostgreSQL manual, 55.7): AuthenticationOk, and ReadyForQuery outside a transaction. */
const AUTHENTICATED = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0])
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
