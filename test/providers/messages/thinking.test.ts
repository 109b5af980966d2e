import {describe, expect, test} from 'vitest'
import {variantOf} from '../../../src/providers/base-urls/base-url.ts'
import {translationFor} from '../../../src/providers/clients.ts'
import {find} from '../../../src/providers/registry.ts'
import type {Json, TranslationContext} from '../../../src/providers/translation.ts'

const OPTIONS = {vertex_project_id: 'p', oracle_compartment_id: 'ocid1.compartment.oc1..c'}

/** The body that a Messages request comes to at a provider. */
function sent(slug: string, model: string, more: Json): Json {
  const provider = variantOf(find(slug)!, model, OPTIONS)
  const {translation, client} = translationFor(provider, 'messages')!
  const context: TranslationContext = {
    provider: slug,
    model,
    is_stream: false,
    strict: false,
    options: OPTIONS,
    call_id: 'c',
    created_s: 1,
  }
  const asked = {model, max_tokens: 32_000, messages: [{role: 'user', content: 'Hi'}], ...more}
  return translation.request(client!.toChat(asked, context), context).body as Json
}

const enabled = (budget_tokens: number) => ({thinking: {type: 'enabled', budget_tokens}})
const fields = (body: Json) => body.additionalModelRequestFields
const config = (body: Json) => (body.generationConfig as Json).thinkingConfig

describe('the thinking of a Messages request', () => {
  // reference: thinking format; OpenAI API reference, reasoning_effort
  test.each([
    [1024, 'low'],
    [4096, 'low'],
    [4097, 'medium'],
    [16_384, 'medium'],
    [31_999, 'high'],
  ])('of %d tokens is the effort %s in OpenAI’s words', (tokens, effort) => {
    for (const [slug, model] of [
      ['openai', 'gpt-5.1'],
      ['groq', 'openai/gpt-oss-120b'],
      ['mistral-ai', 'magistral-medium'],
    ] as const) {
      const body = sent(slug, model, enabled(tokens))
      expect(body).toMatchObject({reasoning_effort: effort})
      expect(body).not.toHaveProperty('thinking')
    }
    expect((sent('oracle', 'xai.grok-4', enabled(tokens)).chatRequest as Json).reasoningEffort).toBe(
      effort.toUpperCase(),
    )
  })

  test('gives way to an effort that was asked for', () => {
    expect(sent('openai', 'gpt-5.1', {...enabled(1024), output_config: {effort: 'high'}})).toMatchObject({
      reasoning_effort: 'high',
    })
  })

  test.each([
    ['openai', 'gpt-4o', enabled(8000)],
    ['openai', 'openai/gpt-4.1-mini', enabled(8000)],
    ['openai', 'gpt-5.1', {thinking: {type: 'adaptive'}}],
    ['openai', 'gpt-5.1', {thinking: {type: 'disabled'}}],
    ['openai', 'gpt-5.1', {}],
  ])('says nothing to %s of %s where it cannot: %o', (slug, model, more) => {
    const body = sent(slug, model, more)
    expect(body).not.toHaveProperty('reasoning_effort')
    expect(body).not.toHaveProperty('thinking')
  })

  test('is a thinkingConfig for Gemini (ai.google.dev/gemini-api/docs/thinking)', () => {
    expect(config(sent('google', 'gemini-2.5-pro', enabled(2000)))).toEqual({
      includeThoughts: true,
      thinkingBudget: 2000,
    })
    expect(config(sent('vertex-ai', 'gemini-3-pro-preview', enabled(20_000)))).toEqual({
      includeThoughts: true,
      thinkingLevel: 'high',
    })
    expect(config(sent('google', 'gemini-2.5-flash', {thinking: {type: 'adaptive'}}))).toEqual({includeThoughts: true})
    expect(config(sent('google', 'gemini-2.5-flash', {thinking: {type: 'disabled'}}))).toEqual({thinkingBudget: 0})
  })

  test('stays as it is for Claude elsewhere', () => {
    expect(sent('bedrock', 'us.anthropic.claude-sonnet-4-20250514-v1:0', enabled(2000))).toMatchObject(enabled(2000))
    expect(sent('vertex-ai', 'anthropic.claude-sonnet-4@20250514', enabled(2000))).toMatchObject(enabled(2000))
    const adaptive = {thinking: {type: 'adaptive'}, output_config: {effort: 'max'}}
    expect(sent('bedrock', 'anthropic.claude-opus-4-6-v1', adaptive)).toMatchObject(adaptive)
    // Of a profile of one's own only AWS knows the model: it is asked by way of chat.
    const profile = 'arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/abc'
    expect(fields(sent('bedrock', profile, adaptive))).toEqual(adaptive)
  })

  test('is what other makers on Bedrock understand', () => {
    expect(fields(sent('bedrock', 'amazon.nova-2-lite-v1:0', enabled(8000)))).toEqual({
      reasoningConfig: {type: 'enabled', maxReasoningEffort: 'medium'},
    })
    expect(fields(sent('bedrock', 'openai.gpt-oss-120b-1:0', enabled(8000)))).toEqual({reasoning_effort: 'medium'})
    expect(fields(sent('bedrock', 'meta.llama3-1-70b-instruct-v1:0', enabled(8000)))).toBeUndefined()
  })

  test('is a budget for Cohere (docs.cohere.com, reasoning)', () => {
    expect(sent('cohere', 'command-a-reasoning', enabled(2000))).toMatchObject({
      thinking: {type: 'enabled', token_budget: 2000},
    })
    expect(sent('cohere', 'command-a-reasoning', {thinking: {type: 'disabled'}})).toMatchObject({
      thinking: {type: 'disabled'},
    })
  })

  test('is refused where it is none', () => {
    expect(() => sent('openai', 'gpt-5.1', {thinking: 'hard'})).toThrow('thinking: expected an object')
  })
})
