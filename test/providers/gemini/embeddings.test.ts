import {expect, test} from 'vitest'
import {gemini, geminiOnVertex} from '../../../src/providers/gemini/index.ts'
import {InvalidResponseFault} from '../../../src/providers/translation.ts'
import {casesOf, contextOf, counted} from './fixtures.ts'

test.each(casesOf('embed'))('$name', ({asked, context, dialect, sent, said, answer}) => {
  const translation = dialect.endpoints.embed!
  expect(translation.request(asked, context)).toEqual(sent)
  const {body, usage} = translation.reply(said, context, asked)
  expect(body).toEqual(answer.body)
  expect(counted(usage)).toEqual(answer.usage)
})

test.each([[undefined], [''], [[]], [[1, 2]], [[[1, 2]]], [['a', 7]], [{text: 'a'}]])('input %j is refused', input => {
  for (const dialect of [gemini, geminiOnVertex()]) {
    expect(() => dialect.endpoints.embed!.request({input}, contextOf({options: {vertex_project_id: 'p'}}))).toThrow(
      'input: expected a text',
    )
  }
})

test.each([
  [gemini, {}],
  [gemini, {embeddings: [{values: [1]}]}],
  [gemini, {embeddings: [{values: [1]}, {values: []}]}],
  [gemini, {embeddings: [{values: [1]}, {values: ['x']}]}],
  [gemini, {embeddings: [{values: [1]}, null]}],
  [gemini, {error: {message: 'no'}}],
  [gemini, '<html>'],
  [geminiOnVertex(), {predictions: [{embeddings: {values: [1]}}, {}]}],
  [geminiOnVertex(), {predictions: 'x'}],
])('no half answer comes of what is none', (dialect, said) => {
  expect(() => dialect.endpoints.embed!.reply(said, contextOf(), {input: ['a', 'b']})).toThrow(InvalidResponseFault)
})
