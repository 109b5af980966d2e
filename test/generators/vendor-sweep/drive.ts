import {WORKSPACE_KEY} from '../../support/gateway.ts'
import type {FakeProvider, Heard} from '../../support/provider.ts'
import type {Driven} from './clients.ts'

/** What one call of a method came to. */
export interface Drive {
  /** The answer as its client reads it, or the error that it throws. */
  readonly answer: string
  readonly is_error: boolean
  /** Requests that the provider heard, without what a call differs in from the next. */
  readonly received: readonly Record<string, string>[]
  /** How many of them the gateway sent: with the integration's key, which no client knows. */
  readonly passed: number
}

/** Calls `method` of a client whose base is `origin`. */
export async function drive(
  driven: Driven,
  method: string,
  origin: string,
  headers: Record<string, string>,
  provider: FakeProvider,
): Promise<Drive> {
  provider.received.length = 0
  let answer: unknown
  let is_error = false
  try {
    answer = await driven.call(origin, WORKSPACE_KEY, headers, method)
  } catch (fault) {
    is_error = true
    answer = String(fault)
  }
  const passed = provider.received.filter(({headers}) => JSON.stringify(headers).includes('sk-upstream-secret')).length
  return {
    answer: JSON.stringify(answer, withoutHeaders) ?? '',
    is_error,
    received: provider.received.map(comparable),
    passed,
  }
}

/** Google's client puts the headers of a reply into what it returns. */
function withoutHeaders(name: string, value: unknown): unknown {
  return name === 'sdkHttpResponse' || name === 'responseInternal' ? undefined : value
}

/** Headers that say what a request means. Credentials differ, and those of the connection are nobody's concern. */
const COMPARED = [
  'accept',
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
  'x-goog-upload-command',
  'x-goog-upload-protocol',
] as const

function comparable({method, path, headers, body}: Heard): Record<string, string> {
  const type = headers['content-type'] ?? ''
  const boundary = /boundary=("?)([^";]+)\1/.exec(type)?.[2]
  const plain = (text: string) => (boundary ? text.replaceAll(boundary, 'BOUNDARY') : text)
  const said = Object.fromEntries(COMPARED.map(name => [name, String(headers[name] ?? '')]))
  return {
    line: `${method} ${path}`,
    type: body.length > 0 ? plain(type) : '',
    body: plain(body.toString('latin1')),
    ...said,
  }
}
