import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'

/** A request as a double hears it. */
export interface ManagerHeard {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

export interface ManagerSaid {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** `hang`: no answer comes. */
export type DoubleAnswer = ManagerSaid | 'hang'

export interface ManagerDouble {
  readonly url: string
  readonly received: ManagerHeard[]
  close(): Promise<void>
}

/** A server on loopback that answers what `answer` says, and keeps what it heard. */
export async function managerDouble(answer: (given: ManagerHeard) => DoubleAnswer): Promise<ManagerDouble> {
  const received: ManagerHeard[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', part => {
      body += part
    })
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const given = {method: request.method!, path: request.url!, headers, body}
      received.push(given)
      const reply = answer(given)
      if (reply === 'hang') return
      const text =
        typeof reply.body === 'string' ? reply.body : reply.body === undefined ? '' : JSON.stringify(reply.body)
      response.writeHead(reply.status, {'content-type': 'application/json', ...reply.headers}).end(text)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
