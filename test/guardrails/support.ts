import {attach, type SavedGuardrail} from '../../src/guardrails/attach.ts'
import type {CheckContext} from '../../src/guardrails/check.ts'
import type {Hook} from '../../src/guardrails/hook.ts'
import type {Http, HttpAsk} from '../../src/guardrails/http.ts'
import type {JsonValue} from '../../src/guardrails/json.ts'
import {type PhaseOutcome, runHooks} from '../../src/guardrails/run.ts'
import {type View, viewOf} from '../../src/guardrails/view.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'
import type {CheckResult, RanHook, Side} from '../../src/schema/guardrails.ts'

export const NOW_MS = Date.UTC(2026, 0, 31)

/** An answer of a fake service: a body as text or chunks, a failure, or `hang` for one that never comes. */
export type Fake =
  | {status?: number; type?: string; body?: string | Iterable<Uint8Array>; headers?: Record<string, string>}
  | 'hang'
  | Error

export interface CheckSetup {
  side?: Side
  endpoint?: EndpointName
  body?: JsonValue
  request?: JsonValue
  status?: number
  model?: string | null
  provider?: string
  metadata?: Record<string, string>
  headers?: Record<string, string>
  /** By URL; a function is asked each time. */
  http?: Record<string, Fake | ((ask: HttpAsk) => Fake)>
  hosts?: Record<string, readonly string[]>
  /** Milliseconds after which time is up at once: a signal asked for fires without waiting. */
  impatient?: boolean
  memory?: Map<string, unknown>
  now_ms?: () => number
}

export interface Made {
  readonly view: View
  readonly context: CheckContext
  readonly asked: HttpAsk[]
  /** How far a body was read, in bytes. */
  readonly read: {bytes: number}
}

export function world(of: CheckSetup = {}): Made {
  const {side = 'input', endpoint = 'chatComplete', body = null} = of
  const asked: HttpAsk[] = []
  const read = {bytes: 0}
  const memory = of.memory ?? new Map<string, unknown>()
  const view = viewOf(endpoint, side, body)
  const request = side === 'input' ? view : viewOf(endpoint, 'input', of.request ?? null)
  const http: Http = async ask => {
    asked.push(ask)
    const entry = Object.hasOwn(of.http ?? {}, ask.url) ? of.http![ask.url]! : new Error(`nobody at ${ask.url}`)
    const fake = typeof entry === 'function' ? entry(ask) : entry
    if (fake === 'hang') return new Promise(() => undefined)
    if (fake instanceof Error) throw fake
    const chunks = typeof fake.body === 'string' || fake.body === undefined ? [Buffer.from(fake.body ?? '')] : fake.body
    const headers = {'content-type': fake.type ?? 'application/json', ...fake.headers}
    return {status: fake.status ?? 200, headers, body: counted(chunks, read)}
  }
  const context: CheckContext = {
    side,
    endpoint,
    provider: of.provider ?? 'some-provider',
    model: of.model === undefined ? 'model-a' : of.model,
    metadata: of.metadata ?? {},
    headers: of.headers ?? {},
    trace: {trace_id: 'trace-1', span_id: 'span-1'},
    is_streaming: false,
    request,
    is_request_transformed: false,
    response: side === 'output' ? view : null,
    response_status: side === 'output' ? (of.status ?? 200) : null,
    now_ms: of.now_ms ?? (() => NOW_MS),
    http,
    after: () => (of.impatient ? soon() : new AbortController().signal),
    async resolve(hostname) {
      const found = Object.hasOwn(of.hosts ?? {}, hostname) ? of.hosts![hostname]! : undefined
      if (!found) throw new Error(`${hostname} has no address`)
      return found
    },
    memory: {
      get: key => memory.get(key),
      put: (key, value) => {
        memory.set(key, value)
      },
    },
  }
  return {view, context, asked, read}
}

/** Fires once everything that is ready has run, without a clock. */
function soon(): AbortSignal {
  const controller = new AbortController()
  setImmediate(() => controller.abort())
  return controller.signal
}

async function* counted(chunks: Iterable<Uint8Array>, read: {bytes: number}) {
  for (const chunk of chunks) {
    read.bytes += chunk.byteLength
    yield chunk
  }
}

export const said = (text: JsonValue, ...before: JsonValue[]): JsonValue => ({
  model: 'model-a',
  messages: [...before, {role: 'user', content: text}],
})
export const answered = (text: JsonValue): JsonValue => ({
  id: 'a',
  choices: [{index: 0, message: {role: 'assistant', content: text}, finish_reason: 'stop'}],
})

/** Hooks of one side, out of the keys of a config; whatever is wrong with them is thrown. */
export function hooks(
  side: Side,
  guardrails: readonly unknown[],
  saved: readonly SavedGuardrail[] = [],
): readonly Hook[] {
  const attached = attach(side === 'input' ? {input_guardrails: guardrails} : {output_guardrails: guardrails}, {
    defaults: [],
    saved: handle => saved.find(({id, slug}) => id === handle || slug === handle),
  })
  if (attached.faults.length)
    throw new Error(attached.faults.map(({path, message}) => `${path}: ${message}`).join('\n'))
  return attached[side]
}

export async function run(guardrails: readonly unknown[], of: CheckSetup): Promise<PhaseOutcome & {made: Made}> {
  const made = world(of)
  return {...(await runHooks(hooks(of.side ?? 'input', guardrails), made.view, made.context)), made}
}

export function ranHook(outcome: PhaseOutcome, index = 0): RanHook {
  const result = outcome.results[index]
  if (!result || !('checks' in result)) throw new Error('the hook did not run')
  return result
}

export function checkOf(outcome: PhaseOutcome, index = 0): CheckResult {
  return ranHook(outcome).checks[index]!
}

export function explanation(result: CheckResult): string {
  return (result.data as {explanation: string}).explanation
}
