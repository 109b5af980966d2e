import type {Refusal} from '../../../src/base/errors.ts'
import type {Hook} from '../../../src/guardrails/hook.ts'
import {runHooks} from '../../../src/guardrails/run.ts'
import {viewOf} from '../../../src/guardrails/view.ts'
import {GuardedStream} from '../../../src/proxy/guardrails/stream.ts'
import {openStream} from '../../../src/proxy/upstream/stream.ts'
import type {EndpointName} from '../../../src/schema/endpoints.ts'
import type {HookResult} from '../../../src/schema/guardrails.ts'
import {guardedOutput, outputContext} from '../../support/guarded-output.ts'
import type {Event} from './streams.ts'

/** What a client reads of a stream under guard. */
export interface Passed {
  readonly text: string
  readonly fault: Refusal | null
  /** What was said of it when it was gone. */
  readonly late: readonly HookResult[]
}

export function bytesOf(endpoint: EndpointName, events: readonly Event[]): Buffer {
  const named = endpoint === 'messages' || endpoint === 'createModelResponse'
  const lines = events.map(
    event => `${named ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
  )
  return Buffer.from([...lines, ...(named ? [] : ['data: [DONE]\n\n'])].join(''))
}

/** Lets a provider's bytes through the guardrails, a chunk for each of `cuts` and one more. */
export async function pass(
  endpoint: EndpointName,
  hooks: readonly Hook[],
  bytes: Buffer,
  cuts: readonly number[],
): Promise<Passed> {
  const parts = new Map<object, unknown>()
  const late: HookResult[] = []
  const waits: Promise<unknown>[] = []
  const judge = async (judging: readonly Hook[], json: never) =>
    runHooks(judging, viewOf(endpoint, 'output', json), outputContext(endpoint, parts))
  const guarded = guardedOutput(endpoint, hooks, judge, async (judging, json) => {
    const work = judge(judging, json).then(({results}) => late.push(...results))
    waits.push(work)
    await work
  })
  const inner = openStream(endpoint, {provider: 'p', encoding: null, is_metered: false, is_good: true})
  const stream = new GuardedStream({inner, guarded, status: 200, asks_usage: false, onSent: () => undefined})
  let text = ''
  const received = (send: Buffer, hold: Buffer | null) => {
    text += send.toString('latin1') + (hold ?? '').toString('latin1')
  }
  let from = 0
  for (const to of [...cuts.toSorted((one, other) => one - other), bytes.length]) {
    stream.take(bytes.subarray(from, to), received)
    from = to
    await new Promise<void>(resolve => setImmediate(resolve))
  }
  await new Promise<void>(resolve =>
    stream.end(rest => {
      text += rest.toString('latin1')
      resolve()
    }),
  )
  const {fault} = stream
  stream.settled(fault)
  await Promise.all(waits)
  return {text: Buffer.from(text, 'latin1').toString(), fault, late}
}

/**
 * What a client makes of a stream: the texts at each place of its events, one after the other, with the whole of what
 * came.
 */
export function understood(text: string): string {
  const texts = new Map<string, string>()
  const walk = (value: unknown, place: string) => {
    if (typeof value === 'string') texts.set(place, (texts.get(place) ?? '') + value)
    else if (Array.isArray(value))
      for (const each of value) walk(each, `${place}.${String((each as {index?: number})?.index)}`)
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) walk(each, `${place}.${key}`)
  }
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: {')) continue
    const event = JSON.parse(line.slice(6)) as Record<string, unknown>
    walk(event, `${String(event.type)} ${String(event.index)} ${String(event.output_index)}`)
  }
  return [...texts.values(), text].join('\n')
}
