import fc from 'fast-check'
import {expect, test} from 'vitest'
import type {Hook} from '../../src/guardrails/hook.ts'
import {runHooks} from '../../src/guardrails/run.ts'
import {unsavedHook} from '../../src/guardrails/trial.ts'
import {viewOf} from '../../src/guardrails/view.ts'
import {GuardedStream} from '../../src/proxy/guardrails/stream.ts'
import {openStream} from '../../src/proxy/upstream/stream.ts'
import {guardedOutput, outputContext} from '../support/guarded-output.ts'
import {forRing, generated, seed} from '../support/ring.ts'

// A text that a provider streams under any member of an event, in pieces of any size, is judged as the whole that it
// is: a card number in it reaches nobody, whether it is redacted or denied, in windows and in buffers.

const CASES = forRing({own: 150, ci: 1200, full: 8000})
const CARD = '4012888888881881'
const WORDS = ['some words before. ', 'card ', 'end ', 'and more words. ', 'it is fine ']

type Member = string | number
const key = fc.constantFrom(
  'text',
  'thinking',
  'reasoning',
  'partial_json',
  'note',
  'summary',
  'content',
  'delta',
  'extra value',
  'a.b',
)
const path: fc.Arbitrary<Member[]> = fc
  .array(fc.oneof(key, fc.constantFrom<Member>(0, 1)), {minLength: 1, maxLength: 5})
  .map(all => ['x', ...all])

const cases = fc.record({
  path,
  indexed: fc.boolean(),
  before: fc.array(fc.constantFrom(...WORDS), {maxLength: 4}),
  behind: fc.array(fc.constantFrom(...WORDS), {maxLength: 6}),
  size: fc.integer({min: 1, max: 9}),
  mode: fc.constantFrom('window' as const, 'buffer' as const),
  denies: fc.boolean(),
  dialect: fc.constantFrom('chatComplete' as const, 'messages' as const),
})

/** An object that holds `text` at `path`; elements of lists say their own index where `indexed`. */
function holding(path: readonly Member[], text: string, indexed: boolean): unknown {
  const [first, ...rest] = path
  if (first === undefined) return text
  const inner = holding(rest, text, indexed)
  if (typeof first === 'string') return {[first]: inner}
  return indexed && typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    ? [{index: first, ...inner}]
    : [...Array(first).fill(null), inner]
}

function textAt(value: unknown, path: readonly Member[]): string {
  let at = value
  for (const key of path) {
    if (typeof key === 'number')
      at = Array.isArray(at)
        ? at.find(each => typeof each === 'string' || (typeof each === 'object' && each !== null))
        : undefined
    else at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined
  }
  return typeof at === 'string' ? at : ''
}

const hookOf = (mode: 'window' | 'buffer', denies: boolean): Hook =>
  unsavedHook(
    [
      denies
        ? {id: 'default.regexMatch', parameters: {rule: CARD, not: true}}
        : {id: 'default.regexReplace', parameters: {rule: `/${CARD}/g`, redactText: '[CARD]'}},
    ] as never,
    {deny: denies, stream_mode: mode, stream_window_chars: 120} as never,
  )!

test('a text under any member of an event is judged as a whole', {
  timeout: forRing({own: 20_000, ci: 60_000, full: 300_000}),
}, async () => {
  let count = 0
  await fc.assert(
    fc.asyncProperty(cases, async ({path, indexed, before, behind, size, mode, denies, dialect}) => {
      count++
      const text = `${before.join('')} ${CARD} ${behind.join('')}`
      const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g'))!
      const event = (piece: string) =>
        dialect === 'messages'
          ? `event: content_block_delta\ndata: ${JSON.stringify({type: 'content_block_delta', index: 0, delta: {type: 'other_delta', ...(holding(path, piece, indexed) as object)}})}\n\n`
          : `data: ${JSON.stringify({id: 'c', choices: [{index: 0, delta: holding(path, piece, indexed), finish_reason: null}]})}\n\n`
      const end = dialect === 'messages' ? 'event: message_stop\ndata: {"type":"message_stop"}\n\n' : 'data: [DONE]\n\n'
      const hooks = [hookOf(mode, denies)]
      const context = outputContext(dialect, new Map())
      let sent = ''
      const stream = new GuardedStream({
        inner: openStream(dialect, {provider: 'p', is_good: true, encoding: null, is_metered: false}),
        guarded: guardedOutput(dialect, hooks, (hooks, json) =>
          runHooks(hooks, viewOf(dialect, 'output', json), context),
        ),
        status: 200,
        asks_usage: false,
        onSent: () => undefined,
      })
      for (const each of [...pieces.map(event), end]) {
        stream.take(Buffer.from(each), (send, hold) => {
          sent += send
          if (hold) sent += hold
        })
        for (let turn = 0; turn < 6; turn++) await null
      }
      await new Promise<void>(resolve =>
        stream.end(rest => {
          sent += rest
          resolve()
        }),
      )
      const response = sent
        .split('\n')
        .filter(line => line.startsWith('data: {'))
        .map(line => JSON.parse(line.slice(6)) as {delta?: unknown; choices?: {delta?: unknown}[]})
        .map(each => textAt(each.choices?.[0]?.delta ?? each.delta, path))
        .join('')
      expect(response).not.toContain(CARD)
      if (denies) expect(stream.fault).not.toBeNull()
      else expect([stream.fault, response]).toEqual([null, text.replace(CARD, '[CARD]')])
    }),
    {numRuns: CASES, seed: seed()},
  )
  generated('streamed members', count)
})
