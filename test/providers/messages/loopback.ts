import type {ServerResponse} from 'node:http'
import type {ClientDialect, Json, ProviderFault, TranslationContext} from '../../../src/providers/translation.ts'
import {type FakeProvider, fakeProvider} from '../../support/provider.ts'
import {chunksOf, completionOf, context, type Fixture} from './fixtures.ts'

/** What the server answers with: a fixture's answer, an error of a status, or chunks and then a fault. */
export type Script =
  | {readonly fixture: Fixture}
  | {readonly status: number; readonly fault: ProviderFault}
  | {readonly chunks: readonly Json[]; readonly fault: ProviderFault}

export interface Loopback {
  readonly url: string
  /** Chat requests that came of what the client sent. */
  readonly chats: Json[]
  play(script: Script): void
  close(): Promise<void>
}

/** A server that speaks `dialect` to a client and has a chat provider behind it, which follows the script. */
export async function loopback(dialect: ClientDialect): Promise<Loopback> {
  const chats: Json[] = []
  let script: Script | null = null
  const server: FakeProvider = await fakeProvider(({body}, response) => {
    const asked = JSON.parse(body.toString()) as Json
    const told: TranslationContext = {...context, is_stream: asked.stream === true}
    chats.push(dialect.toChat(asked, told))
    answer(dialect, script!, asked, told, response)
  })
  return {
    url: server.url.replace('/v1', ''),
    chats,
    play(next) {
      script = next
    },
    close: () => server.close(),
  }
}

function answer(
  dialect: ClientDialect,
  script: Script,
  asked: Json,
  told: TranslationContext,
  response: ServerResponse,
) {
  const json = (status: number, body: Json) =>
    response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(body))
  if ('status' in script) return json(script.status, dialect.error(script.status, script.fault))
  if ('fixture' in script && !told.is_stream)
    return json(200, dialect.fromChat(completionOf(script.fixture), told, asked))
  response.writeHead(200, {'content-type': 'text/event-stream'})
  const stream = dialect.openStream(told, asked)
  for (const chunk of 'fixture' in script ? chunksOf(script.fixture) : script.chunks) {
    const text = stream.chunk(chunk)
    if (text) response.write(text)
  }
  return response.end('fixture' in script ? stream.end() : stream.fault(script.fault))
}
