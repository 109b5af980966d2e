import {connect, createServer, type Socket} from 'node:net'
import {freePort} from '../support/sign-in.ts'

/** What a browser sent, head by head, on its way through a port of its own to the one at `to`. */
export async function startRelay(to: () => number) {
  const sent: string[] = []
  const sockets = new Set<Socket>()
  const port = await freePort()
  const server = createServer(from => {
    const at = sent.push('') - 1
    const onwards = connect(to(), '127.0.0.1')
    for (const socket of [from, onwards]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => void [from, onwards].map(each => each.destroy()))
    }
    from.on('data', chunk => {
      sent[at] += chunk.toString('latin1')
    })
    from.pipe(onwards).pipe(from)
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return {
    port,
    /** Names of the cookies that came with requests that begin with `line`, request by request. */
    cookiesOf(line: string): readonly (readonly string[])[] {
      const heads = sent.flatMap(text => text.split(/(?=(?:GET|POST|DELETE) \/\S* HTTP\/1\.1\r\n)/))
      return heads
        .filter(head => head.startsWith(line))
        .map(head => /^cookie: (.*)$/im.exec(head.split('\r\n\r\n', 1)[0]!)?.[1] ?? '')
        .map(cookies => cookies.split('; ').flatMap(each => each.split('=', 1).filter(Boolean)))
    },
    forget: () => void sent.fill(''),
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise(resolve => server.close(resolve))
    },
  }
}
