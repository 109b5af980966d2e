import type {Dispatcher} from 'undici'
import type {Chance} from './chance.ts'
import type {VirtualClock} from './clock.ts'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController

/** How a provider's answer ends. `silent`: nothing more comes, and its socket stays open. */
type ProviderEnd = 'whole' | 'broken' | 'silent'

/** What a provider does with one request. */
export interface Script {
  /** Whether it takes a connection at all, and after how long. */
  readonly connects: boolean
  readonly connect_ms: number
  /** From the request to the status; null: it says nothing at all. */
  readonly think_ms: number | null
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly pieces: readonly {readonly after_ms: number; readonly bytes: Buffer}[]
  readonly end: ProviderEnd
  /** What its answer tells of usage; null where it tells nothing. */
  readonly tokens: number | null
}

/** One request that reached a provider. */
export interface Served {
  readonly script: Script
  /** The words of the request. */
  readonly words: string
  /** The request left the gateway. */
  has_left: boolean
  /** The whole answer was handed over. */
  is_whole: boolean
}

const WORDS = ['one ', 'two ', 'three ', 'four ']

/** Draws what a provider does with a request for chat. */
export function scriptOf(is_stream: boolean, asks_usage: boolean, chance: Chance): Script {
  const status = chance.is(0.75) ? 200 : chance.one([400, 429, 500, 503])
  const tokens = chance.is(0.9) && (!is_stream || asks_usage) ? chance.between(2, 400) : null
  const usage = tokens === null ? undefined : {prompt_tokens: 1, completion_tokens: tokens - 1, total_tokens: tokens}
  const content = Array.from({length: chance.between(1, 5)}, () => chance.one(WORDS))
  const texts =
    status !== 200
      ? [JSON.stringify({error: {message: 'no', type: 'server_error'}})]
      : is_stream
        ? eventsOf(content, usage)
        : [wholeOf(content, usage)]
  const cut = status === 200 && !is_stream && chance.is(0.5) ? [texts[0]!.slice(0, 20), texts[0]!.slice(20)] : texts
  const long = chance.is(0.03)
  return {
    connects: chance.is(0.93),
    connect_ms: chance.between(0, 40),
    think_ms: chance.is(0.03) ? null : chance.between(1, chance.is(0.1) ? 3_000 : 60),
    status,
    headers: {
      'content-type': status === 200 && is_stream ? 'text/event-stream' : 'application/json',
      ...(status === 429 && chance.is(0.5) && {'retry-after': String(chance.between(0, 3))}),
    },
    pieces: cut.map(text => ({after_ms: chance.between(0, long ? 9_000 : 120), bytes: Buffer.from(text)})),
    end: chance.is(0.85) ? 'whole' : chance.is(0.6) ? 'broken' : 'silent',
    tokens: status === 200 ? tokens : null,
  }
}

function wholeOf(content: readonly string[], usage: object | undefined): string {
  const message = {role: 'assistant', content: content.join('')}
  return JSON.stringify({
    id: 'c-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{index: 0, message, finish_reason: 'stop'}],
    ...(usage && {usage}),
  })
}

function eventsOf(content: readonly string[], usage: object | undefined): string[] {
  const event = (more: object) =>
    `data: ${JSON.stringify({id: 'c-1', object: 'chat.completion.chunk', created: 1, model: 'm', ...more})}\n\n`
  return [
    ...content.map(text => event({choices: [{index: 0, delta: {content: text}, finish_reason: null}]})),
    event({choices: [{index: 0, delta: {}, finish_reason: 'stop'}]}),
    ...(usage ? [event({choices: [], usage})] : []),
    'data: [DONE]\n\n',
  ]
}

/** Plays a script to who sent the request, as undici would. */
export function play(served: Served, handler: Handler, clock: VirtualClock): void {
  const {script} = served
  let is_over = false
  let is_paused = false
  const waiting: (() => void)[] = []
  const control = {
    aborted: false,
    paused: false,
    reason: null as Error | null,
    abort(reason: Error) {
      if (is_over) return
      is_over = true
      control.aborted = true
      clock.soon(() => handler.onResponseError?.(controller, reason))
    },
    pause() {
      is_paused = true
    },
    resume() {
      is_paused = false
      clock.soon(deliver)
    },
  }
  const controller = control as unknown as Controller
  const deliver = () => {
    while (!is_paused && !is_over && waiting.length) waiting.shift()!()
  }
  const arrive = (what: () => void) => {
    waiting.push(what)
    deliver()
  }
  const next = (at: number) => {
    const piece = script.pieces[at]
    if (!piece) return finish()
    clock.after(piece.after_ms, () => {
      if (is_over) return
      if (at === script.pieces.length - 1 && script.end !== 'whole') return finish()
      arrive(() => handler.onResponseData?.(controller, Buffer.from(piece.bytes)))
      next(at + 1)
    })
  }
  const finish = () => {
    if (script.end === 'silent') return
    arrive(() => {
      is_over = true
      if (script.end === 'broken') return handler.onResponseError?.(controller, new Error('other side closed'))
      served.is_whole = true
      handler.onResponseEnd?.(controller, {})
    })
  }
  clock.after(script.connect_ms, () => {
    if (!script.connects) return handler.onResponseError?.(controller, new Error('connect ECONNREFUSED'))
    handler.onRequestStart?.(controller, {})
    if (is_over) return
    served.has_left = true
    const sent = handler as Handler & {onRequestSent?(): void; onBodySent?(): void}
    sent.onBodySent?.()
    sent.onRequestSent?.()
    if (script.think_ms === null) return
    clock.after(script.think_ms, () => {
      if (is_over) return
      arrive(() => handler.onResponseStart?.(controller, script.status, {...script.headers}))
      if (!is_over) next(0)
    })
  })
}
