import {isAscii} from 'node:buffer'
import {readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {promptTokens} from '../../../src/providers/media/prompt.ts'
import {sizeOf} from '../../../src/providers/media/size.ts'
import {forRing, generated, seed} from '../../support/ring.ts'
import {FORMATS} from './pictures.ts'

/** Texts and their tokens as the public o200k tokenizer counts them. */
const MEASURED: readonly {name: string; text: string; tokens: number}[] = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../fixtures/tokens.json'), 'utf8'),
)
/** Code is ASCII but for a sign or two. */
const WIDE = MEASURED.filter(({name, text}) => name !== 'code' && !isAscii(Buffer.from(text)))

/** A request that says a text, or shows a medium, in the words of each kind of client. */
const DIALECTS: Readonly<Record<string, (text: string) => object>> = {
  chat: text => ({model: 'm', messages: [{role: 'user', content: text}]}),
  'chat in parts': text => ({messages: [{role: 'user', content: [{type: 'text', text}]}], tools: []}),
  Messages: text => ({system: 'Be brief.', messages: [{role: 'user', content: [{type: 'text', text}]}], max_tokens: 9}),
  Responses: text => ({instructions: 'Be brief.', input: [{role: 'user', content: [{type: 'input_text', text}]}]}),
  Gemini: text => ({contents: [{role: 'user', parts: [{text}]}]}),
  Converse: text => ({messages: [{role: 'user', content: [{text}]}]}),
}
const ENCODINGS: Readonly<Record<string, (json: string) => string>> = {
  'as it is': json => json,
  escaped: json => json.replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
}
const wideOf = (text: string) => Buffer.from(text).filter(byte => byte >= 0x80).length
const total = (body: Buffer, provider = 'openai', model = 'gpt-4o') => {
  const {text, images, sound} = promptTokens(body, provider, model)
  return text + images + sound
}

describe('text that is not ASCII is held for at no less than any tokenizer makes of it', () => {
  const said = Object.entries(DIALECTS)
  const written = Object.entries(ENCODINGS)
  generated('held scripts', WIDE.length * said.length * written.length)
  for (const [dialect, body] of said) {
    test.each(written)(`${dialect}, %s`, (_, encode) => {
      for (const {name, text, tokens} of WIDE) {
        const held = total(Buffer.from(encode(JSON.stringify(body(text)))))
        const wide = wideOf(text)
        expect(held, name).toBeGreaterThanOrEqual(tokens)
        // a byte is the least that a tokenizer of bytes knows
        expect(held, name).toBeGreaterThanOrEqual(wide)
      }
    })
  }

  test('whatever it is, in either writing alike', () => {
    const runs = forRing({own: 300, ci: 3000, full: 30_000})
    generated('held text', runs)
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.oneof(fc.constantFrom('界', 'ж', '🙂', '\u0301', ' ', '"', '\\', '\n'), fc.string({unit: 'binary'})),
          maxLength: 80,
        }),
        text => {
          const wide = wideOf(text.toWellFormed())
          for (const encode of Object.values(ENCODINGS)) {
            const body = Buffer.from(encode(JSON.stringify(DIALECTS.chat!(text.toWellFormed()))))
            expect(total(body)).toBeGreaterThanOrEqual(wide)
            expect(total(body)).toBeLessThanOrEqual(body.length)
          }
        },
      ),
      {seed: seed(), numRuns: runs},
    )
  })
})

describe('the size of a picture', () => {
  test.each(Object.entries(FORMATS))('is read from the head of a %s', (_, make) => {
    for (const [width, height] of [
      [1, 1],
      [640, 480],
      [4032, 3024],
      [16_383, 2],
    ] as const)
      expect(sizeOf(make(width, height))).toEqual({width, height})
  })

  test('is nothing where the head is cut off, or is none: never an error', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(FORMATS)),
        fc.nat(60),
        fc.uint8Array({maxLength: 40}),
        (make, cut, noise) => {
          const size = sizeOf(make(300, 200).subarray(0, cut))
          if (size) expect(size).toEqual({width: 300, height: 200})
          sizeOf(Buffer.from(noise))
          sizeOf(Buffer.concat([make(300, 200).subarray(0, 12), noise]))
        },
      ),
      {seed: seed(), numRuns: forRing({own: 300, ci: 2000, full: 20_000})},
    )
  })
})

