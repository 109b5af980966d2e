import {readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {countBodyTokens, countTokens} from '../../../src/providers/openai/tokens.ts'

/** Texts and their tokens as the public o200k tokenizer counts them. */
const MEASURED: readonly {name: string; text: string; tokens: number}[] = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../fixtures/tokens.json'), 'utf8'),
)

describe('the tokenizer without a vocabulary', () => {
  test.each(MEASURED.map(each => [each.name, each] as const))(
    'is within a quarter of o200k on a short text: %s',
    (_, {text, tokens}) => {
      expect(Math.abs(countTokens(text) / tokens - 1)).toBeLessThan(0.25)
    },
  )

  test('is within five per cent over all of them', () => {
    const measured = MEASURED.reduce((sum, {tokens}) => sum + tokens, 0)
    const counted = MEASURED.reduce((sum, {text}) => sum + countTokens(text), 0)
    expect(Math.abs(counted / measured - 1)).toBeLessThan(0.05)
  })

  test('counts any text, and more of it as more', () => {
    fc.assert(
      fc.property(fc.string({unit: 'grapheme', maxLength: 200}), text => {
        const tokens = countTokens(text)
        expect(Number.isSafeInteger(tokens)).toBe(true)
        expect(tokens > 0).toBe(text.length > 0)
        expect(countTokens(`${text}\n${text}`)).toBeGreaterThanOrEqual(tokens)
      }),
    )
  })

  test('takes a very long text for more of the same', () => {
    expect(Math.abs(countTokens('noon '.repeat(1_000_000)) / 1_000_000 - 1)).toBeLessThan(0.1)
    expect(countTokens('')).toBe(0)
  })
})

describe('a body', () => {
  const body = (said: unknown, framed = true) => countBodyTokens(Buffer.from(JSON.stringify(said)), {framed})

  test('is counted by its text, not by its JSON; a message has a frame', () => {
    expect(body({model: 'gpt-4o', temperature: 0.5, messages: [{role: 'user', content: 'hi there'}]})).toBe(2 + 4)
    expect(body({prompt: 'hi there'})).toBe(2)
    expect(
      body({input: [{role: 'user', content: [{type: 'input_text', text: 'hi there'}]}], instructions: 'be brief'}),
    ).toBe(2 + 2)
    expect(body({system: 'be brief', messages: [{role: 'user', content: [{type: 'text', text: 'hi there'}]}]})).toBe(
      2 + 2 + 4,
    )
  })

  test('leaves out pictures, sound, addresses and ids', () => {
    const image = {type: 'image_url', image_url: {url: `data:image/png;base64,${'A'.repeat(10_000)}`, detail: 'high'}}
    const sound = {type: 'input_audio', input_audio: {data: 'A'.repeat(10_000)}}
    const far = {type: 'image_url', image_url: {url: 'https://example.com/a.png'}}
    expect(body({messages: [{role: 'user', content: [image, sound, far, {type: 'text', text: 'hi there'}]}]})).toBe(
      2 + 4,
    )
  })

  test('that holds tokens is counted by them', () => {
    expect(body({input: [1, 2, 3]})).toBe(3)
    expect(body({input: [[1, 2, 3], [4]]})).toBe(4)
  })

  test('of an answer is counted by what the model said', () => {
    const choices = [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'hi there',
          tool_calls: [{id: 'call_1', type: 'function', function: {name: 'look', arguments: '{}'}}],
        },
        finish_reason: 'stop',
      },
    ]
    expect(body({id: 'chatcmpl-1', model: 'gpt-4o', choices}, false)).toBe(2 + 1 + 1)
  })

  test.each([
    [
      "Gemini's",
      {contents: [{role: 'user', parts: [{text: 'hi there'}]}], systemInstruction: {parts: [{text: 'hi there'}]}},
      4,
    ],
    ["Titan's", {inputText: 'hi there'}, 2],
    ["Ollama's answer", {model: 'm', response: 'hi there', done: true, done_reason: 'stop'}, 2],
    ["Ollama's chat", {model: 'm', message: {role: 'assistant', content: 'hi there'}, done: true}, 2],
    [
      "Gemini's answer",
      {candidates: [{content: {parts: [{text: 'hi there'}], role: 'model'}, finishReason: 'STOP'}], modelVersion: 'm'},
      2,
    ],
    ["Cloudflare's answer", {result: {response: 'hi there'}, success: true}, 2],
    ["Cohere's answer", {id: 'g', generations: [{id: 'x', text: 'hi there', finish_reason: 'COMPLETE'}]}, 2],
  ])('in the words of a vendor is counted: %s', (_, said, tokens) => {
    expect(body(said, false)).toBe(tokens)
  })

  test('in words that nobody knows cannot be counted', () => {
    expect(body({poem: 'hi there'})).toBeNull()
    expect(body({prompt: ''})).toBe(0)
  })

  test('that is no JSON object cannot be counted', () => {
    for (const text of ['', '[', '[]', '7', 'null', '<html>'])
      expect(countBodyTokens(Buffer.from(text), {framed: true})).toBeNull()
  })

  test('nested deeper than anything is read is not counted', () => {
    let deep: unknown = 'hi there'
    for (let level = 0; level < 1000; level++) deep = [deep]
    expect(body({messages: deep})).toBeNull()
  })
})
