import {uriPart} from '../../base/uri-part.ts'
import {serviceAccount} from '../auth/google.ts'
import {GRAMMARS, MissingOptionFault, type Options, optionIn, WrongOptionFault} from '../options.ts'
import type {EndpointRequest} from '../provider.ts'

/**
 * Finds the maker of a model in its name: `anthropic.claude-…`, `meta/llama-…`, `endpoints.123`; without one it is
 * Google.
 */
const PUBLISHERS =
  /^(?:publishers\/)?(anthropic|meta|mistralai|endpoints|qwen|xai|moonshotai|zai-org|deepseek-ai|openai|minimaxai)(?:\/models\/|[./])(.+)$/
const USUAL_REGION = 'us-central1'
/** Served by regions together, below another host. Source: Google Cloud, Vertex AI, "Locations", multi-regions. */
const MULTI = new Set(['us', 'eu'])

/** Sources: Google Cloud, Vertex AI API and Discovery Engine API, service endpoints. */
export function vertexPlace(options: Options, reach?: EndpointRequest): string {
  const region = regionIn(options)
  if (reach?.endpoint === 'rerank')
    return `https://${MULTI.has(region) ? `${region}-` : ''}discoveryengine.googleapis.com`
  if (region === 'global') return 'https://aiplatform.googleapis.com'
  return MULTI.has(region)
    ? `https://aiplatform.${region}.rep.googleapis.com`
    : `https://${region}-aiplatform.googleapis.com`
}

/** The publisher that a model's name begins with, and the rest of it; null for Google's. */
export function vertexPublisher(model: string): {readonly publisher: string; readonly name: string} | null {
  const found = PUBLISHERS.exec(model)
  return found ? {publisher: found[1]!, name: found[2]!} : null
}

/**
 * `/v1/projects/{project}/locations/{region}`; `version` where another one is needed. The project may be the service
 * account's.
 */
export function vertexParent(options: Options, version = 'v1'): string {
  const api_version = optionIn(options, 'vertex_api_version') ?? version
  return `/${uriPart(api_version)}/projects/${uriPart(projectIn(options))}/locations/${regionIn(options)}`
}

/** The same for ranking, which is served globally or by regions together. */
export function vertexRanking(options: Options): string {
  const region = regionIn(options)
  return `/v1/projects/${uriPart(projectIn(options))}/locations/${MULTI.has(region) ? region : 'global'}`
}

/** The options with the project of the service account, where none was named. */
export function withProject(options: Options): Options {
  return optionIn(options, 'vertex_project_id') === undefined
    ? {...options, vertex_project_id: projectIn(options)}
    : options
}

/** The path below `https://{region}-aiplatform.googleapis.com` for a client that leaves the version out. */
export function vertexProxyPath({path, query}: EndpointRequest): string | undefined {
  return path.startsWith('/projects/') ? `/v1${path}${query}` : undefined
}

/** A model as one segment: `name@version` keeps its at sign. */
export function vertexModel(name: string): string {
  if (!GRAMMARS.segment[0].test(name)) throw new WrongOptionFault('model', GRAMMARS.segment[1])
  return uriPart(name, 'The model').replaceAll('%40', '@')
}

function regionIn(options: Options): string {
  return (optionIn(options, 'vertex_region') ?? USUAL_REGION).toLowerCase()
}

function projectIn(options: Options): string {
  const project_id = optionIn(options, 'vertex_project_id')
  if (project_id !== undefined) return project_id
  const project =
    optionIn(options, 'vertex_service_account_json') === undefined ? null : serviceAccount(options).project_id
  if (project === null) throw new MissingOptionFault('vertex_project_id')
  if (!GRAMMARS.segment[0].test(project)) throw new WrongOptionFault('vertex_project_id', GRAMMARS.segment[1])
  return project
}
