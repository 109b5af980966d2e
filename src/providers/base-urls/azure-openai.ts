import {parsed} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {GRAMMARS, type Options, optionIn, WrongOptionFault} from '../options.ts'
import type {EndpointRequest} from '../provider.ts'
import {withParameter} from './base-url.ts'

/** Endpoints of a deployment; files, batches, fine-tuning, responses and the list of models belong to the resource. */
const OF_A_DEPLOYMENT: ReadonlySet<EndpointName> = new Set([
  'chatComplete',
  'complete',
  'embed',
  'imageGenerate',
  'imageEdit',
  'createSpeech',
  'createTranscription',
  'createTranslation',
])
/** The version without a date: no deployment in the path, no `api-version` in the query. */
const UNDATED = 'v1'

interface Deployment {
  readonly deployment_id: string
  readonly api_version: string | undefined
}

/**
 * Below `https://{resource}.openai.azure.com/openai`: `/deployments/{deployment}/…?api-version=DATE`, or `/v1/…` for
 * the undated version, which also holds where none is said. Source: Microsoft Learn, Azure OpenAI REST reference and
 * "API version lifecycle".
 */
export function azurePath({endpoint, path, query, model}: EndpointRequest, options: Options): string {
  const {deployment_id, api_version = UNDATED} = deploymentFor(model, options)
  const is_dated = api_version !== UNDATED
  if (!is_dated) return `${path.startsWith('/v1/') || path === '/v1' ? '' : '/v1'}${path}${query}`
  const dated = withParameter(query, 'api-version', api_version)
  if (endpoint === 'realtime')
    return `${path}${withParameter(withoutParameter(dated, 'model'), 'deployment', deployment_id)}`
  if (!OF_A_DEPLOYMENT.has(endpoint)) return path + dated
  if (deployment_id === '') throw new WrongOptionFault('azure_deployment_id', 'a deployment, or a model that names one')
  return `/deployments/${uriPart(deployment_id)}${path}${dated}`
}

/** The undated version reads the deployment from the body's model; the dated ones have it in the path. */
export function azureModel(model: string, options: Options): string {
  const {deployment_id, api_version = UNDATED} = deploymentFor(model, options)
  if (api_version === UNDATED) return deployment_id
  return optionIn(options, 'azure_model_name') ?? model
}

/** The model of a deployment, as the integration lists it; undefined for one that it does not list. */
export function azureModelOfDeployment(deployment: string, options: Options): string | undefined {
  const found = listed(options).find(({deployment_id}) => deployment_id === deployment)
  const named = found?.model ?? found?.alias
  if (typeof named === 'string' && named !== '') return named
  return optionIn(options, 'azure_deployment_id') === deployment ? optionIn(options, 'azure_model_name') : undefined
}

/**
 * The deployment of a model: the one that is named, else the listed one of this alias, model or name, else the usual
 * one, else its namesake.
 */
function deploymentFor(model: string, options: Options): Deployment {
  const api_version = optionIn(options, 'azure_api_version')
  const named = optionIn(options, 'azure_deployment_id')
  if (named !== undefined) return {deployment_id: named, api_version}
  const all = listed(options)
  const found =
    all.find(({alias, model: of, deployment_id}) => model !== '' && [alias, of, deployment_id].includes(model)) ??
    all.find(({is_default}) => is_default === true)
  if (!found) return {deployment_id: segment(model), api_version}
  return {deployment_id: segment(found.deployment_id), api_version: text(found.api_version) ?? api_version}
}

function listed(
  options: Options,
): readonly {alias?: unknown; model?: unknown; deployment_id?: unknown; api_version?: unknown; is_default?: unknown}[] {
  const json = optionIn(options, 'azure_deployments')
  if (json === undefined) return []
  const deployments = parsed(json)
  if (!Array.isArray(deployments)) throw new WrongOptionFault('azure_deployments', 'a list of deployments')
  return deployments.filter(each => typeof each === 'object' && each !== null)
}

function segment(value: unknown): string {
  if (value === '') return ''
  const [form, expected] = GRAMMARS.segment
  if (typeof value !== 'string' || !form.test(value)) throw new WrongOptionFault('azure_deployment_id', expected)
  return value
}

function text(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  const [form, expected] = GRAMMARS.segment
  if (typeof value !== 'string' || !form.test(value)) throw new WrongOptionFault('azure_api_version', expected)
  return value
}

function withoutParameter(query: string, name: string): string {
  const kept = query
    .slice(1)
    .split('&')
    .filter(part => part !== '' && part.split('=', 1)[0] !== name)
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}
