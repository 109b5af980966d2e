import {expect, test} from 'vitest'
import {agree, answerDigests, isSameAnswer} from '../../../src/cache/semantic/agreement.ts'

const chat = (content: unknown, more: object = {}) => ({
  id: 'c',
  choices: [{index: 0, finish_reason: 'stop', message: {role: 'assistant', content}}],
  ...more,
})
const kept = (answer: object) => Buffer.from(JSON.stringify(answer))

test.each([
  ['another id and usage', chat('Paris.'), chat('Paris.', {id: 'd', usage: {total_tokens: 9}})],
  ['case and blanks', chat('Paris  is\nthe capital.'), chat(' paris is the CAPITAL. ')],
  ['text in blocks', chat('Paris.'), chat([{type: 'text', text: 'Paris.'}])],
  ['members in another order', chat('{"a": 1, "b": [2]}'), chat('{ "b":[2], "a":1 }')],
  ['another dialect', chat('Paris.'), {content: [{type: 'text', text: 'Paris.'}]}],
  ['the Responses API', chat('Paris.'), {output: [{content: [{type: 'output_text', text: 'Paris.'}]}]}],
  ['a completion', {choices: [{text: 'Paris.'}]}, chat('Paris.')],
])('answers agree apart from %s', (_, one, other) => expect(isSameAnswer(kept(one), other)).toBe(true))

test.each([
  ['other words', chat('Paris.'), chat('It is Paris.')],
  ['another number in JSON', chat('{"a": 1}'), chat('{"a": 1.0}')],
  ['one choice of two', chat('Paris.'), {choices: [...chat('Paris.').choices, ...chat('Paris.').choices]}],
  ['no text', chat(null), chat(null)],
  ['no JSON', chat('Paris.'), 'Paris.'],
])('with %s nobody knows', (_, one, other) => expect(isSameAnswer(kept(one), other)).toBe(false))

test('digests say nothing of the text, and two texts never share one', () => {
  const [one, other] = [answerDigests(chat('{"a": 1}'))!, answerDigests(chat('{"a": 2}'))!]
  expect([one.text, one.json]).toEqual([
    expect.stringMatching(/^[0-9a-f]{64}$/),
    expect.stringMatching(/^[0-9a-f]{64}$/),
  ])
  expect([agree(one, one), agree(one, other)]).toEqual([true, false])
  expect(answerDigests(chat('plain'))!.json).toBeNull()
})
