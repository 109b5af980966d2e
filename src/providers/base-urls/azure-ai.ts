import type {OutgoingHeaders} from '../headers.ts'
import {type Options, optionIn, optionNeeded, WrongOptionFault} from '../options.ts'
import type {EndpointRequest} from '../provider.ts'
import {withParameter} from './base-url.ts'

const EXTRA = new Set(['drop', 'error', 'pass-through'])

/**
 * The URL of a Foundry resource or model, or of a serverless or managed endpoint by its name and region
 * (docs/providers.md, Azure AI Foundry).
 */
export function azureAiPlace(options: Options, reach?: EndpointRequest): string {
  const url = optionIn(options, 'azure_foundry_url')?.replace(/\/$/, '')
  if (url !== undefined && reach?.endpoint === 'rerank') return rerankPlace(url)
  if (url !== undefined) return isClaude(options) && !url.endsWith('/v1') ? `${url}/v1` : url
  const name = optionIn(options, 'azure_endpoint_name')
  if (name === undefined) return optionNeeded(options, 'azure_foundry_url')
  const region = optionNeeded(options, 'azure_region').toLowerCase()
  const type = optionIn(options, 'azure_deployment_type') ?? 'serverless'
  if (type !== 'serverless' && type !== 'managed')
    throw new WrongOptionFault('azure_deployment_type', 'serverless or managed')
  return `https://${name.toLowerCase()}.${region}.${type === 'managed' ? 'inference.ml' : 'models.ai'}.azure.com/v1`
}

/** Cohere's API is beside the models of a Foundry resource; a deployment of its own serves it below `/v1`. */
function rerankPlace(url: string): string {
  if (!URL.canParse(url)) return url
  const {origin, hostname, pathname} = new URL(url)
  if (/\.(?:services\.ai|cognitiveservices|openai)\.azure\.com$/.test(hostname)) return `${origin}/providers/cohere/v2`
  return hostname.endsWith('.models.ai.azure.com') && pathname === '/' ? `${origin}/v1` : url
}

/** Claude on Foundry is served below `/anthropic`, in Anthropic's words. */
export function isClaude(options: Options): boolean {
  const url = optionIn(options, 'azure_foundry_url')
  return url !== undefined && /\/anthropic(?:\/|$)/i.test(url)
}

/** Dated versions are in the query. */
export function azureAiPath({path, query}: EndpointRequest, options: Options): string | undefined {
  const version = optionIn(options, 'azure_api_version')
  return version === undefined || version === 'v1' ? undefined : path + withParameter(query, 'api-version', version)
}

/** Source: Microsoft Learn, Azure AI Model Inference API, extensibility; Azure Machine Learning, online endpoints. */
export function azureAiHeaders(options: Options): OutgoingHeaders {
  const extra = optionIn(options, 'azure_extra_params')
  if (extra !== undefined && !EXTRA.has(extra))
    throw new WrongOptionFault('azure_extra_params', 'drop, error or pass-through')
  const deployment = optionIn(options, 'azure_deployment_name') ?? optionIn(options, 'azure_deployment_id')
  return {
    ...(extra ? {'extra-parameters': extra} : {}),
    ...(deployment ? {'azureml-model-deployment': deployment} : {}),
  }
}
