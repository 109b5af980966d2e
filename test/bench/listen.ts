import {readFileSync} from 'node:fs'
import {connect} from 'node:net'

/**
 * A client of event streams, a process of its own: `node test/bench/listen.ts URL BODY-FILE CLIENTS SECONDS
 * HEADERS-AS-JSON`. The provider writes its monotonic clock into each event, which is the clock of `process.hrtime` as
 * well: what an event took from there to here is the difference. Ends with one line of JSON, times in microseconds.
 */
const [url, body_file, clients, seconds, headers] = process.argv.slice(2)
const {hostname, port, pathname} = new URL(url!)
const body = readFileSync(body_file!)
const head = {
  host: `${hostname}:${port}`,
  'content-type': 'application/json',
  'content-length': body.length,
  ...JSON.parse(headers!),
}
const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
const request = Buffer.concat([Buffer.from(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`), body])

const MAX_FAILURES = 20
const first_us: number[] = []
const way_us: number[] = []
let answers = 0
let failed = 0
const nowUs = () => Number(process.hrtime.bigint()) / 1000
const began = nowUs()
const until = began + Number(seconds) * 1e6

/** Asks for one stream after the other on one connection, until the time is over. */
function ask(): Promise<void> {
  return new Promise(resolve => {
    const socket = connect({host: hostname, port: Number(port), noDelay: true})
    let asked_us = 0
    let is_first = true
    let rest = ''
    const next = () => {
      is_first = true
      rest = ''
      asked_us = nowUs()
      socket.write(request)
    }
    socket.on('connect', next)
    socket.on('error', () => failed++)
    socket.on('close', () => resolve())
    socket.on('data', chunk => {
      const now = nowUs()
      rest += chunk.toString('latin1')
      if (is_first && rest.length >= 12 && !rest.startsWith('HTTP/1.1 200')) {
        failed++
        return socket.destroy()
      }
      let read = 0
      for (const {0: stamp, 1: sent_ns, index} of rest.matchAll(/@(\d+)@/g)) {
        read = index + stamp.length
        way_us.push(now - Number(sent_ns) / 1000)
        if (is_first) first_us.push(now - asked_us)
        is_first = false
      }
      rest = rest.slice(read)
      if (!rest.endsWith('\r\n0\r\n\r\n') || !rest.includes('[DONE]')) return
      answers++
      if (now < until) next()
      else socket.end()
    })
  })
}

async function client(): Promise<void> {
  while (nowUs() < until && failed < MAX_FAILURES) await ask()
}

setTimeout(() => process.exit(1), Number(seconds) * 1000 + 15_000).unref()
await Promise.all(Array.from({length: Number(clients)}, client))
const at = (times: number[], share: number) =>
  times.sort((a, b) => a - b)[Math.floor((times.length - 1) * share)] ?? null
const took_us = nowUs() - began
console.log(
  JSON.stringify({
    answers,
    took_us,
    p50_us: at(first_us, 0.5),
    p99_us: at(first_us, 0.99),
    failed,
    events: way_us.length,
    way_p50_us: at(way_us, 0.5),
    way_p99_us: at(way_us, 0.99),
  }),
)
