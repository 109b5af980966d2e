import {createHash} from 'node:crypto'
import {mkdtempSync, rmSync} from 'node:fs'
import {createServer, request} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Duplex} from 'node:stream'
import {setTimeout as sleep} from 'node:timers/promises'
import {cpuUs, endOnSignals, rssMb} from './processes.ts'
import {CALL_HEADERS, gatewayCommand, provide, serve} from './subjects/gateway.ts'

/** What open sessions cost: 500 at one frame a second each way should use under a quarter of a core. */
export interface RealtimeResult {
  readonly sessions: number
  readonly seconds: number
  /** Messages that went through, both ways together. */
  readonly messages: number
  /** Of one core, over all threads of the gateway. */
  readonly cpu_percent: number
  readonly rss_mb: number
}

export interface RealtimeOptions {
  readonly sessions: number
  readonly seconds: number
  readonly is_binary: boolean
  readonly processors?: string | undefined
}

/** Every so many seconds a session asks for an answer, so that turns are limited, recorded and settled as well. */
const TURN_EVERY = 10
const AT_ONCE = 50
/** A tenth of a second of sound. */
const SOUND = 'A'.repeat(6400)
const APPEND = frame({type: 'input_audio_buffer.append', audio: SOUND}, true)
const CREATE = frame({type: 'response.create'}, true)
const DELTA = frame({type: 'response.output_audio.delta', response_id: 'r', delta: SOUND}, false)
const CREATED = frame({type: 'response.created', response: {id: 'r'}}, false)
const USAGE = {
  total_tokens: 30,
  input_tokens: 20,
  output_tokens: 10,
  input_token_details: {audio_tokens: 20},
  output_token_details: {audio_tokens: 10},
}
const DONE = frame({type: 'response.done', response: {id: 'r', status: 'completed', usage: USAGE}}, false)

/** Opens sessions through a gateway of its own and lets them talk; every message must arrive. */
export async function realtimeShare({
  sessions,
  seconds,
  is_binary,
  processors,
}: RealtimeOptions): Promise<RealtimeResult> {
  const data_dir = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  const provider = await startProvider()
  const {origin, program} = await serve(gatewayCommand(is_binary), data_dir, {processors})
  try {
    await provide(origin, provider.origin)
    const received = {bytes: 0}
    const clients: Duplex[] = []
    while (clients.length < sessions) {
      const some = Array.from({length: Math.min(AT_ONCE, sessions - clients.length)}, () => open(origin, received))
      clients.push(...(await Promise.all(some)))
    }
    await sleep(1000)
    const cpu_before = cpuUs(program.pid)
    const began = performance.now()
    const sent = {up: 0, down: 0, messages: 0}
    for (let tick = 0; tick < seconds; tick++) {
      for (let at = 0; at < sessions; at++) {
        const late = tick * 1000 + (at / sessions) * 1000 - (performance.now() - began)
        if (late > 1) await sleep(late)
        const asks = (tick + at) % TURN_EVERY === TURN_EVERY - 1
        clients[at]!.write(asks ? CREATE : APPEND)
        sent.up += asks ? CREATE.length : APPEND.length
        sent.down += asks ? CREATED.length + DONE.length : DELTA.length
        sent.messages += asks ? 3 : 2
      }
    }
    const cpu_us = cpuUs(program.pid) - cpu_before
    const took_us = (performance.now() - began) * 1000
    const rss_mb = rssMb(program.pid)
    for (let tries = 0; tries < 50 && (provider.bytes() < sent.up || received.bytes < sent.down); tries++)
      await sleep(100)
    if (provider.bytes() !== sent.up || received.bytes !== sent.down)
      throw new Error(`of ${sent.up} and ${sent.down} bytes ${provider.bytes()} and ${received.bytes} arrived`)
    for (const client of clients) client.destroy()
    return {sessions, seconds, messages: sent.messages, cpu_percent: (cpu_us / took_us) * 100, rss_mb}
  } finally {
    await program.stop()
    provider.stop()
    rmSync(data_dir, {recursive: true, force: true})
  }
}

/** Answers every message with one of its own: sound with sound, a request with a turn. */
async function startProvider() {
  let bytes = 0
  const sockets = new Set<Duplex>()
  const server = createServer()
  server.on('upgrade', (asked, socket) => {
    sockets.add(socket)
    const accept = createHash('sha1')
      .update(`${asked.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    )
    let open_bytes = 0
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      if (chunk.length < 16 && chunk[0] === 0x88) return void socket.end() // a close frame
      bytes += chunk.length
      if (chunk.equals(CREATE)) return void socket.write(Buffer.concat([CREATED, DONE]))
      open_bytes += chunk.length
      if (open_bytes < APPEND.length) return
      open_bytes -= APPEND.length
      socket.write(DELTA)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => bytes,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function open(origin: string, received: {bytes: number}): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const asked = request(`${origin}/v1/realtime?model=gpt-realtime`, {
      agent: false,
      headers: {
        ...CALL_HEADERS,
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    })
    asked.on('error', reject)
    asked.on('response', response => reject(new Error(`a session was refused with ${response.statusCode}`)))
    asked.on('upgrade', (_, socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk: Buffer) => {
        received.bytes += chunk.length
      })
      resolve(socket)
    })
    asked.end()
  })
}

/** A text frame; a client's with a mask of zeros, so that it is the same on both sides (RFC 6455, 5.2). */
function frame(event: object, is_masked: boolean): Buffer {
  const payload = Buffer.from(JSON.stringify(event))
  const is_short = payload.length < 126
  const header = Buffer.alloc(is_short ? 2 : 4)
  header[0] = 0x81
  header[1] = (is_masked ? 0x80 : 0) | (is_short ? payload.length : 126)
  if (!is_short) header.writeUInt16BE(payload.length, 2)
  return Buffer.concat([header, Buffer.alloc(is_masked ? 4 : 0), payload])
}

if (import.meta.main) {
  endOnSignals()
  const [sessions = '500', seconds = '20'] = process.argv.slice(2)
  const {messages, cpu_percent, rss_mb} = await realtimeShare({
    sessions: Number(sessions),
    seconds: Number(seconds),
    is_binary: false,
  })
  console.log(
    `${sessions} sessions, ${messages} messages in ${seconds} s: ${cpu_percent.toFixed(1)} % of a core, ${rss_mb.toFixed(0)} MB resident`,
  )
}
