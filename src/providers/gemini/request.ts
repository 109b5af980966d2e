import {isObject, object} from '../../base/json-object.ts'
import {type Context, type Json, type Translated, UnsupportedInput} from '../translation.ts'
import {contentsOf} from './contents.ts'
import {generationOf, modelOf, type Place} from './place.ts'
import {present, word} from './read.ts'
import {cleanSchema} from './schema.ts'
import {thinkingConfig} from './thinking.ts'
import {toolsIn} from './tools.ts'

/** A chat request as `generateContent` or `streamGenerateContent` (ai.google.dev/api/generate-content). */
export function chatRequest(asked: Json, context: Context, place: Place): Translated {
  const model = modelOf(asked, context)
  const action = context.is_stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return {path: place.path(context, model, action), body: generateBody(asked, context, place, model)}
}

/** What a model is asked, path apart. Members that Gemini has no words for are left out (reference: transform engine). */
export function generateBody(asked: Json, context: Context, place: Place, model: string): Json {
  const needs_signatures = (generationOf(model) ?? 0) >= 3
  const config = generationConfig(asked, context, model)
  return {
    ...contentsOf(asked.messages, {sends_ids: !place.is_vertex, needs_signatures}),
    ...toolsIn(asked),
    ...(Object.keys(config).length > 0 ? {generationConfig: config} : {}),
    ...present({
      safetySettings: asked.safety_settings ?? asked.safetySettings,
      cachedContent: asked.cached_content ?? asked.cachedContent,
      labels: place.is_vertex ? asked.labels : null,
    }),
  }
}

function generationConfig(asked: Json, context: Context, model: string): Json {
  return present({
    temperature: asked.temperature,
    topP: asked.top_p,
    topK: asked.top_k,
    maxOutputTokens: asked.max_completion_tokens ?? asked.max_tokens,
    candidateCount: asked.n,
    stopSequences: typeof asked.stop === 'string' ? [asked.stop] : asked.stop,
    seed: asked.seed,
    presencePenalty: asked.presence_penalty,
    frequencyPenalty: asked.frequency_penalty,
    responseLogprobs: asked.logprobs === true ? true : null,
    logprobs: asked.logprobs === true ? asked.top_logprobs : null,
    ...format(asked.response_format),
    responseModalities: modalities(asked.modalities),
    speechConfig: speech(asked.audio),
    imageConfig: asked.image_config ?? asked.imageConfig,
    mediaResolution: asked.media_resolution ?? asked.mediaResolution,
    thinkingConfig: thinkingConfig(asked, model, context.strict),
  })
}

function format(said: unknown): Json {
  const {type, json_schema} = object(said)
  if (said === undefined || said === null || type === 'text') return {}
  if (type === 'json_object') return {responseMimeType: 'application/json'}
  if (type !== 'json_schema') throw new UnsupportedInput('response_format.type', 'expected text, json_object or json_schema')
  const {schema} = object(json_schema)
  return {
    responseMimeType: 'application/json',
    ...(schema === undefined || schema === null ? {} : {responseSchema: cleanSchema(schema, 'response_format.json_schema.schema')}),
  }
}

function modalities(said: unknown): readonly string[] | null {
  if (said === undefined || said === null) return null
  const names = Array.isArray(said) ? said.map(name => (typeof name === 'string' ? name.toUpperCase() : '')) : ['']
  if (!names.every(name => name === 'TEXT' || name === 'IMAGE' || name === 'AUDIO')) {
    throw new UnsupportedInput('modalities', 'expected a list of text, image and audio')
  }
  // Text alone is what every model answers with.
  return names.every(name => name === 'TEXT') ? null : names
}

/** Source: ai.google.dev/gemini-api/docs/speech-generation. It speaks 16-bit PCM at 24 kHz, which OpenAI calls `pcm16`. */
function speech(said: unknown): Json | null {
  if (!isObject(said)) return null
  const {voice, format} = said
  if (format !== undefined && format !== null && format !== 'pcm16') throw new UnsupportedInput('audio.format', 'expected pcm16')
  return word(voice) ? {voiceConfig: {prebuiltVoiceConfig: {voiceName: voice}}} : null
}
