import {USUAL_REGION} from '../auth/aws.ts'
import type {OutgoingHeaders} from '../headers.ts'
import type {OptionName} from '../option-table.ts'
import {type Options, optionIn} from '../options.ts'
import type {EndpointRequest} from '../provider.ts'

/** Paths of Bedrock's services. All else is its control plane's: models, jobs, profiles, guardrails. */
const AGENT_RUNTIME =
  /^\/(?:rerank|retrieveAndGenerate|retrieveAndGenerateStream|generateQuery|knowledgebases|agents|flows|optimize-prompt)(?:\/|$)/
const RUNTIME = /^\/(?:model|async-invoke|guardrail|openai)(?:\/|$)/

/** Bedrock's host for a request. Source: AWS General Reference, Amazon Bedrock endpoints. */
export function bedrockPlace(options: Options, reach?: EndpointRequest): string {
  return `https://${bedrockService(reach)}.${region(options)}.${domain(options)}`
}

/**
 * Amazon S3, objects by path: `/bucket/key` (S3 user guide, "Path-style requests"), so that a bucket's name may hold
 * dots.
 */
export function s3Place(options: Options): string {
  return `https://s3.${region(options)}.${domain(options)}`
}

/** SageMaker's runtime (docs/providers.md, Amazon SageMaker). */
export function sagemakerPlace(options: Options): string {
  return `https://runtime.sagemaker.${region(options)}.${domain(options)}`
}

/** Services of `api.aws`, one host a region. */
export function apiAwsPlace(service: string, path: string): (options: Options) => string {
  return options => `https://${service}.${region(options)}.api.aws${path}`
}

/** `amzn_sagemaker_target_model` → `x-amzn-sagemaker-target-model` (docs/providers.md, Amazon SageMaker). */
export function sagemakerHeaders(options: Options): OutgoingHeaders {
  const headers: OutgoingHeaders = {}
  for (const name of Object.keys(options)) {
    if (!name.startsWith('amzn_sagemaker_')) continue
    const value = optionIn(options, name as OptionName)
    if (value !== undefined) headers[`x-${name.replaceAll('_', '-')}`] = value
  }
  return headers
}

function bedrockService(reach: EndpointRequest | undefined): string {
  if (reach === undefined || (reach.endpoint !== 'proxy' && reach.endpoint !== 'rerank')) return 'bedrock-runtime'
  if (reach.endpoint === 'rerank' || AGENT_RUNTIME.test(reach.path)) return 'bedrock-agent-runtime'
  return RUNTIME.test(reach.path) ? 'bedrock-runtime' : 'bedrock'
}

function region(options: Options): string {
  return (optionIn(options, 'aws_region') ?? USUAL_REGION).toLowerCase()
}

/** China is a partition of its own. */
function domain(options: Options): string {
  return (
    optionIn(options, 'aws_endpoint_domain') ??
    (region(options).startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com')
  )
}
