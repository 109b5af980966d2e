import {anthropic} from '../anthropic/index.ts'
import {awsSignature} from '../auth/aws.ts'
import {entra} from '../auth/entra.ts'
import {bearer, keyIn, withAzureToken} from '../auth.ts'
import {apiAwsPlace, bedrockPlace, sagemakerHeaders, sagemakerPlace} from '../base-urls/aws.ts'
import {azureAiHeaders, azureAiPath, azureAiPlace, isClaude} from '../base-urls/azure-ai.ts'
import {azureModel, azureModelOfDeployment, azurePath} from '../base-urls/azure-openai.ts'
import {onceV1} from '../base-urls/others.ts'
import {template} from '../base-urls/template.ts'
import {bedrockOperations} from '../bedrock/file-operations.ts'
import {bedrock} from '../bedrock/index.ts'
import {vendor} from '../bedrock/model.ts'
import {anthropicModels, bedrockModels} from '../models/listers.ts'
import {optionNeeded} from '../options.ts'
import type {Provider} from '../provider.ts'
import {azureAiRerank} from '../rerankers/azure-ai.ts'
import {BATCHES, CHAT, FILES, FINETUNES, MESSAGES, RESPONSES, SPEECH, TEXT} from './offers.ts'
import {compatibleRow, type More, nativeRow} from './row.ts'
import {vertexAi} from './vertex-ai.ts'

const messages_version = {'anthropic-version': '2023-06-01'}

const azureAiClaude = nativeRow('azure-ai', 'Azure AI Foundry', null, {
  baseUrlOf: azureAiPlace,
  host_option: 'azure_foundry_url',
  auth: withAzureToken(keyIn('x-api-key')),
  login: entra,
  headers: messages_version,
  endpoints: MESSAGES,
  translations: anthropic,
  pathOf: onceV1,
})

const bedrockShared: More = {
  baseUrlOf: bedrockPlace,
  base_url_template: 'https://bedrock-runtime.{aws_region}.amazonaws.com',
  login: awsSignature('bedrock'),
  operations: bedrockOperations,
  models: bedrockModels,
}

/** Messages are Claude's alone; other models are called through chat. */
const {messages: _, messagesCountTokens: __, ...others} = bedrock.endpoints
const bedrockOthers = nativeRow('bedrock', 'Amazon Bedrock', null, {
  ...bedrockShared,
  translations: {...bedrock, endpoints: others},
})

/**
 * Mantle signs under a name of its own, and serves families of models below prefixes of their own (Bedrock user guide,
 * bedrock-mantle).
 */
const mantle = awsSignature('bedrock-mantle')

const mantleClaude = nativeRow('bedrock-mantle', 'Amazon Bedrock Mantle', null, {
  baseUrlOf: apiAwsPlace('bedrock-mantle', '/anthropic/v1'),
  login: mantle,
  headers: messages_version,
  endpoints: MESSAGES,
  translations: anthropic,
  pathOf: onceV1,
})

const mantleGpt = compatibleRow('bedrock-mantle', 'Amazon Bedrock Mantle', null, [...CHAT, ...RESPONSES], {
  baseUrlOf: apiAwsPlace('bedrock-mantle', '/openai/v1'),
  login: mantle,
  stream_usage: true,
})

function mantleVariant(model: string): Provider | undefined {
  if (model.startsWith('anthropic.')) return mantleClaude
  return /^openai\.gpt-(?!oss)/.test(model) ? mantleGpt : undefined
}

/** Clouds: a place that options say, and logins beside the key (docs/providers.md). */
export const clouds: readonly Provider[] = [
  compatibleRow(
    'azure-openai',
    'Azure OpenAI',
    null,
    [...TEXT, 'embed', 'imageGenerate', 'imageEdit', ...SPEECH, ...FILES, ...BATCHES, ...FINETUNES, ...RESPONSES],
    {
      ...template('https://{azure_resource_name}.openai.azure.com/openai'),
      auth: withAzureToken(keyIn('api-key')),
      login: entra,
      pathOf: azurePath,
      modelIn: azureModel,
      modelOfDeployment: azureModelOfDeployment,
      realtime: {path: '/realtime'},
      stream_usage: true,
    },
  ),
  compatibleRow(
    'azure-ai',
    'Azure AI Foundry',
    null,
    [...TEXT, 'embed', 'imageGenerate', ...SPEECH, ...FILES, ...BATCHES, 'ocr'],
    {
      baseUrlOf: azureAiPlace,
      base_url_template: '{azure_foundry_url}, or https://{azure_endpoint_name}.{azure_region}.models.ai.azure.com/v1',
      host_option: 'azure_foundry_url',
      auth: withAzureToken(bearer),
      login: entra,
      pathOf: azureAiPath,
      headers: {'extra-parameters': 'drop'},
      headersOf: azureAiHeaders,
      translations: azureAiRerank,
      realtime: {path: '/realtime'},
      stream_usage: true,
      variant: (_model, options) => (isClaude(options) ? azureAiClaude : undefined),
    },
  ),
  nativeRow('bedrock', 'Amazon Bedrock', null, {
    ...bedrockShared,
    translations: bedrock,
    variant: model => (vendor(model) === 'anthropic' ? undefined : bedrockOthers),
  }),
  compatibleRow('bedrock-mantle', 'Amazon Bedrock Mantle', null, [...CHAT, ...RESPONSES], {
    baseUrlOf: apiAwsPlace('bedrock-mantle', '/v1'),
    base_url_template: 'https://bedrock-mantle.{aws_region}.api.aws/v1',
    login: mantle,
    stream_usage: true,
    variant: mantleVariant,
  }),
  nativeRow('claude-platform-aws', 'Claude Platform on AWS', null, {
    baseUrlOf: apiAwsPlace('aws-external-anthropic', '/v1'),
    base_url_template: 'https://aws-external-anthropic.{aws_region}.api.aws/v1',
    auth: keyIn('x-api-key'),
    login: awsSignature('aws-external-anthropic'),
    headers: messages_version,
    headersOf: options => ({'anthropic-workspace-id': optionNeeded(options, 'anthropic_aws_workspace_id')}),
    endpoints: [...MESSAGES, 'listModels'],
    models: anthropicModels,
    translations: anthropic,
    pathOf: onceV1,
    own_clients_send: 'anthropic-version',
  }),
  nativeRow('sagemaker', 'Amazon SageMaker', null, {
    baseUrlOf: sagemakerPlace,
    base_url_template: 'https://runtime.sagemaker.{aws_region}.amazonaws.com',
    login: awsSignature('sagemaker'),
    headersOf: sagemakerHeaders,
  }),
  vertexAi,
]
