import {lines, type Message} from './http.ts'
import {normal} from './normal.ts'
import type {Reply} from './provider.ts'
import type {Columns, Recorded} from './scene.ts'

/** What was recorded of a row, as its golden has it. */
export function textOf(
  row: string,
  {asked, answers, providers, logs, entries}: Recorded,
  names: ReadonlyMap<string, string>,
): string {
  const parts: string[] = []
  const replies = Object.entries(providers).flatMap(([name, {answered}]) =>
    answered.map((reply, at) => [`${name}'s answer ${at + 1}`, reply.body] as const),
  )
  for (const [at, {method, path, headers, body}] of asked.entries()) {
    const {'x-gateway-api-key': _, 'x-gateway-trace-id': __, 'x-gateway-oracle-private-key': ___, ...said} = headers
    parts.push(`--- client ${at + 1} asks\n${method} ${path}\n${lines(said)}${bodyText(body)}`)
  }
  const bodies = asked.map(({body}, at) => [`what client ${at + 1} asks`, body] as const)
  for (const [name, {received, answered}] of Object.entries(providers)) {
    for (const [at, message] of received.entries()) {
      parts.push(`--- ${name} hears\n${message.head}${bodyText(message.body, bodies)}`)
      if (answered[at]) parts.push(`--- ${name} answers\n${replyText(answered[at])}`)
    }
  }
  for (const [at, answer] of answers.entries()) parts.push(`--- client ${at + 1} hears\n${answerText(answer, replies)}`)
  for (const row of logs) parts.push(`--- log\n${columnsText(row)}`)
  for (const entry of entries) {
    const log = logs.find(({call_id}) => call_id === entry.call_id) ?? {}
    const same = Object.keys(entry).filter(name => entry[name] === log[name])
    const others = Object.fromEntries(Object.entries(entry).filter(([name]) => !same.includes(name)))
    parts.push(`--- ledger\n${columnsText(others)}${same.length ? `(${same.length} columns as in the log)\n` : ''}`)
  }
  return withoutUsual(
    normal(
      parts.map(part => part.replaceAll('\r', '').replace(/\n*$/, '\n')).join(''),
      new Map([...names, [row, 'row']]),
    ),
  )
}

/**
 * Columns of nearly every row: they are counted, not shown. One that is otherwise is shown, and missing from the count.
 */
const USUAL: ReadonlySet<string> = new Set([
  'created_at: 2026-03-04T05:06:07.008Z',
  'admitted_at: 2026-03-04T05:06:07.008Z',
  'settled_at: 2026-03-04T05:06:07.008Z',
  'trace_id: <row>',
  'organisation_id: <organisation>',
  'workspace_id: <workspace>',
  'api_key_id: <key>',
  'span_id: <span>',
  'chain: <hash>',
  'sequence: <number>',
  'duration_ms: <ms>',
  'unpriced: 0',
  'metadata: {}',
  'attempt: 1',
  'retry_count: 0',
  'is_rescued: 0',
  'cache_status: DISABLED',
  'counter_keys: []',
])

function withoutUsual(text: string): string {
  return text.replace(/^--- (log|ledger)\n((?:(?!--- ).*\n)*)/gm, (_, table: string, columns: string) => {
    const all = columns.split('\n').slice(0, -1)
    const shown = all.filter(line => !USUAL.has(line))
    return [`--- ${table}`, ...shown, `(${all.length - shown.length} columns as usual)`, ''].join('\n')
  })
}

function answerText(answer: Message | null, replies: readonly (readonly [string, Buffer])[]): string {
  if (!answer) return '(nothing)\n'
  // a body that tells how long its checks took is as long as those figures
  const head = answer.body.includes('"execution_time":')
    ? answer.head.replace(/(content-length: )\d+/i, '$1<bytes>')
    : answer.head
  return `${head}${bodyText(answer.body, replies)}${answer.is_whole ? '' : '(and no end)\n'}`
}

function replyText({bytes, ends}: Reply): string {
  const line = bytes.toString('latin1', 0, Math.max(0, bytes.indexOf('\r\n')))
  return `${line || '(nothing)'}${ends === 'done' ? '' : `, then ${ends}`}\n`
}

/** A body as text where it is text. One that is the same as another's is told as that: the bytes stand there. */
function bodyText(body: Buffer, known: readonly (readonly [string, Buffer])[] = []): string {
  if (body.length === 0) return ''
  const same = known.find(([, other]) => other.equals(body))
  if (same) return `(${body.length} bytes: ${same[0]})\n`
  const text = body.toString('utf8')
  if (text.includes('\ufffd') || Buffer.byteLength(text) !== body.length)
    return `(${body.length} bytes) ${body.toString('base64')}\n`
  const shown = text.replace(/[\x00-\x09\x0b-\x1f\x7f\\]/g, char =>
    char === '\\' ? char : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return `${shown
    .split('\n')
    .map(line => `| ${line}`)
    .join('\n')}\n`
}

/** A column a line; those that are null together in one. */
function columnsText(columns: Columns): string {
  const nulls = Object.keys(columns).filter(name => columns[name] === null)
  const said = Object.entries(columns).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${String(value)}\n`],
  )
  return `${said.join('')}${nulls.length ? `null: ${nulls.join(', ')}\n` : ''}`
}
