import {isObject, object} from '../../base/json-object.ts'
import {type Json, type Translated, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {contentsOf} from './contents.ts'
import {type GeminiHost, generationOf, modelOf} from './endpoint.ts'
import {present, word} from './read.ts'
import {cleanSchema} from './schema.ts'
import {thinkingConfig} from './thinking.ts'
import {toolsIn} from './tools.ts'

/** A chat request as `generateContent` or `streamGenerateContent` (ai.google.dev/api/generate-content). */
export function chatRequest(request: Json, context: TranslationContext, place: GeminiHost): Translated {
  const model = modelOf(request, context)
  const action = context.is_stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return {path: place.path(context, model, action), body: generateBody(request, context, place, model)}
}

/** The body of a request. Members that Gemini has no counterpart for are left out. */
export function generateBody(request: Json, context: TranslationContext, place: GeminiHost, model: string): Json {
  const needs_signatures = (generationOf(model) ?? 0) >= 3
  const config = generationConfig(request, context, model)
  return {
    ...contentsOf(request.messages, {sends_ids: !place.is_vertex, needs_signatures}),
    ...toolsIn(request),
    ...(Object.keys(config).length > 0 ? {generationConfig: config} : {}),
    ...present({
      safetySettings: request.safety_settings ?? request.safetySettings,
      cachedContent: request.cached_content ?? request.cachedContent,
      labels: place.is_vertex ? request.labels : null,
      serviceTier: tierOf(request.service_tier ?? request.serviceTier),
    }),
  }
}

/** OpenAI's words for no choice and for the usual one are none of Gemini's. Source: @google/genai, ServiceTier. */
function tierOf(tier: unknown): unknown {
  return tier === 'auto' ? null : tier === 'default' ? 'standard' : tier
}

function generationConfig(request: Json, context: TranslationContext, model: string): Json {
  return present({
    temperature: request.temperature,
    topP: request.top_p,
    topK: request.top_k,
    maxOutputTokens: request.max_completion_tokens ?? request.max_tokens,
    candidateCount: request.n,
    stopSequences: typeof request.stop === 'string' ? [request.stop] : request.stop,
    seed: request.seed,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    responseLogprobs: request.logprobs === true ? true : null,
    logprobs: request.logprobs === true ? request.top_logprobs : null,
    ...format(request.response_format),
    responseModalities: modalities(request.modalities),
    speechConfig: speech(request.audio),
    imageConfig: request.image_config ?? request.imageConfig,
    mediaResolution: request.media_resolution ?? request.mediaResolution,
    thinkingConfig: thinkingConfig(request, model, context.strict),
  })
}

function format(response_format: unknown): Json {
  const {type, json_schema} = object(response_format)
  if (response_format === undefined || response_format === null || type === 'text') return {}
  if (type === 'json_object') return {responseMimeType: 'application/json'}
  if (type !== 'json_schema')
    throw new UnsupportedInputFault('response_format.type', 'expected text, json_object or json_schema')
  const {schema} = object(json_schema)
  return {
    responseMimeType: 'application/json',
    ...(schema === undefined || schema === null
      ? {}
      : {responseSchema: cleanSchema(schema, 'response_format.json_schema.schema')}),
  }
}

function modalities(value: unknown): readonly string[] | null {
  if (value === undefined || value === null) return null
  const names = Array.isArray(value) ? value.map(name => (typeof name === 'string' ? name.toUpperCase() : '')) : ['']
  if (!names.every(name => name === 'TEXT' || name === 'IMAGE' || name === 'AUDIO')) {
    throw new UnsupportedInputFault('modalities', 'expected a list of text, image and audio')
  }
  // Text alone is what every model answers with.
  return names.every(name => name === 'TEXT') ? null : names
}

/**
 * Source: ai.google.dev/gemini-api/docs/speech-generation. It speaks 16-bit PCM at 24 kHz, which OpenAI calls `pcm16`.
 */
function speech(audio: unknown): Json | null {
  if (!isObject(audio)) return null
  const {voice, format} = audio
  if (format !== undefined && format !== null && format !== 'pcm16')
    throw new UnsupportedInputFault('audio.format', 'expected pcm16')
  return word(voice) ? {voiceConfig: {prebuiltVoiceConfig: {voiceName: voice}}} : null
}
