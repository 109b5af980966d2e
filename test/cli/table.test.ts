import fc from 'fast-check'
import {expect, test} from 'vitest'
import {COLUMNS as CALLS} from '../../cli/commands/logs.ts'
import {pairLines, tableLines} from '../../cli/table.ts'
import {cut, pad, plain, width} from '../../cli/width.ts'

interface Row {
  readonly slug: string
  readonly name: string
  readonly count: number | null
}

const COLUMNS = [
  {title: 'slug', value: (row: Row) => row.slug, whole: true as const},
  {title: 'name', value: (row: Row) => row.name},
  {title: 'count', value: (row: Row) => row.count, align: 'right' as const},
]
const style = (_: string, text: string) => text

test.each([
  ['plain', 5],
  ['日本語', 6],
  ['한국', 4],
  ['e\u0301te\u0301', 3],
  ['👩‍💻', 2],
  ['🇫🇷', 2],
  ['Ｗide', 5],
  ['a\u200bb', 2],
  ['', 0],
])('%j takes %i columns', (text, columns) => {
  expect(width(text)).toBe(columns)
})

test('columns stand under one another whatever they hold, and nothing is a dash', () => {
  const rows = [
    {slug: 'ws-a', name: '日本語', count: 7},
    {slug: 'ws-long', name: 'plain', count: null},
  ]
  expect(tableLines(rows, COLUMNS, {columns: undefined, style})).toEqual([
    'SLUG     NAME    COUNT',
    'ws-a     日本語      7',
    'ws-long  plain       -',
  ])
})

test('on a narrow terminal the widest column is cut, and what is copied from it never', () => {
  const rows = [{slug: '0197f0a2-6d1e', name: 'a name of some length', count: 1}]
  expect(tableLines(rows, COLUMNS, {columns: 36, style})).toEqual([
    'SLUG           NAME            COUNT',
    '0197f0a2-6d1e  a name of som…      1',
  ])
  expect(tableLines(rows, COLUMNS, {columns: 28, style})[1]).toBe('0197f0a2-6d1e  a nam…      1')
  // a name is left out before the id is cut
  expect(tableLines(rows, COLUMNS, {columns: 24, style})[1]).toBe('0197f0a2-6d1e      1')
  expect(tableLines(rows, COLUMNS, {columns: 16, style})[1]).toBe('0197f0a2…      1')
})

test('what a name holds cannot move the cursor, turn the line or break it', () => {
  expect(plain('red\u001b[31m\u202eevil\u0007\nnext\ttab\u009b')).toBe('red\ufffd[31m\ufffdevil\ufffd next tab\ufffd')
  expect(tableLines([{slug: 'a\u001b[2J', name: 'b\r\nc', count: 0}], COLUMNS, {columns: undefined, style})[1]).toBe(
    'a\ufffd[2J  b c       0',
  )
})

test('names and values stand in two columns', () => {
  // biome-ignore format: a table
  expect(pairLines([['id', '1'], ['created_at', '2026']], style)).toEqual(['id          1', 'created_at  2026'])
})

test('a cut text never takes more room than it has, and a padded one exactly as much', () => {
  fc.assert(
    fc.property(fc.string({unit: 'grapheme', maxLength: 40}), fc.integer({min: 1, max: 40}), (text, room) => {
      const fitted = cut(plain(text), room)
      expect(width(fitted)).toBeLessThanOrEqual(room)
      expect(width(pad(fitted, room))).toBe(room)
    }),
  )
})

test('no line is wider than the terminal, whatever stands in it; of a call the numbers and its name stay longest', () => {
  const wide = [
    {title: 'time', value: () => '2026-03-04 05:06:07', whole: true as const},
    {title: 'id', value: (row: Row) => row.slug, whole: true as const},
    {title: 'status', value: () => 412, align: 'right' as const},
    {title: 'provider', value: (row: Row) => row.name, optional: 1},
    {title: 'model', value: (row: Row) => row.name},
    {title: 'tokens', value: (row: Row) => row.count, align: 'right' as const, optional: 2},
    {title: 'cost $', value: () => '0.000195', align: 'right' as const},
    {title: 'ms', value: (row: Row) => row.count, align: 'right' as const, optional: 3},
    {title: 'key', value: (row: Row) => row.name},
    {title: 'reason', value: (row: Row) => row.name},
  ]
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          slug: fc.string({unit: 'grapheme', maxLength: 60}),
          name: fc.string({unit: 'grapheme'}),
          count: fc.nat(),
        }),
        {
          minLength: 1,
        },
      ),
      fc.integer({min: 40, max: 200}),
      (rows, columns) => {
        for (const line of tableLines(rows, wide, {columns, style})) expect(width(line)).toBeLessThanOrEqual(columns)
      },
    ),
  )
  const rows = [{slug: '0197f0a2-6d1e-7c3b-9f0e-2b1f6a1c9d11', name: 'a name of some length', count: 15}]
  const [titles, line] = tableLines(rows, wide, {columns: 80, style})
  expect(titles).toMatch(/^TIME +ID +STATUS +COST \$$/)
  expect(line).toContain('0.000195')
  expect(tableLines(rows, wide, {columns: undefined, style})[1]).toContain(
    'a name of some length  0197f0a2'.slice(0, 21),
  )
})

const CALL = {
  id: '01a21414-b4c1-702b-9f0e-2b1f6a1c9d11',
  created_at: '2026-03-04T05:06:07.000Z',
  ai_org: 'openai',
  ai_model: 'gpt-4o-mini-2024-07-18',
  response_status_code: 200,
  total_units: 1234,
  cost: 0.0195,
  response_time: 812,
  api_key_id: 'k',
  api_key_name: 'support-app',
  error: null,
}
const REFUSED = {
  ...CALL,
  ...{id: '01a21414-b4c1-702c-8f0e-2b1f6a1c9d12', response_status_code: 429, cost: null, total_units: null},
  ...{error: 'The rate limit of 10 requests per minute of the key support-app is used up; it is free again in 12 s.'},
}

test.each([
  [
    80,
    [
      'TIME         ID                  STATUS  MODEL      TOKENS    COST $  KEY',
      '03-04 05:06  01a21414-b4c1-702b     200  gpt-4o-m…    1234  0.000195  support-a…',
      '03-04 05:06  01a21414-b4c1-702c     429  gpt-4o-m…       -         -  support-a…',
      '    The rate limit of 10 requests per minute of the key support-app is used up;',
      '    it is free again in 12 s.',
    ],
  ],
  [
    120,
    [
      'TIME         ID                  STATUS  PROVIDER  MODEL                   TOKENS    COST $   MS  KEY',
      '03-04 05:06  01a21414-b4c1-702b     200  openai    gpt-4o-mini-2024-07-18    1234  0.000195  812  support-app',
      '03-04 05:06  01a21414-b4c1-702c     429  openai    gpt-4o-mini-2024-07-18       -         -  812  support-app',
      '    The rate limit of 10 requests per minute of the key support-app is used up; it is free again in 12 s.',
    ],
  ],
])(
  'calls at %i columns: the id that the next command takes, the minute, tokens, cost, and the reason',
  (columns, lines) => {
    expect(tableLines([CALL, REFUSED], CALLS, {columns, style})).toEqual(lines)
  },
)
