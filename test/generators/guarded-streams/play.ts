import {Refusal} from '../../../src/base/errors.ts'
import type {Hook} from '../../../src/guardrails/hook.ts'
import {runHooks} from '../../../src/guardrails/run.ts'
import {viewOf} from '../../../src/guardrails/view.ts'
import {translationFor} from '../../../src/providers/clients.ts'
import {find} from '../../../src/providers/registry.ts'
import {GuardedStream} from '../../../src/proxy/guardrails/stream.ts'
import {openStream, type Stream} from '../../../src/proxy/upstream/stream.ts'
import {TranslatedStream} from '../../../src/proxy/upstream/translated-stream.ts'
import {guardedOutput, outputContext} from '../../support/guarded-output.ts'
import type {Wire} from './wires.ts'

/** When verdicts come: at once, some now and then, or none before the stream is over. */
export type Delay = 'at once' | 'now and then' | 'at the end'

export interface Play {
  readonly wire: Wire
  readonly hooks: readonly Hook[]
  readonly chunks: readonly Buffer[]
  /** What the provider does behind its last chunk; `left`: the client, the drain or a deadline ends it there. */
  readonly last: 'ends' | 'breaks' | 'left'
  readonly delay: Delay
  /** The verdict that cannot be had, by its number from 1; 0: all can. */
  readonly broken_verdict: number
  /** A number in [0, 1) of the case's own. */
  readonly random: () => number
}

export interface Played {
  /** What the client read, but for an error in our own words. */
  readonly bytes: string
  /** Why it was cut off. */
  readonly fault: string | null
  /** Something had left when the provider's answer broke off. */
  readonly had_left: boolean
  /** The client was told that the answer is whole before the provider did what it did at the end. */
  readonly was_settled: boolean
  readonly verdicts: number
  /** What an attempt must never see. */
  readonly misdeeds: readonly string[]
}

const MAX_TURNS = 20_000
const soon = () => new Promise<void>(resolve => setImmediate(resolve))

/**
 * Lets a stream pass as an attempt does (`src/proxy/attempt/attempt.ts`), and notes what it would have told the client.
 */
export async function play({wire, hooks, chunks, last, delay, broken_verdict, random}: Play): Promise<Played> {
  const {endpoint} = wire
  const gates: (() => void)[] = []
  const misdeeds: string[] = []
  let verdicts = 0
  const bytes: Buffer[] = []
  let fault: string | null = null
  let state = 'open' as 'open' | 'settled' | 'over'

  const judge = async (judging: readonly Hook[], json: never) => {
    const turn = ++verdicts
    const outcome = await runHooks(judging, viewOf(endpoint, 'output', json), outputContext(endpoint))
    if (delay !== 'at once') await new Promise<void>(resolve => void gates.push(resolve))
    if (turn === broken_verdict) throw new Error('no verdict')
    return outcome
  }
  const stream = new GuardedStream({
    inner: innerOf(wire),
    guarded: guardedOutput(endpoint, hooks, judge),
    status: 200,
    asks_usage: true,
    onSent: () => undefined,
  })
  const give = (more: Buffer) => {
    if (more.length && state === 'over') misdeeds.push(`bytes behind the end: ${more.toString().slice(0, 80)}`)
    bytes.push(more)
  }
  const fail = (of: Refusal) => {
    if (state !== 'open') return
    fault = of.code
    state = 'over'
    stream.settled(of)
    stream.close()
  }
  const received = (send: Buffer, hold: Buffer | null) => {
    give(send)
    if (state === 'open' && stream.ends_on_fault && stream.failed) return fail(stream.fault!)
    if (hold === null) return
    give(hold)
    if (state !== 'open') return
    state = 'settled'
    stream.settled(null)
  }
  let ends = 0
  const over = (rest: Buffer) => {
    if (++ends > 1) misdeeds.push('the end is told twice')
    give(rest)
    if (state === 'open' && stream.fault) return fail(stream.fault)
    if (state === 'open') stream.settled(null)
    state = 'over'
  }

  const often = Math.min(1, 60 / chunks.length)
  for (const chunk of chunks) {
    if (state === 'over') break
    stream.take(chunk, received)
    if (delay === 'now and then') for (let open = Math.floor(random() * 3); open > 0; open--) gates.shift()?.()
    if (random() >= often) continue
    if (random() < 0.2) await soon()
    for (let turn = Math.floor(random() * 24); turn > 0; turn--) await null
  }
  const had_left = bytes.some(({length}) => length > 0)
  const was_settled = state === 'settled'
  if (last === 'left') {
    fail(new Refusal('client.gone'))
    if (state === 'settled') state = 'over'
    stream.close()
  } else if (
    last === 'breaks' &&
    state === 'open' &&
    !stream.breakOff(new Refusal('upstream.broken', {provider: 'p'}))
  ) {
    fail(new Refusal('upstream.broken', {provider: 'p'}))
  } else if (state !== 'over') stream.end(over)
  for (let turn = 0, idle = 0; idle < 4; turn++) {
    const gate = gates.shift()
    idle = gate ? 0 : idle + 1
    gate?.()
    await soon()
    if (turn > MAX_TURNS) throw new Error('verdicts without end')
  }
  if (state !== 'over') misdeeds.push('the end is never told')
  return {bytes: Buffer.concat(bytes).toString(), fault, had_left, was_settled, verdicts, misdeeds}
}

function innerOf({endpoint, provider}: Wire): Stream {
  if (provider === null) return openStream(endpoint, {provider: 'p', is_good: true, encoding: null, is_metered: false})
  const context = {provider, model: 'm', is_stream: true, strict: true, options: {}, call_id: 'c', created_s: 1}
  const asked = {model: 'm', stream: true, stream_options: {include_usage: true}, messages: [], input: ''}
  const words = translationFor(find(provider)!, endpoint)
  if (!words) throw new Error(`${provider} has no words of its own for ${endpoint}`)
  return new TranslatedStream(endpoint, {
    ...words,
    context,
    chat_request: asked,
    client_request: asked,
    request: {path: '/', body: null},
    held: null,
  })
}
