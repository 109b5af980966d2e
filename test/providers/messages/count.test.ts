import {expect, test} from 'vitest'
import {countTokens} from '../../../src/providers/messages/index.ts'
import type {Json} from '../../../src/providers/translation.ts'

const user = (content: unknown) => ({model: 'm', messages: [{role: 'user', content}]})

test.each<[name: string, asked: Json, input_tokens: number]>([
  ['four bytes of text a token, four tokens a message', user('a'.repeat(40)), 14],
  ['text in blocks like text', user([{type: 'text', text: 'a'.repeat(40)}]), 14],
  ['the system like a message’s text', {...user('a'.repeat(40)), system: [{type: 'text', text: 'b'.repeat(40)}]}, 24],
  ['bytes, not characters', user('é'.repeat(20)), 14],
  [
    'a picture as a picture, however long',
    user([{type: 'image', source: {type: 'base64', media_type: 'image/png', data: 'A'.repeat(9999)}}]),
    1604,
  ],
  [
    'two pages of a document',
    user([{type: 'document', source: {type: 'base64', media_type: 'application/pdf', data: 'A'.repeat(100_000)}}]),
    4604,
  ],
  [
    'a document of text as text',
    user([{type: 'document', source: {type: 'text', media_type: 'text/plain', data: 'a'.repeat(40)}}]),
    14,
  ],
  ['a tool’s schema as JSON', {...user('a'), tools: [{name: 'name', input_schema: {type: 'object'}}]}, 14],
  ['a call’s input as JSON', user([{type: 'tool_use', id: 'x', name: 'name', input: {a: 1}}]), 7],
  ['nothing', {}, 0],
])('an estimate counts %s', (_, asked, input_tokens) => {
  expect(countTokens(asked)).toEqual({input_tokens})
})