interface Picture {
  readonly base64: string
  readonly detail: string | null
}

/** A request with a picture, as clients send one. */
const CARRIERS: Readonly<Record<string, (picture: Picture) => string>> = {
  chat: ({base64, detail}) =>
    JSON.stringify({
      messages: [
        {
          role: 'user',
          content: [{type: 'image_url', image_url: {url: `data:image/png;base64,${base64}`, ...(detail && {detail})}}],
        },
      ],
    }),
  'chat, its detail before it': ({base64, detail}) =>
    JSON.stringify({
      messages: [
        {
          role: 'user',
          content: [{image_url: {...(detail && {detail}), url: `data:image/png;base64,${base64}`}, type: 'image_url'}],
        },
      ],
    }),
  'chat, slashes escaped': picture => CARRIERS.chat!(picture).replaceAll('/', '\\/'),
  Responses: ({base64, detail}) =>
    JSON.stringify({
      input: [
        {
          role: 'user',
          content: [{type: 'input_image', image_url: `data:image/png;base64,${base64}`, ...(detail && {detail})}],
        },
      ],
    }),
  Messages: ({base64}) =>
    JSON.stringify({
      messages: [
        {role: 'user', content: [{type: 'image', source: {type: 'base64', media_type: 'image/png', data: base64}}]},
      ],
    }),
  Gemini: ({base64}) => JSON.stringify({contents: [{parts: [{inlineData: {mimeType: 'image/png', data: base64}}]}]}),
  Converse: ({base64}) =>
    JSON.stringify({messages: [{role: 'user', content: [{image: {format: 'png', source: {bytes: base64}}}]}]}),
}

/** What providers say a picture comes to, written apart from the code under test. */
const RULES: readonly {
  provider: string
  model: string
  tokens: (width: number, height: number, detail: string | null) => number
}[] = [
  ...(
    [
      ['gpt-4o', 85, 170],
      ['gpt-4o-mini', 2833, 5667],
      ['gpt-4.1', 85, 170],
      ['o1', 75, 150],
      ['gpt-5', 70, 140],
    ] as const
  ).map(([model, base, tile]) => ({
    provider: 'openai',
    model,
    tokens: (width: number, height: number, detail: string | null) =>
      detail === 'low' ? base : base + tile * tiled(width, height),
  })),
  ...(
    [
      ['gpt-4.1-mini', 1.62],
      ['gpt-5-nano', 2.46],
      ['o4-mini', 1.72],
    ] as const
  ).map(([model, each]) => ({
    provider: 'openai',
    model,
    tokens: (width: number, height: number, detail: string | null) => {
      const scale = detail === 'low' ? Math.min(1, 512 / Math.max(width, height)) : 1
      return Math.floor(Math.min(1536, Math.ceil((width * scale) / 32) * Math.ceil((height * scale) / 32)) * each)
    },
  })),
  {provider: 'anthropic', model: 'claude-sonnet-4-5', tokens: claude},
  {provider: 'bedrock', model: 'global.anthropic.claude-haiku-4-5-20251001-v1:0', tokens: claude},
  {provider: 'vertex-ai', model: 'claude-sonnet-4-5@20250929', tokens: claude},
  {
    provider: 'google',
    model: 'gemini-2.5-flash',
    tokens: (width, height) =>
      width <= 384 && height <= 384 ? 258 : 258 * Math.min(16, Math.ceil(width / 768) * Math.ceil(height / 768)),
  },
  {provider: 'google', model: 'gemini-3-pro-preview', tokens: () => 1120},
]

function tiled(width: number, height: number): number {
  const longest = Math.max(width, height)
  const [w, h] = longest > 2048 ? [(width * 2048) / longest, (height * 2048) / longest] : [width, height]
  const shortest = Math.min(w, h)
  const [a, b] = shortest > 768 ? [(w * 768) / shortest, (h * 768) / shortest] : [w, h]
  return Math.ceil(a / 512) * Math.ceil(b / 512)
}

function claude(width: number, height: number): number {
  const scale = Math.min(1, 1568 / Math.max(width, height))
  return Math.min(1640, Math.floor((width * scale * height * scale) / 750))
}

