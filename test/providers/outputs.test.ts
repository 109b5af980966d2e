import {expect, test} from 'vitest'
import {hidesOutput, mostOutputTokens, UNLISTED_TOKENS} from '../../src/providers/outputs/index.ts'

/** Sources: the vendors' pages of their models. */
test.each([
  ['gpt-4o', 16_384],
  ['gpt-4o-mini', 16_384],
  ['gpt-4o-mini-2024-07-18', 16_384],
  ['gpt-4.1', 32_768],
  ['ft:gpt-4o-mini:our-org::id', 16_384],
  ['claude-3-haiku-20240307', 4096],
  ['us.anthropic.claude-3-haiku-20240307-v1:0', 4096],
  ['anthropic/claude-3-haiku-20240307:beta', 4096],
  ['nobody-knows-me', UNLISTED_TOKENS],
  ['constructor', UNLISTED_TOKENS],
])('%s answers with %s tokens at most', (model, most) => {
  expect(mostOutputTokens(model)).toBe(most)
})

test.each([
  ['o3-mini', true],
  ['gpt-5', true],
  ['openai/gpt-5-nano', true],
  ['gemini-2.5-pro', true],
  ['grok-4', true],
  ['my-thinker', true],
  ['sonar-deep-research', true],
  ['auto', true],
  ['gpt-5-chat-latest', false],
  ['gpt-4o-2024-11-20-tuned', false],
  ['gpt-4o', false],
  ['gemini-2.0-flash', false],
  ['claude-sonnet-4-5', false],
])('%s thinks unseen: %s, and always where it is asked to think', (model, hides) => {
  expect([hidesOutput(model, false), hidesOutput(model, true)]).toEqual([hides, true])
})
