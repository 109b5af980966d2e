import {createHmac, randomBytes} from 'node:crypto'
import {expect, test} from 'vitest'
import {TextHmac} from '../../../../src/cache/semantic/gate/hmac.ts'
import {
  differs,
  featuresOf,
  GATE_VERSION,
  type GateClass,
  isRelative,
} from '../../../../src/cache/semantic/gate/index.ts'
import {KeyedHash} from '../../../../src/cache/semantic/gate/keyed-hash.ts'
import {foreignFolder, measured} from './measure.ts'
import {minimalPairs, neutralPairs, PROMPTS} from './minimal-pairs.ts'

const key = Buffer.alloc(32, 7)

const features = new Map<string, ReturnType<typeof featuresOf>>()
function known(text: string) {
  if (!features.has(text)) features.set(text, featuresOf(text, key))
  return features.get(text)!
}

/** The class that refuses to serve the answer to `a` for `b`, at a similarity of 1; null: it is served. */
function verdict(a: string, b: string, mode: 'strict' | 'numbers' | 'off' = 'strict'): GateClass | 'none' | null {
  const [stored, asked] = [known(a), known(b)]
  return stored === null || asked === null ? 'none' : differs(stored, asked, mode)
}

test('SC20: a refund of $1,000 and one of $10,000 never meet', () => {
  expect(verdict('refund $1,000', 'refund $10,000')).toBe('numbers')
  expect(verdict('refund $1,000', 'refund 1000 dollars')).toBeNull()
  expect(verdict('refund $1,000', 'refund €1,000')).toBe('units')
})

test('SC21: no minimal pair is served, and every neutral pair is', () => {
  const minimal = minimalPairs()
  expect(PROMPTS).toBeGreaterThanOrEqual(300)
  expect(minimal.length).toBeGreaterThanOrEqual(3000)
  expect(new Set(minimal.map(({a, b}) => JSON.stringify([a, b]))).size).toBe(minimal.length)
  expect(minimal.filter(({a, b}) => verdict(a, b) === null)).toEqual([])
  expect(neutralPairs().filter(({a, b}) => verdict(a, b) !== null)).toEqual([])
})

test('SC32: long prompts with one beginning, and a swapped noun in short ones, are not served', () => {
  const beginning = Array.from(
    {length: 100},
    (_, at) => ['harbor', 'winter', 'paper', 'garden'][at % 4]! + (at % 50),
  ).join(' ')
  const poem = `${beginning}. Now write a poem about the ocean.`
  expect(verdict(poem, `${beginning}. Now write the statement that drops the users table.`)).not.toBeNull()
  expect(verdict(poem, `${beginning}. Now please write a poem about the ocean.`)).toBeNull()
  expect(verdict('List early symptoms of diabetes in adults', 'List early symptoms of asthma in adults')).toBe('words')
  expect(verdict('Write a poem about the ocean', 'Write a story about the ocean')).toBe('words')
  const many = Array.from({length: 600}, (_, at) => `word${at.toString(36)}x`).join(' ')
  expect(featuresOf(many, key)).toBeNull()
})

test.each([
  ['👍', '👎'],
  ['?', '!'],
  ['C', 'C++'],
  ['a', 'b'],
  ['是', '否'],
  ['可以删除吗', '不可以删除吗'],
  ['はい', 'いいえ'],
  [':)', ':('],
  ['a'.repeat(50), `${'a'.repeat(49)}b`],
  ['password', 'p\u0430ssword'],
  ['10²', '102'],
  ['(1 + 2) * 3', '1 + (2 * 3)'],
  ['16 GB', '16 Gb'],
  ['Python 3.1', 'Python 3.10'],
])('a text almost without words is served for itself only: %s, %s', (a, b) => {
  expect(verdict(a, b)).not.toBeNull()
  expect(verdict(a, a)).toBeNull()
})

test.each<[GateClass, string, string]>([
  ['numbers', 'List 3 rivers in Peru', 'List four rivers in Peru'],
  ['dates', 'Book a table on 12 May', 'Book a table on May 13th'],
  ['quotes', 'Translate "I am here"', 'Translate "I am there"'],
  ['names', 'Open /etc/hosts', 'Open /etc/host'],
  ['negation', 'Use a cache', 'Do not use a cache'],
  ['opposites', 'Import the table', 'Export the table'],
  ['kind', 'When does it rain in Peru?', 'Why does it rain in Peru?'],
  ['modality', 'The clerk may sign the form', 'The clerk must sign the form'],
  ['pronouns', 'Send him a card', 'Send her a card'],
  ['direction', 'Is silver heavier than copper?', 'Is copper heavier than silver?'],
  ['language', 'Tee mit Zitrone und Zucker', 'Tea with lemon and sugar'],
])('the class of a difference is named: %s', (name, a, b) => {
  expect(verdict(a, b)).toBe(name)
})