const SIZES = [
  [1, 1],
  [200, 200],
  [512, 512],
  [1092, 1092],
  [1000, 3000],
  [2048, 4096],
  [4032, 3024],
  [8000, 100],
] as const
const DETAILS = forRing<readonly (string | null)[]>({
  own: [null, 'low'],
  ci: [null, 'auto', 'low', 'high'],
  full: [null, 'auto', 'low', 'high'],
})

describe('a picture is held for at no less than its provider counts', () => {
  const formats = Object.entries(FORMATS)
  const sizes = forRing<readonly (readonly [number, number])[]>({
    own: SIZES.filter((_, at) => at % 3 === 0),
    ci: SIZES,
    full: SIZES,
  })
  generated(
    'held pictures',
    RULES.length * Object.keys(CARRIERS).length * formats.length * sizes.length * DETAILS.length,
  )

  for (const {provider, model, tokens} of RULES) {
    test.each(Object.entries(CARRIERS))(`${provider} ${model}: %s`, (name, carry) => {
      const takes_detail = name.startsWith('chat') || name === 'Responses'
      for (const [format, make] of formats) {
        for (const [width, height] of sizes) {
          for (const detail of DETAILS) {
            const file = Buffer.concat([make(width, height), Buffer.alloc(5000, 7)])
            const body = Buffer.from(carry({base64: file.toString('base64'), detail}))
            const {text, images} = promptTokens(body, provider, model)
            const least = tokens(width, height, takes_detail ? detail : null)
            expect(images, `${format} ${width}x${height} ${detail}`).toBeGreaterThanOrEqual(least)
            expect(text, 'the file itself is no text').toBeLessThan(100)
          }
        }
      }
    })
  }
})

test('a picture whose head does not tell its size is held for as the largest', () => {
  for (const {provider, model, tokens} of RULES) {
    const {images} = promptTokens(Buffer.from(CARRIERS.chat!({base64: 'A'.repeat(600), detail: null})), provider, model)
    for (const [width, height] of SIZES)
      expect(images, model).toBeGreaterThanOrEqual(Math.min(tokens(width, height, null), tokens(2048, 4096, null)))
  }
})

describe('what is only named is held for as the largest', () => {
  const named: readonly (readonly [string, object])[] = [
    [
      'a picture in chat',
      {messages: [{content: [{type: 'image_url', image_url: {url: 'https://example.com/a.png'}}]}]},
    ],
    ['a picture in Responses', {input: [{content: [{type: 'input_image', image_url: 'https://example.com/a.png'}]}]}],
    ['a picture by its id', {input: [{content: [{type: 'input_image', file_id: 'file-1'}]}]}],
    [
      'a picture in Messages',
      {messages: [{content: [{type: 'image', source: {type: 'url', url: 'https://example.com/a.png'}}]}]},
    ],
    ['a file in Messages', {messages: [{content: [{type: 'document', source: {type: 'file', file_id: 'file_1'}}]}]}],
    ['a file for Gemini', {contents: [{parts: [{fileData: {mimeType: 'image/png', fileUri: 'gs://bucket/a.png'}}]}]}],
  ]
  generated('held names', named.length * RULES.length)
  test.each(named)('%s', (_, body) => {
    for (const {provider, model, tokens} of RULES) {
      const largest = Math.max(
        ...SIZES.filter(([width]) => width > 1).map(([width, height]) => tokens(width, height, 'high')),
      )
      expect(promptTokens(Buffer.from(JSON.stringify(body)), provider, model).images, model).toBeGreaterThanOrEqual(
        largest,
      )
    }
  })

  test('words of a text that name a picture are text', () => {
    const body = {
      messages: [{role: 'user', content: 'What is {"image_url": {"url": "https://example.com"}} and "file_id"?'}],
    }
    expect(promptTokens(Buffer.from(JSON.stringify(body)), 'openai', 'gpt-4o').images).toBe(0)
  })
})

