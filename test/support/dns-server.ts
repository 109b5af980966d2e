import {createSocket} from 'node:dgram'
import {once} from 'node:events'
import {createServer} from 'node:net'

/** The answer to a question: TXT records, each of its chunks; a code of RFC 1035 §4.1.1; bytes as they are; nothing. */
export type DnsAnswer = readonly (readonly string[])[] | number | Buffer | null

export const NO_NAME = 3
export const SERVER_FAILED = 2
const TXT = 16
/** A longer answer over UDP is cut; the client repeats its question over TCP (RFC 1035 §4.2.1). */
const MAX_UDP = 1_232

/** A name server on loopback, over UDP and TCP, and the names in its questions. */
export async function dnsServer(answer: (name: string) => DnsAnswer) {
  const asked: string[] = []
  const replyTo = (question: Buffer, most: number): Buffer | null => {
    const name = nameIn(question)
    asked.push(name)
    const given = answer(name)
    if (given === null || Buffer.isBuffer(given)) return given
    const reply = messageOf(question, given)
    return reply.length > most ? messageOf(question, [], 0x0200) : reply
  }
  const {tcp, port} = await bound(replyTo)
  const udp = createSocket('udp4')
  udp.on('message', (question, {address, port: from}) => {
    const reply = replyTo(question, MAX_UDP)
    if (reply) udp.send(reply, from, address)
  })
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')
  return {
    asked,
    address: `127.0.0.1:${port}`,
    close() {
      udp.close()
      tcp.close()
    },
  }
}

async function bound(replyTo: (question: Buffer, most: number) => Buffer | null) {
  const tcp = createServer(socket => {
    socket.on('error', () => undefined)
    socket.on('data', bytes => {
      const reply = replyTo(bytes.subarray(2), 65_535)
      if (reply) socket.end(Buffer.concat([uint16(reply.length), reply]))
    })
  })
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  return {tcp, port: (tcp.address() as {port: number}).port}
}

function nameIn(question: Buffer): string {
  const labels: string[] = []
  for (let at = 12; question[at]; at += 1 + question[at]!)
    labels.push(question.toString('latin1', at + 1, at + 1 + question[at]!))
  return labels.join('.').toLowerCase()
}

/** A message with the question and its answers; the name in each is a pointer to the question. */
function messageOf(question: Buffer, given: readonly (readonly string[])[] | number, flags = 0): Buffer {
  const [code, records] = typeof given === 'number' ? [given, []] : [0, given]
  const ends = question.indexOf(0, 12) + 5
  const head = [question.subarray(0, 2), uint16(0x8180 | flags | code), uint16(1), uint16(records.length), uint16(0)]
  const answers = records.flatMap(chunks => {
    const data = Buffer.concat(chunks.map(chunk => Buffer.concat([Buffer.of(chunk.length), Buffer.from(chunk)])))
    return [uint16(0xc00c), uint16(TXT), uint16(1), uint16(0), uint16(1), uint16(data.length), data]
  })
  return Buffer.concat([...head, uint16(0), question.subarray(12, ends), ...answers])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}
