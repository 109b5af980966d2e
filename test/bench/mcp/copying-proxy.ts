import {Agent, createServer, request} from 'node:http'

// The least that a proxy on this stack can do: it copies the bytes both ways. Run as `copying-proxy.ts PORT UPSTREAM`.
const [port, upstream] = process.argv.slice(2)
const agent = new Agent({keepAlive: true})

createServer((inbound, outbound) => {
  const {method, headers, url} = inbound
  const up = request(`${upstream}${url}`, {method, headers, agent}, answer => {
    outbound.writeHead(answer.statusCode!, answer.headers)
    answer.pipe(outbound)
  })
  inbound.pipe(up)
}).listen(Number(port), '127.0.0.1')
