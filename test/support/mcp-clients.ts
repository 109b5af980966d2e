import {Client as ModernClient} from '@modelcontextprotocol/client'
import {Client as LegacyClient} from '@modelcontextprotocol/sdk/client/index.js'

/** Results by method, as JSON texts; a text that begins with `error:` is the object of an error. */
export type Replies = Readonly<Record<string, string>>

const ME = {name: 'test', version: '1'}
const SERVER = {name: 'server', version: '1'}
const ALL = {tools: {}, prompts: {}, resources: {}, completions: {}, logging: {}}
const DISCOVER = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: ALL,
  ttlMs: 0,
  cacheScope: 'private',
}

/** A transport that answers each request with what was made for it: no server is behind it. */
class Replying {
  onmessage?: (message: never) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #replies: Replies

  constructor(replies: Replies) {
    this.#replies = replies
  }

  async start() {}

  async close() {
    this.onclose?.()
  }

  async send(message: unknown) {
    const {id, method} = message as {id?: unknown; method?: string}
    if (id === undefined || method === undefined) return
    const text = this.#replies[method] ?? 'error:{"code":-32601,"message":"Method not found"}'
    const member = text.startsWith('error:') ? `"error":${text.slice(6)}` : `"result":${text}`
    const reply = JSON.parse(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${member}}`) as never
    queueMicrotask(() => this.onmessage?.(reply))
  }
}

/** SDK v2, pinned to 2026-07-28, that reads these replies. */
export async function modernClient(replies: Replies): Promise<ModernClient> {
  const client = new ModernClient(ME, {versionNegotiation: {mode: {pin: '2026-07-28'}}, capabilities: {}})
  await client.connect(new Replying({'server/discover': JSON.stringify(DISCOVER), ...replies}) as never)
  return client
}

/** SDK v1 that reads these replies. */
export async function legacyClient(replies: Replies): Promise<LegacyClient> {
  const client = new LegacyClient(ME, {capabilities: {}})
  const initialize = JSON.stringify({protocolVersion: '2025-11-25', capabilities: ALL, serverInfo: SERVER})
  await client.connect(new Replying({initialize, ...replies}) as never)
  return client
}
