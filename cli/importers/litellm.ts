import {isObject} from '../../src/base/json-object.ts'
import {find} from '../../src/providers/registry.ts'
import {usageFault} from '../fault.ts'
import {type Imported, type ImportedDeployment, resourcesOf} from './imported.ts'

type Params = Readonly<Record<string, unknown>>

/** Names of providers that differ from ours (docs.litellm.ai, providers). */
const KINDS: Readonly<Record<string, string>> = {
  azure: 'azure-openai',
  azure_ai: 'azure-ai',
  gemini: 'google',
  vertex_ai: 'vertex-ai',
  together_ai: 'together-ai',
  fireworks_ai: 'fireworks-ai',
  mistral: 'mistral-ai',
  xai: 'x-ai',
  perplexity: 'perplexity-ai',
  cohere_chat: 'cohere',
  ollama_chat: 'ollama',
  hosted_vllm: 'openai',
  openai_like: 'openai',
  text_completion_openai: 'openai',
}

/** A LiteLLM `config.yaml`. Source: docs.litellm.ai, proxy/configs and proxy/config_settings. */
export function fromLitellm(value: unknown, workspace: string): Imported {
  if (!isObject(value) || !Array.isArray(value.model_list))
    throw usageFault('The file has no model_list: it is no config.yaml of LiteLLM.')
  const losses: string[] = []
  const secrets = new Map<string, string>()
  const deployments = value.model_list.flatMap((each, at) => deploymentOf(each, `model_list[${at}]`, losses))
  const served = new Set(deployments.map(({model}) => model))
  const routing = routingOf(value, served, losses)
  for (const section of Object.keys(value)) {
    if (['model_list', 'router_settings', 'litellm_settings'].includes(section)) continue
    const reason =
      section === 'general_settings'
        ? ' (keys are made with gateway keys create, settings are in docs/settings.md)'
        : ''
    const members = isObject(value[section]) ? Object.keys(value[section]).map(name => `${section}.${name}`) : [section]
    losses.push(...members.map(name => `${name}: has no counterpart in files${reason}`))
  }
  return {resources: resourcesOf(deployments, {workspace, name: 'litellm', ...routing}, secrets), losses, secrets}
}

function deploymentOf(value: unknown, path: string, losses: string[]): ImportedDeployment[] {
  const params = isObject(value) ? value.litellm_params : undefined
  if (
    !isObject(value) ||
    typeof value.model_name !== 'string' ||
    !isObject(params) ||
    typeof params.model !== 'string'
  ) {
    losses.push(`${path}: has no model_name or no litellm_params.model`)
    return []
  }
  const {model_name: model} = value
  const slash = params.model.indexOf('/')
  const prefix =
    typeof params.custom_llm_provider === 'string'
      ? params.custom_llm_provider
      : slash > 0
        ? params.model.slice(0, slash)
        : guess(params.model)
  const kind = find(KINDS[prefix] ?? prefix.replaceAll('_', '-'))?.slug
  if (!kind || model.includes('*')) {
    losses.push(
      `${path} (${model}): ${kind ? 'a wildcard has no counterpart: name each model' : `no kind of provider is called ${prefix}`}`,
    )
    return []
  }
  const upstream = slash > 0 && params.model.startsWith(`${prefix}/`) ? params.model.slice(slash + 1) : params.model
  const used = new Set(['model', 'custom_llm_provider', 'api_key', 'weight', 'timeout', 'rpm', 'tpm', 'order'])
  const configurations = settings(kind, upstream, params, used)
  const rate_limits = (['rpm', 'tpm'] as const).flatMap(name => {
    const limit = numberOf(params[name])
    return limit === undefined ? [] : [{type: name === 'rpm' ? 'requests' : 'tokens', unit: 'rpm', value: limit}]
  })
  const unknown = Object.keys(params).filter(name => !used.has(name))
  losses.push(...unknown.map(name => `${path}.litellm_params.${name} (${model}): is not carried over`))
  if (isObject(value.model_info))
    losses.push(
      ...Object.keys(value.model_info).map(name => `${path}.model_info.${name} (${model}): is not carried over`),
    )
  for (const name of Object.keys(value))
    if (!['model_name', 'litellm_params', 'model_info'].includes(name))
      losses.push(`${path}.${name}: is not carried over`)
  const seconds = numberOf(params.timeout)
  return [
    {
      model,
      kind,
      upstream,
      configurations,
      name: `${kind}-${kind === 'azure-openai' ? upstream : model}`,
      key: secretOf(params.api_key),
      weight: numberOf(params.weight),
      priority: -(numberOf(params.order) ?? 0),
      request_timeout: seconds === undefined ? undefined : Math.round(seconds * 1000),
      rate_limits,
    },
  ]
}

