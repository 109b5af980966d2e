import {describe, expect, test} from 'vitest'
import {after} from '../../src/base/delay.ts'
import {Refusal} from '../../src/base/errors.ts'
import type {HttpAsk} from '../../src/guardrails/http.ts'
import {runHooks} from '../../src/guardrails/run.ts'
import {FormGate} from '../../src/proxy/batches/form-gate.ts'
import {RowGate, type RowsOptions} from '../../src/proxy/batches/judge-rows.ts'
import type {Call} from '../../src/proxy/call/call.ts'
import type {CallGuardrails} from '../../src/proxy/call/call-guardrails.ts'
import {RowResults} from '../../src/proxy/guardrails/hook-results.ts'
import {hooks, world} from '../guardrails/support.ts'

const DENY = {'default.contains': {words: ['forbidden'], operator: 'none'}, deny: true, id: 'deny'}
const PII = {'default.pii': {redact: true}, id: 'pii'}
const SERVICE = {'default.webhook': {webhookURL: 'https://guard.example.com'}, deny: true, id: 'hook'}
const FORM = 'multipart/form-data; boundary=b'
const CALL = {endpoint: 'uploadFile'} as Call

type Http = (ask: HttpAsk) => Promise<never>

/** What the gates need of the guardrails of a call. */
function guardedBy(written: readonly Record<string, unknown>[], http?: Http) {
  const input = hooks('input', written)
  const results = new RowResults()
  const unread: string[] = []
  const guarded = {
    endpoint: 'uploadFile',
    rows_passed: false,
    judgeRow(view: Parameters<CallGuardrails['judgeRow']>[0], {endpoint}: {endpoint: 'chatComplete'}) {
      const {context} = world({endpoint})
      return runHooks(input, view, {...context, request: view, ...(http ? {http} : {})})
    },
    noteRow: (of: Parameters<RowResults['add']>[0], line: number) => results.add(of, line),
    noteUnread: (parts: readonly string[]) => void unread.push(...parts),
    denied: (line?: number) => new Refusal('guardrail.denied', {where: ` at line ${line ?? 0}`}),
  } as unknown as CallGuardrails
  return {guarded, unread, results}
}

async function* pieces(bytes: Buffer, cuts: readonly number[]) {
  let start = 0
  for (const end of [...cuts, bytes.length]) {
    // as sockets do, each piece is bytes of its own
    yield Buffer.from(bytes.subarray(start, end))
    start = end
  }
}

const OPTIONS = {most_bytes: 1 << 20, purpose: '', url: null, no_changes: null, judges_fields: true, after}

/** The bytes that leave, and how it ends. */
async function pass(bytes: Buffer, cuts: readonly number[], written: readonly Record<string, unknown>[]) {
  const {guarded, unread} = guardedBy(written)
  const left: Buffer[] = []
  try {
    const gate = new FormGate(pieces(bytes, cuts), FORM, OPTIONS)
    left.push((await gate.begin()).bytes)
    for await (const chunk of gate.rest(CALL, guarded)) left.push(chunk)
    return {left: Buffer.concat(left).toString(), end: guarded.rows_passed ? 'judged' : 'passed', unread}
  } catch (fault) {
    return {left: Buffer.concat(left).toString(), end: (fault as Error).message, unread}
  }
}

