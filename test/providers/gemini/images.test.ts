import {expect, test} from 'vitest'
import {gemini} from '../../../src/providers/gemini/index.ts'
import type {Json} from '../../../src/providers/translation.ts'
import {casesOf, contextOf, counted} from './fixtures.ts'

const images = gemini.endpoints.imageGenerate!

test.each(casesOf('imageGenerate'))('$name', ({asked, context, dialect, sent, said, answer}) => {
  const translation = dialect.endpoints.imageGenerate!
  expect(translation.request(asked, context)).toEqual(sent)
  const {body, usage} = translation.reply(said, context, asked)
  expect(body).toEqual(answer.body)
  expect(counted(usage)).toEqual(answer.usage)
})

test.each([
  ['imagen-4.0-generate-001', {}, 'prompt: expected a text'],
  ['imagen-4.0-generate-001', {prompt: 'A fox', size: 'huge'}, 'size: expected auto or width x height'],
  ['imagen-4.0-generate-001', {prompt: 'A fox', output_format: 'webp'}, 'output_format: expected png or jpeg'],
  ['gemini-2.5-flash-image', {prompt: 'A fox', n: 2}, 'n: gemini-2.5-flash-image makes one picture at a time'],
])('%s: %j is refused', (model, asked, sentence) => {
  expect(() => images.request(asked, contextOf({model}))).toThrow(sentence)
})

test.each([
  ['1024x1024', '1:1'],
  ['1536x1024', '4:3'],
  ['1024x1792', '9:16'],
])('%s is nearest to %s', (size, aspectRatio) => {
  const {body} = images.request({prompt: 'A fox', size}, contextOf({model: 'imagen-4.0-generate-001'}))
  expect((body as Json).parameters).toEqual({aspectRatio})
})

test.each([
  ['imagen-4.0-generate-001', {}, 'there is no picture in it'],
  ['imagen-4.0-generate-001', {predictions: [{raiFilteredReason: 'too wild'}]}, 'there is no picture in it (too wild)'],
  [
    'gemini-2.5-flash-image',
    {candidates: [{finishReason: 'IMAGE_SAFETY'}]},
    'there is no picture in it (IMAGE_SAFETY)',
  ],
  [
    'gemini-2.5-flash-image',
    {promptFeedback: {blockReason: 'SAFETY'}},
    'there is no picture in it (The prompt was blocked: SAFETY)',
  ],
  ['gemini-2.5-flash-image', {error: {message: 'no'}}, 'google error: no'],
])('%s: %j is no answer', (model, said, sentence) => {
  expect(() => images.reply(said, contextOf({model}), {prompt: 'A fox'})).toThrow(sentence)
})
