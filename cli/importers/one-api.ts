import {isObject, object, parsed} from '../../src/base/json-object.ts'
import {find} from '../../src/providers/registry.ts'
import {usageFault} from '../fault.ts'
import type {Resource} from '../resources/document.ts'
import {type Imported, type ImportedDeployment, Names, resourcesOf} from './imported.ts'

type Row = Readonly<Record<string, unknown>>

/** Numbers of its kinds of channels. Source: songquanpeng/one-api, relay/channeltype/define.go. */
const KINDS: Readonly<Record<number, string>> = {
  ...{
    1: 'openai',
    3: 'azure-openai',
    8: 'openai',
    14: 'anthropic',
    16: 'zhipu',
    17: 'dashscope',
    20: 'openrouter',
    24: 'google',
    25: 'moonshot',
  },
  ...{
    28: 'mistral-ai',
    29: 'groq',
    30: 'ollama',
    33: 'bedrock',
    35: 'cohere',
    36: 'deepseek',
    37: 'workers-ai',
    39: 'together-ai',
    41: 'novita-ai',
    45: 'x-ai',
  },
}
const ENABLED = 1
/** Units of its quota in a US dollar (its QuotaPerUnit). */
const UNITS_A_DOLLAR = 500_000

/**
 * The tables of a one-api database, `{"channels": [...], "tokens": [...]}`, or the replies of its lists, `{"data":
 * [...]}`.
 */
export function fromOneApi(value: unknown, workspace: string): Imported {
  const losses: string[] = []
  const secrets = new Map<string, string>()
  const tables = isObject(value) ? (Array.isArray(value.data) ? {channels: value.data} : value) : {}
  const rows = (name: string) => (Array.isArray(tables[name]) ? (tables[name].filter(isObject) as Row[]) : [])
  if (!Array.isArray(tables.channels))
    throw usageFault('The file has no channels: it is no database or export of one-api.')
  const deployments = rows('channels').flatMap(row => deploymentsOf(row, losses))
  const resources = resourcesOf(
    deployments,
    {workspace, name: 'one-api', fallbacks: new Map(), aliases: new Map()},
    secrets,
  )
  const names = new Names()
  const keys = rows('tokens').flatMap(row => keyOf(row, workspace, names, losses))
  for (const name of ['users', 'redemptions', 'options', 'logs'])
    if (rows(name).length) losses.push(`${name}: ${rows(name).length} rows are not carried over`)
  return {resources: [...resources, ...keys], losses, secrets}
}

function deploymentsOf(row: Row, losses: string[]): ImportedDeployment[] {
  const name = text(row.name) ?? `channel-${row.id}`
  const lost = (what: string) => void losses.push(`channels ${row.id} (${name}): ${what}`)
  const kind = find(KINDS[Number(row.type)] ?? '')?.slug
  if (!kind || kind === 'workers-ai') {
    lost(`channels of type ${row.type} have no counterpart`)
    return []
  }
  if (row.status !== undefined && Number(row.status) !== ENABLED) {
    lost('is disabled')
    return []
  }
  const keys = (text(row.key) ?? '')
    .split('\n')
    .map(each => each.trim())
    .filter(Boolean)
  if (keys.length > 1) lost(`the first of ${keys.length} keys is carried over`)
  const group = text(row.group)
  if (group !== undefined && group !== 'default') lost(`group ${group}: groups of users are not carried over`)
  for (const member of ['config', 'system_prompt', 'other'])
    if (text(row[member]) && !(member === 'other' && kind === 'azure-openai') && text(row[member]) !== '{}')
      lost(`${member} is not carried over`)
  const mapping = objectIn(row.model_mapping)
  const models = (text(row.models) ?? '')
    .split(',')
    .map(each => each.trim())
    .filter(Boolean)
  if (!models.length) lost('has no models')
  if (text(row.base_url) && !['openai', 'azure-openai', 'bedrock'].includes(kind))
    lost('base_url is carried over as it is: look at its path')
  const priority = Number(row.priority ?? 0) || 0
  const weight = Number(row.weight ?? 0) || undefined
  const base = text(row.base_url)?.replace(/\/+$/, '')
  return models.flatMap(model => {
    const upstream = text(mapping[model]) ?? model
    const made = settings(kind, base, upstream, text(row.other))
    const key = kind === 'bedrock' ? undefined : keys[0]
    if (kind === 'bedrock') {
      const [id, secret, region] = (keys[0] ?? '').split('|')
      Object.assign(made, {
        aws_auth_type: 'accessKey',
        aws_access_key_id: id,
        aws_secret_access_key: secret,
        aws_region: region || 'us-east-1',
      })
    }
    return [
      {
        model,
        kind,
        key,
        configurations: made,
        upstream,
        weight,
        priority,
        name: kind === 'azure-openai' ? `${name}-${upstream}` : name,
      },
    ]
  })
}

/** one-api calls `BASE/v1/...`; a base here is the part before the route, `/v1` included. */
function settings(
  kind: string,
  base: string | undefined,
  upstream: string,
  version: string | undefined,
): Record<string, unknown> {
  if (kind === 'azure-openai') {
    const resource = /^https:\/\/([^./]+)\./.exec(base ?? '')?.[1] ?? 'RESOURCE'
    const deployment = {
      azure_api_version: version ?? '2024-10-21',
      azure_deployment_name: upstream,
      azure_model_slug: upstream,
      is_default: true,
    }
    return {azure_auth_mode: 'default', azure_resource_name: resource, azure_deployment_config: [deployment]}
  }
  if (base === undefined || kind === 'bedrock') return {}
  return {custom_host: kind === 'openai' && !/\/v\d+$/.test(base) ? `${base}/v1` : base}
}

function keyOf(row: Row, workspace: string, names: Names, losses: string[]): Resource[] {
  const name = names.slug(text(row.name) ?? `token-${row.id}`)
  const lost = (what: string) => void losses.push(`tokens ${row.id} (${name}): ${what}`)
  if (Number(row.status ?? ENABLED) !== ENABLED) {
    lost('is not enabled')
    return []
  }
  lost('its secret is not carried over: the new key has another')
  for (const member of ['models', 'subnet']) if (text(row[member])) lost(`${member} is not carried over`)
  const expires_s = Number(row.expired_time ?? -1)
  const quota = Number(row.remain_quota ?? 0)
  const is_limited = !row.unlimited_quota
  if (is_limited && quota <= 0) {
    lost('has no quota left')
    return []
  }
  const spec = {
    type: 'workspace-service',
    scopes: ['completions.write'],
    ...(is_limited && {usage_limits: [{type: 'cost', credit_limit: quota / UNITS_A_DOLLAR}]}),
    ...(expires_s > 0 && {expires_at: new Date(expires_s * 1000).toISOString()}),
  }
  return [{kind: 'api-key', workspace, slug: name, spec}]
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function objectIn(value: unknown): Record<string, unknown> {
  return object(typeof value === 'string' ? parsed(value) : value)
}
