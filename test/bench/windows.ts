import {runHooks} from '../../src/guardrails/run.ts'
import {viewOf} from '../../src/guardrails/view.ts'
import type {CallGuardrails} from '../../src/proxy/call/call-guardrails.ts'
import {GuardedStream} from '../../src/proxy/guardrails/stream.ts'
import {openStream} from '../../src/proxy/upstream/stream.ts'
import {hooks, world} from '../guardrails/support.ts'
import {chatEvents} from '../support/provider.ts'

const STREAMS = 20
const CHUNKS = 400
const WORDS = 'The harbour was quiet at dawn, and 12 boats lay there; '

/** What a stream is judged by while it comes. */
const OUTPUT: readonly Record<string, unknown>[] = [
  {pii: {redact: true}, stream_mode: 'window'},
  {contains: {words: ['forbidden', 'internal use only'], operator: 'none'}, stream_mode: 'window', deny: true},
  {regexMatch: {rule: '\\bsk-[A-Za-z0-9]{20,}\\b', not: true}, stream_mode: 'window', deny: true},
  {regexReplace: {rule: '/[\\w.+-]+@[\\w-]+(\\.[\\w-]+)+/g'}, stream_mode: 'window'},
]

/**
 * How long each chunk of a stream in `window` mode is judged, in milliseconds, sorted: from its coming to the next turn
 * in which all is said.
 */
export async function windowDelays(): Promise<readonly number[]> {
  const delays_ms: number[] = []
  for (let stream = 0; stream < STREAMS; stream++) {
    const guarded = guardedBy(OUTPUT)
    const judged = new GuardedStream({
      inner: openStream('chatComplete', {provider: 'p', is_good: true, encoding: null, is_metered: false}),
      guarded,
      status: 200,
      asks_usage: false,
      onSent: () => undefined,
    })
    const words = Array.from({length: CHUNKS}, (_, at) => WORDS.slice((at * 7) % 40, ((at * 7) % 40) + 14))
    for (const event of chatEvents('m', {words})) {
      const began_ms = performance.now()
      judged.take(Buffer.from(event), () => undefined)
      await guarded.idle()
      if (stream > 0) delays_ms.push(performance.now() - began_ms)
    }
  }
  return delays_ms.toSorted((one, other) => one - other)
}

function guardedBy(output: readonly Record<string, unknown>[]): CallGuardrails & {idle(): Promise<void>} {
  let work: Promise<unknown> = Promise.resolve()
  const all = output.flatMap(each => hooks('output', [each]))
  return {
    guards: {input: [], output: all, digest: '', input_digest: '', unreadable_bodies: null},
    endpoint: 'chatComplete',
    headers: {},
    has_judged: true,
    is_stream: true,
    reads_answers: true,
    readsAnswer: () => true,
    judges_answers: true,
    judges_errors: false,
    rows_passed: false,
    judgeRow: () => Promise.reject(new Error('no rows')),
    noteRow: () => undefined,
    noteUnread: () => undefined,
    keeps_streams: true,
    shown: null,
    logged: {before_request_hooks: [], after_request_hooks: []},
    late: null,
    restore: null,
    tells_in_streams: false,
    begin() {},
    statusOf: status => status,
    denied: () => fail('nothing is denied here'),
    unreadable: reason => fail(reason),
    evaluateResponse: () => fail('the answer is a stream'),
    evaluateError: () => fail('there is no error'),
    judgeFailure: async (_, failed) => failed,
    evaluateInBackground: async () => undefined,
    judge(judging, json, status) {
      const {context} = world({side: 'output', body: json, status})
      const judged = runHooks(judging, viewOf('chatComplete', 'output', json), context)
      work = judged
      return judged
    },
    async idle() {
      let waited: Promise<unknown> | undefined
      while (waited !== work) {
        waited = work
        await waited
        await new Promise(resolve => setImmediate(resolve))
      }
    },
  }
}

function fail(reason: string): never {
  throw new Error(reason)
}