const field = (name: string, content: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`
const file = (content: string) =>
  `--b\r\ncontent-disposition: form-data; name="file"; filename="r"\r\n\r\n${content}\r\n`
const END = '--b--\r\n'
const row = (content: string) => `{"body":{"messages":[{"content":"${content}"}]}}`
const MAIL = 'a@mail.example'

const FORMS: readonly (readonly [string, string, string, string])[] = [
  ['a file', field('purpose', 'batch') + file(`${row('a')}\n${row('é')}`) + END, '', 'judged'],
  [
    'line ends and empty lines',
    field('purpose', 'batch') + file(`\ufeff${row('a')}\r\n\r\n${row('b')}\r\n`) + END,
    '',
    'judged',
  ],
  [
    'what looks like a boundary',
    field('purpose', 'batch') + file(`${row('\\r\\n--b-')}\r\n--c\r\n`) + END,
    '',
    'Line 2',
  ],
  ['an empty file', field('purpose', 'batch') + file('') + END, '', 'judged'],
  ['an empty part', `--b\r\ncontent-disposition: form-data; name="x"\r\n\r\n--b--`, '', 'passed'],
  ['the purpose behind it', `\r\n${file(row('a'))}${field('purpose', 'batch')}${END}rest`, '', 'judged'],
  ['another file', file('{"messages":[]}\n') + field('purpose', 'fine-tune') + END, '', 'passed'],
  [
    'a denied row',
    field('purpose', 'batch') + file(`${row('a')}\n${row('forbidden')}\n${row('c')}\n`) + END,
    '',
    'at line 2',
  ],
  ['a denied field behind it', file(row('a')) + field('x', 'forbidden') + END, '', 'at line 0'],
  [
    'a redacted row',
    field('purpose', 'batch') + file(`${row('a')}\r\n${row(MAIL)}\r\n`) + END,
    field('purpose', 'batch') + file(`${row('a')}\r\n${row('<EMAIL_1>')}\r\n`) + END,
    'judged',
  ],
  ['no end', field('purpose', 'batch') + file(row('a')), '', 'it ends before its last boundary'],
]

describe('fact 22: a form that is uploaded, cut at every byte', () => {
  test.each(FORMS)('%s', async (_, text, changed, end) => {
    const bytes = Buffer.from(text)
    const whole = await pass(bytes, [], [DENY, PII])
    expect(whole.end).toContain(end)
    const is_whole = end === 'judged' || end === 'passed'
    if (is_whole) expect(whole.left).toBe(changed || text)
    else {
      expect(whole.left).not.toContain('forbidden')
      expect(whole.left).not.toContain('--b--')
    }
    for (let cut = 1; cut < bytes.length; cut++) {
      const parts = await pass(bytes, [cut], [DENY, PII])
      expect([cut, parts.end, parts.unread]).toEqual([cut, whole.end, whole.unread])
      if (is_whole) expect([cut, parts.left]).toEqual([cut, whole.left])
      else expect([cut, parts.left.includes('forbidden') || parts.left.includes('--b--')]).toEqual([cut, false])
    }
    const each = await pass(
      bytes,
      Array.from({length: bytes.length - 1}, (_byte, at) => at + 1),
      [DENY, PII],
    )
    expect([each.end, is_whole ? each.left : '']).toEqual([whole.end, is_whole ? whole.left : ''])
  })
})

async function judged(lines: readonly string[], guarded: CallGuardrails, more: Partial<RowsOptions> = {}) {
  const gate = new RowGate(guarded, {most_bytes: 1 << 20, url: null, no_changes: null, part: 'file', after, ...more})
  const left: Buffer[] = []
  for await (const bytes of gate.push(Buffer.from(lines.join('\n')))) left.push(bytes)
  for await (const bytes of gate.end()) left.push(bytes)
  return Buffer.concat(left).toString()
}

describe('fact 22: services that judge rows', () => {
  const service = () => {
    const state = {live: 0, most: 0, calls: 0}
    const http = (async () => {
      state.calls++
      state.live++
      state.most = Math.max(state.most, state.live)
      await new Promise(resolve => setTimeout(resolve, 1 + (state.calls % 5)))
      state.live--
      return {status: 200, headers: {'content-type': 'application/json'}, body: [Buffer.from('{"verdict":true}')]}
    }) as unknown as Http
    return {state, http}
  }

  test('are called for eight rows at once at most, and rows leave in their order', async () => {
    const {state, http} = service()
    const lines = Array.from({length: 50}, (_, at) => row(`number ${at}`))
    expect(await judged(lines, guardedBy([SERVICE], http).guarded)).toBe(lines.join('\n'))
    expect(state).toMatchObject({calls: 50, most: 8})
  })

  test('hold no more rows than may be held', async () => {
    const {state, http} = service()
    const lines = Array.from({length: 10}, (_, at) => row(`${at}`.repeat(400)))
    expect(await judged(lines, guardedBy([SERVICE], http).guarded, {most_bytes: 1000})).toBe(lines.join('\n'))
    expect(state).toMatchObject({calls: 10, most: 2})
  })

  test('that do not answer end the upload at the deadline of the row', async () => {
    const never = (() => new Promise(() => undefined)) as unknown as Http
    const late = judged([row('a')], guardedBy([SERVICE], never).guarded, {deadline_ms: 20})
    await expect(late).rejects.toThrow('Guardrails did not judge line 1 of the file within 20 ms.')
  })

  test('that nobody waits for are bounded likewise, and decide nothing', async () => {
    const {state, http} = service()
    const {guarded, results} = guardedBy([{...SERVICE, async: true}], http)
    const lines = Array.from({length: 30}, (_, at) => row(`${at}`))
    expect(await judged(lines, guarded)).toBe(lines.join('\n'))
    expect(state).toMatchObject({calls: 30, most: 8})
    expect(results.beside([])).toMatchObject([{id: 'hook', async: true, rows: {judged: 30, failed: 0}}])
  })
})
