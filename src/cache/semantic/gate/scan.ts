import {addCore} from './scan-core.ts'
import type {GateToken} from './token.ts'

const FENCE = '```'
const MAX_QUOTE = 2000
const MAX_SINGLE_QUOTE = 100
const MARKS = '.,;:!?…'

/** The text in the one way of writing that the gate reads. Raised digits stay apart from those beside them. */
export function written(text: string): string {
  const shouted = /[A-Z]{2}/.test(text) && text === text.toUpperCase()
  return (shouted ? text.toLowerCase() : text)
    .replace(/[⁰¹²³⁴-⁹⁺⁻ⁿ]+/g, raised => `^${raised}`)
    .replace(/[¼-¾⅐-⅞]/g, fraction => ` ${fraction}`)
    .normalize('NFKC')
    .replaceAll('⁄', '/')
    .replace(/[‘’ʼ´]/g, "'")
    .replace(/[“”„«»]/g, '"')
    .replaceAll('—', ' - ')
    .replace(/[‐‑–−]/g, '-')
}

/** Tokens of a text that was `written`. Fenced blocks and lines of code are one token each. */
export function scan(text: string): GateToken[] {
  const tokens: GateToken[] = []
  let at = 0
  while (at < text.length) {
    const fence = text.indexOf(FENCE, at)
    const end = fence < 0 ? text.length : fence
    scanProse(text.slice(at, end), tokens)
    if (fence < 0) break
    const close = text.indexOf(FENCE, fence + FENCE.length)
    const after = close < 0 ? text.length : close
    tokens.push({kind: 'code', text: text.slice(fence + FENCE.length, after)}, {kind: 'break', text: '.'})
    at = close < 0 ? text.length : close + FENCE.length
  }
  return tokens
}

function scanProse(prose: string, tokens: GateToken[]) {
  const lines = prose.split('\n')
  let at = 0
  while (at < lines.length) {
    let end = at
    while (end < lines.length && lines[end]!.trim() !== '') end++
    const paragraph = lines.slice(at, end)
    // one sign of code makes code of all its lines, but for sentences
    const has_code = paragraph.length > 1 && paragraph.some(line => /[=<>{};]/.test(line) || isCode(line))
    for (const line of paragraph) {
      if (isCode(line) || (has_code && !isSentence(line))) tokens.push({kind: 'code', text: line.trimEnd()})
      else scanLine(line, tokens)
      tokens.push({kind: 'break', text: '.'})
    }
    at = end + 1
  }
}

function isSentence(line: string): boolean {
  return /^[A-Z][a-z']* [\w']+ .*[.?!:]$/.test(line.trimEnd())
}

/** Signs that only code has. Its meaning hangs on each character, the spaces before it too. */
function isCode(line: string): boolean {
  const head = line.slice(0, 200)
  return (
    /[;{}]\s*$/.test(line.slice(-8)) ||
    /==|!=|=>|->|\+=|-=|&&|\|\||<\/|::|\w\(\w*\)|\w\[\w*\]/.test(line) ||
    /^\s*(?:def|class) \w+[:(]|^\s*(?:const|let|var|public|private|static) \w+ ?[=:(]/.test(head) ||
    /^\s*(?:(?:for|while|if|elif) .*:|(?:else|try):)$/.test(head.trimEnd()) ||
    /^\s*(?:import [\w.]+|from [\w.]+ import [\w., ]+)$/.test(head.trimEnd()) ||
    /^\s*select .* from \w+|^\s*insert into \w+|^\s*update \w+ set |^\s*delete from \w+/i.test(head)
  )
}

function scanLine(line: string, tokens: GateToken[]) {
  const unclosed = new Set<string>()
  let at = 0
  while (at < line.length) {
    const mark = line[at]!
    if (isSpace(line.charCodeAt(at))) {
      at++
      continue
    }
    const close = unclosed.has(mark) ? -1 : closeOf(line, at)
    if (close > at) {
      tokens.push({kind: 'quote', text: line.slice(at + 1, close)})
      at = close + 1
      continue
    }
    if (mark === '"' || mark === '`') {
      unclosed.add(mark)
      at++
      continue
    }
    let end = at
    while (end < line.length && !isSpace(line.charCodeAt(end)) && line[end] !== '"' && line[end] !== '`') end++
    addBlob(line.slice(at, end), at === 0 || tokens.at(-1)?.kind === 'break', tokens)
    at = end
  }
}

/** The end of a quotation that begins here; -1: none does. */
function closeOf(line: string, at: number): number {
  const mark = line[at]
  if (mark === '"' || mark === '`') {
    const close = line.indexOf(mark, at + 1)
    return close > at + 1 && close - at <= MAX_QUOTE ? close : -1
  }
  if (mark !== "'") return -1
  const last = Math.min(line.length, at + MAX_SINGLE_QUOTE)
  for (let close = at + 2; close < last; close++) {
    const is_end = close + 1 >= line.length || !/[\p{L}\p{N}]/u.test(line[close + 1]!)
    if (line[close] === mark && is_end) return close
  }
  return -1
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x2028 || code === 0x2029
}

/** A run without spaces: punctuation around it becomes breaks. */
function addBlob(blob: string, first: boolean, tokens: GateToken[]) {
  const stressed = blob.length > 2 && '*_'.includes(blob[0]!) && blob.endsWith(blob[0]!)
  let start = 0
  let end = blob.length
  while (start < end && ("([¿¡'".includes(blob[start]!) || (stressed && blob[start] === blob[0]))) start++
  const bare = blob.slice(start)
  const balanced = bare.includes('(') || bare.includes('[')
  let stop = ''
  while (end > start && (isTrailing(blob[end - 1]!, balanced) || (stressed && blob[end - 1] === blob[0]))) {
    const mark = blob[--end]!
    if ('.!?…'.includes(mark)) stop = '.'
    else if (',;:'.includes(mark) && stop === '') stop = ','
  }
  const core = blob.slice(start, end)
  if (core === '') {
    addMarks(blob, tokens)
    return
  }
  const counts = /\d|^\w$|[+*/^=]/.test(core)
  if (counts) for (const mark of blob.slice(0, start)) tokens.push({kind: 'symbol', text: mark})
  const abbreviated = addCore(core, first, tokens)
  if (counts && /[)!]/.test(blob.slice(end))) tokens.push({kind: 'symbol', text: blob.slice(end).replace(/[^)!]/g, '')})
  if (stop !== '' && !(stop === '.' && abbreviated)) tokens.push({kind: 'break', text: stop})
}

function isTrailing(mark: string, balanced: boolean): boolean {
  return MARKS.includes(mark) || mark === "'" || (!balanced && (mark === ')' || mark === ']'))
}

/** A run of marks alone: punctuation is a break, anything else is a sign that says something. */
function addMarks(blob: string, tokens: GateToken[]) {
  let punctuation = true
  let stop = false
  for (const mark of blob) {
    if (!`${MARKS}'*-_`.includes(mark)) punctuation = false
    if ('.!?…'.includes(mark)) stop = true
  }
  tokens.push(punctuation ? {kind: 'break', text: stop ? '.' : ','} : {kind: 'symbol', text: blob})
}
