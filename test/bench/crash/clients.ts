import {Agent, type IncomingMessage, request} from 'node:http'

/** What the clients of one server know in the end. */
export interface Load {
  /** Markers of calls whose answer came in full. */
  readonly whole: string[]
  readonly sent: string[]
  /** Resolves with the first answer that came in full of a call that took more than one attempt. */
  readonly first: Promise<void>
  /** Resolves when all clients have stopped: their server is gone. */
  readonly ended: Promise<void>
}

/** Every seventh stream is left by its client before its end. */
const LEFT_EVERY = 7

/**
 * What becomes of calls on their way, in turn: most are answered at once, some after a retry, some by another target.
 */
const ENDINGS = ['', '', '-retry', '', '-fall'] as const

/** Where calls go that may need more than one attempt. */
const CONFIG = JSON.stringify({
  strategy: {mode: 'fallback', on_status_codes: [503]},
  targets: [
    {provider: '@mock', retry: {attempts: 1, on_status_codes: [503], use_retry_after_header: true}},
    {provider: '@second'},
  ],
})

/**
 * Lets `clients` clients call, one call after the other each and every second one a stream, until the server is gone.
 */
export function startLoad(
  origin: string,
  headers: Readonly<Record<string, string>>,
  clients: number,
  name: string,
): Load {
  const agent = new Agent({keepAlive: true})
  const whole: string[] = []
  const sent: string[] = []
  let tell = () => {}
  const first = new Promise<void>(resolve => {
    tell = resolve
  })
  const {'x-gateway-provider': _, ...rest} = headers
  const routed = {...rest, 'x-gateway-config': CONFIG}
  const client = async (which: number) => {
    for (let turn = 0; ; turn++) {
      const ending = ENDINGS[(turn + which) % ENDINGS.length]!
      const marker = `${name}-${which}-${turn}${ending}`
      const stream = (turn + which) % 2 === 0
      sent.push(marker)
      const outcome = await call({
        origin,
        headers: ending ? routed : headers,
        agent,
        marker,
        stream,
        leaves: stream && turn % LEFT_EVERY === LEFT_EVERY - 1,
      })
      if (outcome === 'gone') return
      if (outcome === 'left') continue
      whole.push(marker)
      if (ending) tell()
    }
  }
  const ended = Promise.all(Array.from({length: clients}, (_, which) => client(which))).then(() => {
    agent.destroy()
    tell()
  })
  return {whole, sent, first, ended}
}

interface One {
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  readonly agent: Agent
  readonly marker: string
  readonly stream: boolean
  readonly leaves: boolean
}

/**
 * One call: its answer came in full, we left it, or the server is gone. Anything else throws: these calls are all good.
 */
function call({origin, headers, agent, marker, stream, leaves}: One): Promise<'whole' | 'left' | 'gone'> {
  const body = JSON.stringify({
    model: 'gpt-4o-mini',
    user: marker,
    messages: [{role: 'user', content: 'Count this call.'}],
    ...(stream ? {stream: true, stream_options: {include_usage: true}} : {}),
  })
  const said = {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-gateway-trace-id': marker,
  }
  return new Promise((resolve, reject) => {
    const sending = request(`${origin}/v1/chat/completions`, {method: 'POST', headers: said, agent}, reply => {
      if (leaves) return reply.once('data', () => resolve(leave(reply)))
      let text = ''
      reply.on('data', part => {
        text += part
      })
      reply.on('error', () => resolve('gone'))
      reply.on('end', () => {
        if (reply.statusCode !== 200)
          return reject(new Error(`call ${marker} is answered ${reply.statusCode}: ${text.slice(0, 500)}`))
        if (stream && !text.endsWith('data: [DONE]\n\n'))
          return reject(new Error(`stream ${marker} ends without [DONE]: ${text.slice(-500)}`))
        resolve('whole')
      })
    })
    sending.on('error', () => resolve('gone'))
    sending.end(body)
  })
}

function leave(reply: IncomingMessage): 'left' {
  reply.on('error', () => undefined)
  reply.destroy()
  return 'left'
}