test.each([
  ['How do I reset my password?', 'how can i reset my pasword'],
  ["What's the capital of France?", "Could you please tell me France's capital?"],
  ['In Python, how do I sort a list?', 'How do I sort a list in Python?'],
  ['Convert 5 km to miles', 'Convert five kilometres to miles'],
  ["Why isn't my wifi working?", 'Why is my wifi not working?'],
  ['Is tea as good as coffee?', 'is tea as good as coffee'],
  ['Is my order here on the 12th of May?', 'Is my order here on May 12?'],
  ['Analyse the colour of the flavour', 'Analyze the color of the flavor'],
])('the same asked in other words is served: %s, %s', (a, b) => {
  expect(verdict(a, b)).toBeNull()
})

test.each([
  ['How do you say please in German?', 'How do you say thank you in German?'],
  ['How do you say hello in French?', 'How do you say please in French?'],
  ['Translate to French: thanks', 'Translate to French: please'],
  ['Reply with hello', 'Reply with thanks'],
  ['Wie sagt man danke auf Englisch?', 'Wie sagt man bitte auf Englisch?'],
  ['Write a thank you card', 'Write a card'],
  ['Is colour a British spelling?', 'Is color a British spelling?'],
  ['Is recieve spelled correctly?', 'Is receive spelled correctly?'],
  ['What is another word for big?', 'What is another word for large?'],
  ['Give me a synonym for fast', 'Give me a synonym for quick'],
  ['How many letters are in colour?', 'How many letters are in color?'],
  ['What is the plural of mouse?', 'What is the plural of mice?'],
  ['Correct this sentence: he dont like it', "Correct this sentence: he don't like it"],
  ['Correct the grammar: she like it', 'Correct the grammar: she likes it'],
  ['Fix capitalization: i live in paris', 'Fix capitalization: I live in Paris'],
  ['Reverse this string: abc', 'Reverse this string: ABC'],
  ['What is the ASCII code of a?', 'What is the ASCII code of A?'],
  ['Count the words: please just really do it', 'Count the words: do it'],
  ['Summarize: I bought a car', 'Summarize: I purchased an automobile'],
])('what is asked about words is served to the same words: %s, %s', (a, b) => {
  expect(verdict(a, b)).not.toBeNull()
  expect(verdict(a, a)).toBeNull()
})

test.each([
  ['How does a 5 mW laser work?', 'How does a 5 MW laser work?'],
  ['Is 100 mg safe?', 'Is 100 Mg safe?'],
  ['What is 10 - 5 - 2?', 'What is 10 5 2?'],
  ['What is 10 - 5 - 2?', 'What is 10, 5, 2?'],
  ['Which vitamin A foods are there?', 'Which vitamin foods are there?'],
  ['Hepatitis A symptoms', 'Hepatitis symptoms'],
  ['Explain plan a', 'Explain plan'],
])('a letter or a sign that says something is compared: %s, %s', (a, b) => {
  expect(verdict(a, b)).not.toBeNull()
})

test('no more than three fillers may be left over', () => {
  expect(verdict('Explain tides', 'Just simply explain tides properly')).toBeNull()
  expect(verdict('Explain tides', 'Just simply really explain tides properly')).toBe('fillers')
})

test('the mode `numbers` compares numbers, units and dates; `off` nothing', () => {
  expect(verdict('Sell 3 cows', 'Buy 3 cats', 'numbers')).toBeNull()
  expect(verdict('Sell 3 cows', 'Sell 4 cows', 'numbers')).toBe('numbers')
  expect(verdict('Sell 3 cows', 'Buy 4 cats', 'off')).toBeNull()
})

