import {once} from 'node:events'
import {connect, createServer, type Socket} from 'node:net'
import {type BerValue, messageLength, readBer} from '../../src/identity/ldap/ber.ts'

export interface RelayedBind {
  readonly dn: string
  readonly password: string
}

export interface LdapRelay {
  readonly url: string
  /** Every bind that the directory got, in order. */
  readonly binds: RelayedBind[]
  close(): Promise<void>
}

const BIND = 0x60

/** Passes plain LDAP on to the server at `url`, and keeps what is bound. */
export async function startLdapRelay(url: string): Promise<LdapRelay> {
  const port = Number(new URL(url).port)
  const binds: RelayedBind[] = []
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const directory = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, directory],
      [directory, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => sockets.delete(socket) && other.destroy())
    }
    let bytes = Buffer.alloc(0)
    client.on('data', chunk => {
      bytes = Buffer.concat([bytes, chunk as Buffer])
      for (let length = messageLength(bytes); length !== undefined && length <= bytes.length; ) {
        const bind = readBind(bytes.subarray(0, length))
        if (bind) binds.push(bind)
        bytes = bytes.subarray(length)
        length = messageLength(bytes)
      }
      directory.write(chunk)
    })
    directory.pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `ldap://localhost:${address.port}`,
    binds,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function readBind(message: Buffer): RelayedBind | undefined {
  const [, operation] = readBer(message).parts as [BerValue, BerValue]
  if (operation.tag !== BIND) return undefined
  const [, dn, password] = operation.parts
  return {dn: dn?.bytes.toString() ?? '', password: password?.bytes.toString() ?? ''}
}
