import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {expect} from 'vitest'
import {readParts} from '../../src/base/multipart-stream.ts'
import {variantOf} from '../../src/providers/base-urls/base-url.ts'
import {supports, translationFor} from '../../src/providers/clients.ts'
import {
  type OperationInput,
  type OperationResult,
  type ProviderRequest,
  type Upstream,
  UpstreamFault,
} from '../../src/providers/operation.ts'
import {find} from '../../src/providers/registry.ts'
import type {Json, TranslationContext} from '../../src/providers/translation.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'
import type {FileStore} from '../../src/schema/file-store.ts'

/** One call to the provider as its documentation has it, and its answer. */
export interface ScriptedCall {
  readonly method: string
  readonly path: string
  readonly side?: string
  readonly signed?: true
  readonly headers?: Record<string, string>
  /** JSON, or the text of what was streamed with its boundary written as `B`. */
  readonly body?: unknown
  readonly reply?: {
    readonly status?: number
    readonly headers?: Record<string, string>
    readonly json?: unknown
    readonly text?: string
  }
}

/** A client's call to one endpoint, the calls it comes to, and what the client is answered. */
export interface OperationCase {
  readonly name: string
  readonly source: string
  readonly endpoint: EndpointName
  readonly id?: string
  readonly query?: string
  readonly body?: Json
  /** The form's parts, in order: `[name, value]` or `[name, value, file name]`. */
  readonly form?: readonly (readonly string[])[]
  readonly told?: OperationInput['file_headers']
  readonly context?: Partial<TranslationContext>
  readonly calls?: readonly ScriptedCall[]
  readonly json?: unknown
  /** Rows of content, parsed; or its text. */
  readonly rows?: readonly unknown[]
  readonly text?: string
  readonly refused?: string
}

const fixtures = join(import.meta.dirname, '../fixtures')

/** The cases of every `test/fixtures/DIALECT/operations.json`, with the provider that they are for. */
export function operationCases(): readonly (readonly [provider: string, cases: readonly OperationCase[]])[] {
  return readdirSync(fixtures, {recursive: true, encoding: 'utf8'})
    .filter(path => path.endsWith('operations.json'))
    .map(path => {
      const {provider, cases} = JSON.parse(readFileSync(join(fixtures, path), 'utf8'))
      return [provider, cases] as const
    })
}

export async function play(slug: string, script: OperationCase): Promise<void> {
  const provider = find(slug)!
  const context: TranslationContext = {
    provider: slug,
    model: typeof script.body?.model === 'string' ? script.body.model : '',
    is_stream: false,
    strict: true,
    options: {},
    call_id: 'call-1',
    created_s: 1_700_000_000,
    ...script.context,
  }
  const asked: OperationInput = {
    id: script.id ?? '',
    query: new URLSearchParams(script.query ?? ''),
    body: script.body ?? {},
    form: script.form ? readParts(formOf(script.form), 'multipart/form-data; boundary=in') : null,
    file_headers: script.told ?? {},
    context,
    shelf: {} as FileStore,
    allow: () => undefined,
    words(endpoint, model) {
      const variant = variantOf(provider, model, context.options)
      const words = translationFor(variant, endpoint)
      if (!words && !supports(variant, endpoint)) throw new Error(`no ${endpoint}`)
      return words?.translation ?? null
    },
  }
  const calls = [...(script.calls ?? [])]
  const upstream: Upstream = {
    async ask(request) {
      const call = calls.shift()
      const body = await bodyOf(request)
      expect({method: request.method, path: request.path, ...(body !== undefined && {body})}).toEqual({
        method: call?.method,
        path: call?.path,
        ...(call?.body !== undefined && {body: call.body}),
      })
      expect([request.side, request.signed]).toEqual([call!.side, call!.signed])
      expect(request.headers ?? {}).toMatchObject(call!.headers ?? {})
      const {status = 200, headers = {}, json, text = JSON.stringify(json ?? {})} = call!.reply ?? {}
      const bytes = Buffer.from(text)
      if (status >= 300 && !request.accepts?.includes(status)) throw new UpstreamFault(status, bytes)
      return {
        status,
        headers,
        body: pieces(bytes),
        bytes: async () => bytes,
        json: async () => JSON.parse(text),
        drop: () => undefined,
      }
    },
  }
  const operation = provider.operations!.endpoints[script.endpoint]!
  const answer = await operation(asked, upstream).then(readAll, (fault: Error) => ({
    refused: refusalOf(fault, slug, context),
  }))
  const {json, rows, text, refused} = script
  expect(answer).toEqual(rows ? {rows} : text !== undefined ? {text} : refused !== undefined ? {refused} : {json})
  expect(calls).toEqual([])
}

function refusalOf(fault: Error, slug: string, context: TranslationContext): string {
  if (fault.name === 'AssertionError') throw fault
  if (!(fault instanceof UpstreamFault)) return fault.message
  return `${fault.status} ${find(slug)!.operations!.fault(fault.status, fault.body, context).message}`
}

async function readAll(told: OperationResult) {
  if ('json' in told) return {json: JSON.parse(JSON.stringify(told.json))}
  const parts: Buffer[] = []
  for await (const part of told.content) parts.push(Buffer.from(part))
  const text = Buffer.concat(parts).toString()
  return text.startsWith('{') ? {rows: text.trim().split('\n').map(plainRow)} : {text}
}

/** A row without what depends on the clock of the answer. */
function plainRow(line: string): unknown {
  const row = JSON.parse(line)
  delete row.response?.body?.created
  return row
}

async function bodyOf({body}: ProviderRequest): Promise<unknown> {
  if (body === undefined) return undefined
  if (Buffer.isBuffer(body)) return body.toString()
  if (!(Symbol.asyncIterator in body)) return JSON.parse(JSON.stringify(body))
  const parts: Buffer[] = []
  for await (const part of body as AsyncIterable<Buffer>) parts.push(part)
  const text = Buffer.concat(parts).toString()
  const boundary = /^--(\S+)\r\n/.exec(text)?.[1]
  return boundary ? text.replaceAll(boundary, 'B') : text
}

/** In small pieces: what is cut there must not matter. */
async function* pieces(bytes: Buffer, size = 7): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

function formOf(parts: readonly (readonly string[])[]): AsyncIterable<Buffer> {
  const text = parts.map(([name, value, file]) => {
    const as_file = file === undefined ? '' : `; filename="${file}"\r\nContent-Type: text/plain`
    return `--in\r\nContent-Disposition: form-data; name="${name}"${as_file}\r\n\r\n${value}\r\n`
  })
  return pieces(Buffer.from(`${text.join('')}--in--\r\n`))
}
