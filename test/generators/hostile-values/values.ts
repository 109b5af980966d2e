import {createHash} from 'node:crypto'

/** A value that a client may send: its JSON, and its text where a place holds no JSON. */
export interface HostileValue {
  readonly name: string
  readonly json: string
  readonly text: string
}

const MB = 1_048_576

const texts: Readonly<Record<string, string>> = {
  NUL: '\0',
  'NUL inside': 'a\0b',
  'first half of a pair': 'a\ud83d',
  'second half of a pair': '\ude00b',
  'halves the wrong way round': '\ude00\ud83d',
  'a megabyte': 'm'.repeat(MB),
  'a megabyte in two-byte letters': 'é'.repeat(MB / 2),
  // no two bytes of it are alike enough for an index to compress it
  '3,000 random characters': Array.from({length: 47}, (_, n) => createHash('sha256').update(`${n}`).digest('hex')).join(
    '',
  ),
  '1,025 bytes': `${'é'.repeat(512)}x`,
  '129 bytes': 'y'.repeat(129),
  'right to left': '\u202e\u05d0\u05d1\u0627\u0644\u202c\u2066\u200f',
  'stacked marks': `a${'\u0301'.repeat(400)}`,
  ['__proto__']: '__proto__', // in brackets a key like others
  constructor: 'constructor',
  'a hash': `sha256:${createHash('sha256').update('a\0b').digest('hex')}`,
  'quotes and escapes': `'"; drop table logs; -- \\u0000 \\ {{x}} %00 %s $1`,
  'control characters': 'a\r\nb\t\u0007\u001b[31m\u2028',
}

const numbers = ['9007199254740993', '9223372036854775808', '-1e308']

export const VALUES: readonly HostileValue[] = [
  ...Object.entries(texts).map(([name, text]) => ({name, json: JSON.stringify(text), text})),
  ...numbers.map(number => ({name: number, json: number, text: number})),
]

/** Those that once stopped a store, for a run that has little time. */
export const FEW = VALUES.filter(({name}) =>
  [
    'NUL inside',
    'first half of a pair',
    'a megabyte',
    '3,000 random characters',
    '__proto__',
    '9223372036854775808',
  ].includes(name),
)