describe('files and sound', () => {
  test('a document is held for by what its bytes may hold, no more than the most pages', () => {
    const of = (bytes: number) => {
      const data = Buffer.concat([Buffer.from('%PDF-1.7'), Buffer.alloc(bytes)]).toString('base64')
      const body = {
        messages: [{content: [{type: 'document', source: {type: 'base64', media_type: 'application/pdf', data}}]}],
      }
      return promptTokens(Buffer.from(JSON.stringify(body)), 'anthropic', 'claude-sonnet-4-5').images
    }
    expect(of(2000)).toBeGreaterThanOrEqual(2 * 3000)
    expect(of(2_000_000)).toBe(100 * 4700)
  })

  test('sound is held for by the second', () => {
    const data = Buffer.concat([Buffer.from('RIFF....WAVEfmt '), Buffer.alloc(40_000)]).toString('base64')
    const body = {messages: [{content: [{type: 'input_audio', input_audio: {data, format: 'wav'}}]}]}
    expect(promptTokens(Buffer.from(JSON.stringify(body)), 'openai', 'gpt-audio').sound).toBeGreaterThanOrEqual(10 * 10)
  })
})

describe('any bytes are gone over', () => {
  test('however they are nested, cut off or wrong', () => {
    fc.assert(
      fc.property(fc.json({maxDepth: 6}), fc.nat(), fc.string({maxLength: 10}), (json, cut, noise) => {
        const body = Buffer.from(`{"data":${json},"x":"\\ud83d\\u4e2d${noise}`)
        expect(total(body.subarray(0, cut % (body.length + 1)))).toBeGreaterThanOrEqual(0)
      }),
      {seed: seed()},
    )
    expect(total(Buffer.from(`{"data":1,"é":${'{"a":'.repeat(100_000)}`))).toBeGreaterThan(0)
  })
})

describe('a body made to be held for too little, or to take long', () => {
  const PROSE = 'Tell me all that you know of Kyoto. '.repeat(11_000)

  test.each([
    ['the content of a message', (text: string) => ({messages: [{role: 'user', content: text}], data: 'x'})],
    ['a part of text', (text: string) => ({messages: [{role: 'user', content: [{type: 'text', text}]}]})],
    [
      'where a picture stands',
      (text: string) => ({messages: [{content: [{type: 'image_url', image_url: {url: text}}]}]}),
    ],
    ['where a file stands', (text: string) => ({messages: [{content: [{type: 'file', file: {file_data: text}}]}]})],
  ])('prose that begins like a data URL is text: %s', (_, body) => {
    for (const begin of ['data:image/png;base64,', 'data:audio/wav;base64,', 'data:application/pdf;base64,', '']) {
      const {text} = promptTokens(Buffer.from(JSON.stringify(body(begin + PROSE))), 'openai', 'gpt-4o')
      expect(text, begin).toBeGreaterThanOrEqual(PROSE.length / 4)
    }
  })

  test('prose behind the head of a real picture is text where text stands', () => {
    const text = `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB${PROSE}`
    for (const content of [text, [{type: 'text', text}]])
      expect(total(Buffer.from(JSON.stringify({messages: [{role: 'user', content}]})))).toBeGreaterThanOrEqual(
        PROSE.length / 4,
      )
  })

  test.each([
    ['names of files', `{"messages":[1],"file_id":[${'"a",'.repeat(100_000)}"a"]}`],
    ['words on their detail', `{"file_id":[${'"a",'.repeat(10_000)}"a"],${'"detail":"low",'.repeat(50_000)}"a":1}`],
  ])('many %s take no longer than their bytes do', (_, body) => {
    const began = performance.now()
    expect(total(Buffer.from(body))).toBeGreaterThan(0)
    expect(performance.now() - began).toBeLessThan(1000)
  })

  test('none of many names of files is free', () => {
    const of = (names: number) => total(Buffer.from(JSON.stringify({file_id: Array.from({length: names}, () => 'a')})))
    expect(of(30_000)).toBeGreaterThanOrEqual(3 * (of(10_000) - of(0)))
  })
})

test('prose for Claude is held for at no less than a token for 3.5 bytes, and a third more since Opus 4.7', () => {
  const text = 'word '.repeat(8000)
  const body = Buffer.from(JSON.stringify({messages: [{role: 'user', content: text}]}))
  const held = (model: string) => promptTokens(body, 'anthropic', model).text
  expect(held('claude-sonnet-4-5')).toBeGreaterThanOrEqual(text.length / 3.5)
  expect(held('claude-opus-4-7')).toBeGreaterThanOrEqual((text.length / 3.5) * 1.35)
  expect(promptTokens(body, 'openai', 'gpt-4o').text).toBeLessThan(text.length / 4)
})