function guess(model: string): string {
  return model.startsWith('claude')
    ? 'anthropic'
    : /^(gpt|o\d|text-embedding|dall-e|whisper|tts)/.test(model)
      ? 'openai'
      : model
}

/** Settings of an integration; what was read is put into `used`. */
function settings(kind: string, upstream: string, params: Params, used: Set<string>): Record<string, unknown> {
  const take = (...names: string[]) => {
    for (const name of names) used.add(name)
    return names.map(name => secretOf(params[name])).find(text => text !== undefined)
  }
  const base = take('api_base', 'base_url')
  if (kind === 'azure-openai') {
    const resource = /^https:\/\/([^./]+)\./.exec(base ?? '')?.[1] ?? 'RESOURCE'
    const version = take('api_version') ?? '2024-10-21'
    const deployment = {
      azure_api_version: version,
      azure_deployment_name: upstream,
      azure_model_slug: upstream,
      is_default: true,
    }
    return {azure_auth_mode: 'default', azure_resource_name: resource, azure_deployment_config: [deployment]}
  }
  if (kind === 'azure-ai')
    return {azure_auth_mode: 'default', azure_foundry_url: base ?? 'https://RESOURCE.services.ai.azure.com'}
  if (kind === 'bedrock') {
    const [region, id, secret, session] = [
      'aws_region_name',
      'aws_access_key_id',
      'aws_secret_access_key',
      'aws_session_token',
    ].map(name => take(name))
    const login =
      id && secret
        ? {aws_auth_type: 'accessKey', aws_access_key_id: id, aws_secret_access_key: secret}
        : {aws_auth_type: 'serviceRole'}
    return {...login, aws_region: region ?? 'us-east-1', ...(session && {aws_session_token: session})}
  }
  if (kind === 'vertex-ai') {
    const [project, region] = [take('vertex_project'), take('vertex_location')]
    return {
      vertex_auth_type: project ? 'workload' : 'basic',
      vertex_region: region ?? 'us-central1',
      vertex_project_id: project ?? 'PROJECT',
    }
  }
  const organisation = kind === 'openai' ? take('organization') : undefined
  const host = kind === 'ollama' && base && !/\/v1\/?$/.test(base) ? `${base.replace(/\/+$/, '')}/v1` : base
  return {...(host && {custom_host: host}), ...(organisation && {openai_organization: organisation})}
}

/** `os.environ/NAME` becomes a reference. */
function secretOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  return value.startsWith('os.environ/') ? `\${env:${value.slice('os.environ/'.length)}}` : value
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}

/** Router settings; those under `litellm_settings` hold where the router says nothing. */
function routingOf(value: Params, served: ReadonlySet<string>, losses: string[]) {
  const fallbacks = new Map<string, readonly string[]>()
  const aliases = new Map<string, string>()
  let retries: number | undefined
  let request_timeout: number | undefined
  for (const section of ['litellm_settings', 'router_settings'])
    for (const [name, entry] of Object.entries(isObject(value[section]) ? value[section] : {})) {
      const path = `${section}.${name}`
      if (name === 'num_retries') retries = numberOf(entry)
      else if (name === 'timeout' || name === 'request_timeout') request_timeout = (numberOf(entry) ?? 600) * 1000
      else if (name === 'fallbacks' && Array.isArray(entry))
        for (const [model, others] of entry.flatMap(each => (isObject(each) ? Object.entries(each) : []))) {
          const known = (Array.isArray(others) ? others.map(String) : []).filter(other => served.has(other))
          if (!served.has(model) || !Array.isArray(others) || known.length < others.length)
            losses.push(`${path}.${model}: names models that are not carried over`)
          fallbacks.set(model, known)
        }
      else if (name === 'model_group_alias' && isObject(entry))
        for (const [alias, model] of Object.entries(entry)) {
          const named = String(isObject(model) ? model.model : model)
          if (served.has(named)) aliases.set(alias, named)
          else losses.push(`${path}.${alias}: names a model that is not carried over`)
        }
      else if (!(name === 'routing_strategy' && entry === 'simple-shuffle')) losses.push(`${path}: is not carried over`)
    }
  if (retries !== undefined && retries > 5)
    losses.push(`num_retries: ${retries} is above the most that a config takes, 5`)
  return {fallbacks, aliases, retries, request_timeout}
}
