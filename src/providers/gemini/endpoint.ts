import {uriPart} from '../../base/uri-part.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {word} from './read.ts'

/** The hosts of Gemini: the bodies are almost the same, the paths are not. */
export interface GeminiHost {
  readonly is_vertex: boolean
  /**
   * Below the base URL: `…/models/{model}:{action}`. Throws `UnsupportedInputFault` for a place that cannot be written
   * in a path.
   */
  path(context: TranslationContext, model: string, action: string): string
}

/** The Gemini API of AI Studio (ai.google.dev/api). The base URL has no version. */
export const STUDIO: GeminiHost = {
  is_vertex: false,
  path(_context, model, action) {
    const [kind, name] = model.startsWith('tunedModels/')
      ? ['tunedModels', model.slice('tunedModels/'.length)]
      : ['models', model]
    return `/v1beta/${kind}/${uriPart(name, 'The model')}:${action}`
  },
}

/** Names of projects, regions and versions. None can be `..`, which would climb in the path. */
const SEGMENT = /^[A-Za-z0-9][\w.:-]{0,99}$/

/**
 * Vertex AI (cloud.google.com/vertex-ai/docs/reference/rest): `vertex_project_id`, `vertex_region` (`us-central1` when
 * none is said), `vertex_api_version` (`v1`) and `vertex_publisher` (`google`) come from the options.
 */
export const VERTEX: GeminiHost = {
  is_vertex: true,
  path({options}, model, action) {
    const segment = (name: string, usual?: string) => {
      const value = (Object.hasOwn(options, name) ? word(options[name]) : null) ?? usual
      if (value === undefined) throw new UnsupportedInputFault(name, 'is needed to call Vertex AI')
      if (!SEGMENT.test(value))
        throw new UnsupportedInputFault(name, 'expected letters, digits, dots, colons and dashes')
      return uriPart(value)
    }
    const project = segment('vertex_project_id')
    const region = segment('vertex_region', 'us-central1')
    const publisher = segment('vertex_publisher', 'google')
    const place = `/${segment('vertex_api_version', 'v1')}/projects/${project}/locations/${region}`
    return `${place}/publishers/${publisher}/models/${uriPart(model, 'The model')}:${action}`
  },
}

/**
 * The requested model, without the prefixes it may be written with (`models/`, `google.`, `publishers/google/models/`).
 */
export function modelOf(request: Json, context: TranslationContext): string {
  const name = context.model || word(request.model)
  const model = name?.replace(/^(?:publishers\/google\/)?models\//, '').replace(/^google[./]/, '')
  if (!model) throw new UnsupportedInputFault('model', 'expected the name of a model')
  return model
}

/**
 * 2 for `gemini-2.5-pro`, 3 for `gemini-3-flash-preview`; null for names that do not tell (`gemini-flash-latest`,
 * `gemma-3`).
 */
export function generationOf(model: string): number | null {
  const found = /^gemini-(\d{1,2})(?:[.-]|$)/.exec(model)
  return found ? Number(found[1]) : null
}
