import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {createServer, request} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {endOnSignals} from './processes.ts'
import {callHeaders, gatewayCommand, provide, serve} from './subjects/gateway.ts'

/** Peak memory above idle while chats with a large picture go through, by where they go. */
export interface ImageMemory {
  /** The picture itself, in megabytes (10^6 bytes); its data URL is a third longer. */
  readonly image_mb: number
  readonly peaks: readonly ImagePeak[]
}

export interface ImagePeak {
  readonly way: string
  /** Of one chat, the first that a gateway has of the kind. */
  readonly one_mb: number
  /** Of several, one after the other: what earlier ones left behind is collected when V8 sees fit. */
  readonly row_mb: number
}

const IMAGE_BYTES = 10_000_000
const CALLS = 5
const WARM_UP_CALLS = 50
const IDLE_MS = 1000
const KINDS = {openai: 'passed through', anthropic: 'to Anthropic', google: 'to Gemini'} as const
const MODELS = {openai: 'gpt-4o-mini', anthropic: 'claude-sonnet-4-5', google: 'gemini-2.5-flash'} as const
type Kind = keyof typeof KINDS

/** Sends the picture each way, through a gateway of its own. It must arrive in full. */
export async function imageMemory(is_binary: boolean, processors?: string): Promise<ImageMemory> {
  const image = `data:image/png;base64,${Buffer.alloc(IMAGE_BYTES, 'picture').toString('base64')}`
  const provider = await startProvider()
  try {
    const peaks: ImagePeak[] = []
    for (const kind of Object.keys(KINDS) as Kind[]) {
      const data_dir = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
      const {origin, program} = await serve(gatewayCommand(is_binary), data_dir, {processors})
      try {
        await provide(origin, provider.origin, {[kind]: kind})
        for (let call = 0; call < WARM_UP_CALLS; call++) await ask(origin, kind, image.slice(0, 1000), provider)
        await sleep(IDLE_MS)
        const idle_mb = statusMb(program.pid, 'VmRSS')
        writeFileSync(`/proc/${program.pid}/clear_refs`, '5') // forgets the peak so far (man 5 proc_pid_clear_refs)
        const peakMb = () => statusMb(program.pid, 'VmHWM') - idle_mb
        await ask(origin, kind, image, provider)
        const one_mb = peakMb()
        for (let call = 1; call < CALLS; call++) await ask(origin, kind, image, provider)
        peaks.push({way: KINDS[kind], one_mb, row_mb: peakMb()})
      } finally {
        await program.stop()
        rmSync(data_dir, {recursive: true, force: true})
      }
    }
    return {image_mb: IMAGE_BYTES / 1e6, peaks}
  } finally {
    provider.stop()
  }
}

/** A figure of /proc/PID/status in megabytes. */
function statusMb(pid: number, name: string): number {
  const kb = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kb) * 0.001024
}

/** Asks what is in the picture. */
async function ask(origin: string, kind: Kind, image: string, provider: {last_bytes(): number}): Promise<void> {
  const content = [
    {type: 'text', text: 'What is this?'},
    {type: 'image_url', image_url: {url: image}},
  ]
  const body = Buffer.from(JSON.stringify({model: MODELS[kind], max_tokens: 100, messages: [{role: 'user', content}]}))
  const status = await new Promise<number>((resolve, reject) => {
    const asked = request(`${origin}/v1/chat/completions`, {
      method: 'POST',
      headers: {...callHeaders(kind), 'content-type': 'application/json', 'content-length': body.length},
    })
    asked.on('error', reject)
    asked.on('response', reply => reply.resume().on('end', () => resolve(reply.statusCode!)))
    asked.end(body)
  })
  const base64_bytes = image.length - image.indexOf(',') - 1
  if (status !== 200 || provider.last_bytes() < base64_bytes)
    throw new Error(`a picture ${KINDS[kind]} was answered with ${status}`)
}

/** Answers each in its own words, and counts what came. */
async function startProvider() {
  let last_bytes = 0
  const server = createServer((asked, reply) => {
    let bytes = 0
    asked.on('data', (part: Buffer) => {
      bytes += part.length
    })
    asked.on('end', () => {
      last_bytes = bytes
      const path = asked.url!
      const said = path.includes('generateContent') ? GEMINI : path.endsWith('/messages') ? ANTHROPIC : OPENAI
      reply.writeHead(200, {'content-type': 'application/json'}).end(said)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    last_bytes: () => last_bytes,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const OPENAI = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1750000000,
  model: MODELS.openai,
  choices: [{index: 0, message: {role: 'assistant', content: 'A fox.'}, finish_reason: 'stop'}],
  usage: {prompt_tokens: 800, completion_tokens: 3, total_tokens: 803},
})
const ANTHROPIC = JSON.stringify({
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: MODELS.anthropic,
  content: [{type: 'text', text: 'A fox.'}],
  stop_reason: 'end_turn',
  usage: {input_tokens: 800, output_tokens: 3},
})
const GEMINI = JSON.stringify({
  candidates: [{content: {role: 'model', parts: [{text: 'A fox.'}]}, finishReason: 'STOP', index: 0}],
  usageMetadata: {promptTokenCount: 800, candidatesTokenCount: 3, totalTokenCount: 803},
  modelVersion: MODELS.google,
})

if (import.meta.main) {
  endOnSignals()
  const {image_mb, peaks} = await imageMemory(false)
  for (const {way, one_mb, row_mb} of peaks) {
    console.log(
      `a picture of ${image_mb.toFixed(1)} MB ${way}: ${one_mb.toFixed(1)} MB, ${CALLS} in a row ${row_mb.toFixed(1)} MB`,
    )
  }
}