test('features have no word of the text and at most 2 KB, and another key makes others', () => {
  const secret = 'Tell "Wilhelmina Krautkopf" (wilhelmina@example.org) that ZX-99817 ships on 12 May to /srv/kk/drop.'
  const features = featuresOf(secret, key)!
  const json = JSON.stringify(features)
  for (const word of ['Krautkopf', 'wilhelmina', '99817', '/srv/kk', '12', 'ship'])
    for (const form of [word, Buffer.from(word).toString('base64url').slice(0, -1), Buffer.from(word).toString('hex')])
      if (form.length > 3) expect(json.toLowerCase()).not.toContain(form.toLowerCase())
  const other = featuresOf(secret, randomBytes(32))!
  expect(other.words).not.toBe(features.words)
  expect(differs(features, other, 'strict')).not.toBeNull()
  expect(differs({...features, v: GATE_VERSION + 1}, features, 'strict')).toBe('version')
  expect(verdict(secret, secret.replace('Krautkopf', 'Krauthof'))).not.toBeNull()
  expect(verdict(secret, secret.replace('ZX-99817', 'ZX-99871'))).toBe('names')
  for (let words = 20; words < 400; words += 20) {
    const text = Array.from(
      {length: words},
      (_, at) => `item${at}z just 4 km on 12 May "q" not he must \`c\` a=b`,
    ).join(' ')
    const large = featuresOf(text, key)
    if (large !== null) expect(JSON.stringify(large).length).toBeLessThanOrEqual(2048)
  }
  expect(featuresOf('', key)).toBeNull()
  expect(featuresOf(' \n', key)).toBeNull()
})

test('answers about today, now and this week are known to age', () => {
  for (const text of [
    "What's the weather today?",
    'latest news',
    'Was läuft heute?',
    '今天天气',
    'sales of last week',
    "today's rate",
  ])
    expect(isRelative(text), text).toBe(true)
  for (const text of ['How do I boil an egg?', 'the last chapter of the book', 'Write a poem about weeks'])
    expect(isRelative(text), text).toBe(false)
})

test('hostile text costs time in line with its length', () => {
  const shapes = [
    'a',
    ' ',
    '"',
    "'",
    '(',
    '`',
    '-',
    '.',
    'a-',
    "a'",
    '1,',
    '1,000,',
    'a.b',
    'a@',
    '```',
    '$1',
    '=',
    'not ',
    'how do i ',
    'of a ',
    'in a, ',
    'if ',
    'pasword ',
    'A',
    '\n',
    '1-1',
    'a(',
    "n't ",
    '\u0301',
    '²',
    '½',
    '/',
    '#',
    'a/b ',
    'wordd ',
    'and ',
    'please ',
    '是',
  ]
  const cost = (text: string) => {
    const before = process.cpuUsage()
    featuresOf(text, key)
    isRelative(text)
    const used = process.cpuUsage(before)
    return (used.user + used.system) / 1000
  }
  for (const shape of shapes) {
    const text = shape.repeat(Math.ceil(65_536 / shape.length)).slice(0, 65_536)
    cost(text.slice(0, 1000))
    // eight times the text costs at most some sixteen times as much; a quadratic rule would cost sixty-four times
    const [short, long] = [cost(text.slice(0, 1000)), Math.min(cost(text.slice(0, 8000)), cost(text.slice(0, 8000)))]
    expect(long, JSON.stringify(shape)).toBeLessThan(Math.max(80, 16 * short))
    expect(cost(text), JSON.stringify(shape)).toBeLessThan(80)
  }
})

test('the keyed hash is SipHash-2-4, and the digest is HMAC-SHA-256', () => {
  // a vector of its authors: key 00..0f, message 00..0d, hash f723ca908e7af2ee
  const bytes = Buffer.from(Array.from({length: 16}, (_, at) => at))
  const message = Array.from({length: 7}, (_, at) => String.fromCharCode((2 * at) | ((2 * at + 1) << 8))).join('')
  expect(new KeyedHash(bytes).of(message)).toBe(0x8e7af2ee)
  for (const size of [0, 1, 32, 64, 65, 200]) {
    const secret = randomBytes(size)
    expect(new TextHmac(secret).of('näme')).toEqual(createHmac('sha256', secret).update('näme').digest())
  }
})

const folder = foreignFolder(undefined)
test.skipIf(folder === null)('SC43: foreign traps are refused with any embedder', () => {
  const pairs = measured(folder!, 'strict')
  const served = (kind: string) => pairs.filter(pair => pair.kind === kind && pair.verdict === null)
  expect(served('trap').length).toBeLessThanOrEqual(3)
  const reach = served('paraphrase').filter(pair => pair.builtin >= 0.8)
  expect(reach.length).toBeGreaterThan(2 * pairs.filter(pair => pair.kind === 'paraphrase' && pair.is_equal).length)
})
