import type {Asked, Sent} from './ask.ts'

const HI = {messages: [{role: 'user', content: 'Hi'}]}
export const chat = {model: 'm', ...HI}
export const JSON_TYPE = {'content-type': 'application/json'}

export interface Row extends Asked {
  readonly slug: string
  readonly expected: Omit<Sent, 'method'> & {readonly method?: string}
}

export const bearer = {...JSON_TYPE, authorization: 'Bearer k'}
const post = (
  slug: string,
  asked: Asked,
  url: string,
  headers: Sent['headers'],
  body: Sent['body'] = asked.body ?? null,
): Row => ({
  slug,
  ...asked,
  expected: {method: 'POST', url, headers, body},
})
const get = (slug: string, asked: Asked, url: string, headers: Sent['headers']): Row => ({
  slug,
  endpoint: 'proxy',
  method: 'GET',
  ...asked,
  expected: {method: 'GET', url, headers, body: null},
})
const asEmbedding = {endpoint: 'embed', body: {model: 'm', input: ['Hi']}} as const
const asRerank = {endpoint: 'rerank', body: {model: 'm', query: 'q', documents: ['a', 'b'], top_n: 1}} as const
const asPicture = {endpoint: 'imageGenerate', body: {model: 'm', prompt: 'a cat'}} as const
const anthropicBody = {model: 'm', max_tokens: 100, messages: [{role: 'user', content: [{type: 'text', text: 'Hi'}]}]}
const claude = {body: {...chat, max_tokens: 100}} as const
const version = {'anthropic-version': '2023-06-01'}
const converse = {messages: [{role: 'user', content: [{text: 'Hi'}]}]}
const geminiBody = {contents: [{role: 'user', parts: [{text: 'Hi'}]}]}

/** Everything else, by the provider's own documentation (reference: catalogue, auth conversion, provider notes). */
export const ROWS: readonly Row[] = [
  post('ai21', {body: chat}, 'https://api.ai21.com/studio/v1/chat/completions', bearer, {...chat, stream: false}),
  post(
    'anthropic',
    claude,
    'https://api.anthropic.com/v1/messages',
    {...JSON_TYPE, ...version, 'x-api-key': 'k'},
    anthropicBody,
  ),
  post('anthropic', {endpoint: 'messages', body: {...chat, max_tokens: 1}}, 'https://api.anthropic.com/v1/messages', {
    ...JSON_TYPE,
    ...version,
    'x-api-key': 'k',
  }),
  get('anthropic', {path: '/v1/models'}, 'https://api.anthropic.com/v1/models', {...version, 'x-api-key': 'k'}),
  post(
    'azure-openai',
    {
      body: {...chat, model: 'gpt-4o'},
      options: {azure_resource_name: 'res', azure_deployment_id: 'dep', azure_api_version: '2024-10-21'},
    },
    'https://res.openai.azure.com/openai/deployments/dep/chat/completions?api-version=2024-10-21',
    {...JSON_TYPE, 'api-key': 'k'},
  ),
  post(
    'azure-openai',
    {
      body: {...chat, model: 'gpt-4o'},
      options: {azure_resource_name: 'res', azure_deployment_id: 'dep', azure_api_version: 'v1', azure_ad_token: 'ad'},
      key: null,
    },
    'https://res.openai.azure.com/openai/v1/chat/completions',
    {...JSON_TYPE, authorization: 'Bearer ad'},
    {...chat, model: 'dep'},
  ),
  get(
    'azure-openai',
    {
      endpoint: 'listFiles',
      path: '/files',
      query: '?limit=3',
      options: {azure_resource_name: 'res', azure_api_version: '2024-10-21'},
    },
    'https://res.openai.azure.com/openai/files?limit=3&api-version=2024-10-21',
    {'api-key': 'k'},
  ),
  get(
    'azure-openai',
    {
      endpoint: 'realtime',
      path: '/realtime',
      query: '?model=gpt-realtime',
      body: null,
      options: {azure_resource_name: 'res', azure_deployment_id: 'rt', azure_api_version: '2024-10-01-preview'},
    },
    'https://res.openai.azure.com/openai/realtime?api-version=2024-10-01-preview&deployment=rt',
    {'api-key': 'k'},
  ),
  post(
    'azure-ai',
    {
      body: chat,
      options: {azure_foundry_url: 'https://res.services.ai.azure.com/models', azure_api_version: '2024-05-01-preview'},
    },
    'https://res.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview',
    {...bearer, 'extra-parameters': 'drop'},
  ),
  post(
    'azure-ai',
    {...claude, options: {azure_foundry_url: 'https://res.services.ai.azure.com/anthropic'}},
    'https://res.services.ai.azure.com/anthropic/v1/messages',
    {...JSON_TYPE, ...version, 'x-api-key': 'k'},
    anthropicBody,
  ),
  ...(
    [
      ['https://res.services.ai.azure.com/models', 'https://res.services.ai.azure.com/providers/cohere/v2/rerank'],
      [
        'https://cohere-rerank.eastus.models.ai.azure.com',
        'https://cohere-rerank.eastus.models.ai.azure.com/v1/rerank',
      ],
      [
        'https://cohere-rerank.eastus.models.ai.azure.com/v1/',
        'https://cohere-rerank.eastus.models.ai.azure.com/v1/rerank',
      ],
    ] as const
  ).map(([azure_foundry_url, url]) =>
    post('azure-ai', {...asRerank, options: {azure_foundry_url}}, url, {...bearer, 'extra-parameters': 'drop'}),
  ),
  post(
    'bedrock',
    {
      endpoint: 'messagesCountTokens',
      body: {...HI, model: 'eu.anthropic.claude-sonnet-4-20250514-v1:0'},
      options: {aws_region: 'eu-west-1'},
    },
    'https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-sonnet-4-20250514-v1%3A0/count-tokens',
    bearer,
    {
      input: {
        invokeModel: {
          body: Buffer.from(JSON.stringify({anthropic_version: 'bedrock-2023-05-31', ...HI, max_tokens: 1})).toString(
            'base64',
          ),
        },
      },
    },
  ),
  post(
    'bedrock',
    {body: {...HI, model: 'amazon.nova-lite-v1:0'}, options: {aws_region: 'eu-west-1'}},
    'https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse',
    bearer,
    converse,
  ),
  post(
    'bedrock',
    {body: {...HI, model: 'amazon.nova-lite-v1:0', stream: true}},
    'https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse-stream',
    bearer,
    converse,
  ),
  get('bedrock', {path: '/foundation-models'}, 'https://bedrock.us-east-1.amazonaws.com/foundation-models', {
    authorization: 'Bearer k',
  }),
  post(
    'bedrock-mantle',
    {body: {...HI, model: 'openai.gpt-oss-120b'}, options: {aws_region: 'us-west-2'}},
    'https://bedrock-mantle.us-west-2.api.aws/v1/chat/completions',
    bearer,
  ),
  post(
    'bedrock-mantle',
    {
      endpoint: 'messages',
      body: {...HI, model: 'anthropic.claude-opus-4-8', max_tokens: 1},
      options: {aws_region: 'us-west-2'},
    },
    'https://bedrock-mantle.us-west-2.api.aws/anthropic/v1/messages',
    {...bearer, ...version},
  ),
  post(
    'bedrock-mantle',
    {endpoint: 'createModelResponse', body: {model: 'openai.gpt-5.4', input: 'Hi'}},
    'https://bedrock-mantle.us-east-1.api.aws/openai/v1/responses',
    bearer,
  ),
  post('bytez', {body: chat}, 'https://api.bytez.com/models/v2/openai/v1/chat/completions', {
    ...JSON_TYPE,
    authorization: 'Key k',
  }),
  post(
    'claude-platform-aws',
    {...claude, options: {aws_region: 'us-west-2', anthropic_aws_workspace_id: 'wrkspc_1'}},
    'https://aws-external-anthropic.us-west-2.api.aws/v1/messages',
    {...JSON_TYPE, ...version, 'x-api-key': 'k', 'anthropic-workspace-id': 'wrkspc_1'},
    anthropicBody,
  ),
  post('cohere', {body: chat}, 'https://api.cohere.ai/v2/chat', bearer, {
    model: 'm',
    messages: [{role: 'user', content: 'Hi'}],
    stream: false,
  }),
  post(
    'cortex',
    {body: chat, options: {snowflake_account: 'MyOrg-my_account'}},
    'https://myorg-my-account.snowflakecomputing.com/api/v2/cortex/inference:complete',
    {...bearer, accept: 'application/json', 'x-snowflake-authorization-token-type': 'PROGRAMMATIC_ACCESS_TOKEN'},
    {model: 'm', messages: [{role: 'user', content: 'Hi'}], stream: false},
  ),
  post(
    'databricks',
    {body: chat, options: {databricks_workspace: 'dbc-1'}},
    'https://dbc-1.cloud.databricks.com/serving-endpoints/chat/completions',
    bearer,
  ),
  post(
    'databricks',
    {body: chat, options: {databricks_workspace: 'dbc-1', databricks_serving_endpoint_name: 'ep'}},
    'https://dbc-1.cloud.databricks.com/serving-endpoints/ep/invocations',
    bearer,
  ),
  post(
    'deepgram',
    {endpoint: 'proxy', path: '/listen', query: '?model=nova-3', body: {url: 'https://example.com/a.wav'}},
    'https://api.deepgram.com/v1/listen?model=nova-3',
    {...JSON_TYPE, authorization: 'Token k'},
  ),
  post(
    'fal-ai',
    {...asPicture, body: {model: 'fal-ai/flux/dev', prompt: 'a cat'}},
    'https://fal.run/fal-ai/flux/dev',
    {...JSON_TYPE, authorization: 'Key k'},
    {prompt: 'a cat', num_images: 1},
  ),
  post(
    'google',
    {body: {...HI, model: 'gemini-2.5-flash'}},
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent',
    {...JSON_TYPE, 'x-goog-api-key': 'k'},
    geminiBody,
  ),
  post(
    'google',
    {body: {...HI, model: 'gemini-2.5-flash', stream: true}},
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    {...JSON_TYPE, 'x-goog-api-key': 'k'},
    geminiBody,
  ),
  post(
    'hyperbolic',
    {...asPicture, body: {model: 'SDXL1.0-base', prompt: 'a cat'}},
    'https://api.hyperbolic.xyz/v1/image/generation',
    bearer,
    {model_name: 'SDXL1.0-base', prompt: 'a cat', num_images: 1},
  ),
  post(
    'infinity',
    {...asEmbedding, key: null, custom_host: 'http://engine.test:7997'},
    'http://engine.test:7997/embeddings',
    JSON_TYPE,
  ),
  post('jina', asEmbedding, 'https://api.jina.ai/v1/embeddings', bearer),
  post('jina', asRerank, 'https://api.jina.ai/v1/rerank', bearer, {...asRerank.body, return_documents: false}),
  get('meshy', {path: '/text-to-3d/1'}, 'https://api.meshy.ai/openapi/v2/text-to-3d/1', {authorization: 'Bearer k'}),
  get('meshy', {path: '/image-to-3d/1'}, 'https://api.meshy.ai/openapi/v1/image-to-3d/1', {authorization: 'Bearer k'}),
  post(
    'milvus',
    {
      endpoint: 'proxy',
      path: '/v2/vectordb/entities/search',
      body: {collectionName: 'c'},
      custom_host: 'https://milvus.test',
    },
    'https://milvus.test/v2/vectordb/entities/search',
    bearer,
  ),
  post('mistral-ai', {body: chat}, 'https://api.mistral.ai/v1/chat/completions', bearer, chat),
  post('mistral-ai', asEmbedding, 'https://api.mistral.ai/v1/embeddings', bearer),
  post('nomic', asEmbedding, 'https://api-atlas.nomic.ai/v1/embedding/text', bearer, {model: 'm', texts: ['Hi']}),
  post(
    'ollama',
    {body: chat, key: null, custom_host: 'http://engine.test:11434'},
    'http://engine.test:11434/v1/chat/completions',
    JSON_TYPE,
  ),
  get(
    'ollama',
    {path: '/api/tags', key: null, custom_host: 'http://engine.test:11434'},
    'http://engine.test:11434/api/tags',
    {},
  ),
  post(
    'palm',
    {endpoint: 'proxy', path: '/models/text-bison-001:generateText', body: {prompt: {text: 'Hi'}}},
    'https://generativelanguage.googleapis.com/v1beta3/models/text-bison-001:generateText',
    {...JSON_TYPE, 'x-goog-api-key': 'k'},
  ),
  post(
    'pinecone',
    asRerank,
    'https://api.pinecone.io/rerank',
    {...JSON_TYPE, 'api-key': 'k', 'x-pinecone-api-version': '2025-04'},
    {model: 'm', query: 'q', documents: [{text: 'a'}, {text: 'b'}], top_n: 1, return_documents: false},
  ),
  post(
    'predibase',
    {body: {...chat, model: 'llama-3-8b:my-adapter/1', user: 'tenant1'}},
    'https://serving.app.predibase.com/tenant1/deployments/v2/llms/llama-3-8b/v1/chat/completions',
    bearer,
    {...HI, model: 'my-adapter/1', stream: false},
  ),
  post(
    'qdrant',
    {endpoint: 'proxy', path: '/collections/c/points/query', body: {limit: 1}, custom_host: 'https://qdrant.test:6333'},
    'https://qdrant.test:6333/collections/c/points/query',
    {...JSON_TYPE, 'api-key': 'Bearer k'},
  ),
  post('recraft-ai', asPicture, 'https://external.api.recraft.ai/v1/images/generations', bearer),
  post(
    'reka-ai',
    {body: chat},
    'https://api.reka.ai/v1/chat',
    {...JSON_TYPE, 'x-api-key': 'k'},
    {model: 'm', messages: [{role: 'user', content: 'Hi'}], stream: false},
  ),
  post(
    'replicate',
    {endpoint: 'proxy', path: '/predictions', body: {version: 'v'}},
    'https://api.replicate.com/v1/predictions',
    bearer,
  ),
  post(
    'segmind',
    {...asPicture, body: {model: 'sdxl1.0-txt2img', prompt: 'a cat'}},
    'https://api.segmind.com/v1/sdxl1.0-txt2img',
    {...JSON_TYPE, 'x-api-key': 'k'},
    {prompt: 'a cat', base64: true, samples: 1},
  ),
  post('siliconflow', asRerank, 'https://api.siliconflow.cn/v1/rerank', bearer, {
    ...asRerank.body,
    return_documents: false,
  }),
  post(
    'speaches',
    {
      endpoint: 'createSpeech',
      body: {model: 'm', input: 'Hi', voice: 'v'},
      key: null,
      custom_host: 'http://engine.test:8000/v1',
    },
    'http://engine.test:8000/v1/audio/speech',
    JSON_TYPE,
  ),
  post(
    'stability-ai',
    {
      ...asPicture,
      body: {model: 'stable-diffusion-xl-1024-v1-0', prompt: 'a cat'},
      options: {stability_client_id: 'app'},
    },
    'https://api.stability.ai/v1/generation/stable-diffusion-xl-1024-v1-0/text-to-image',
    {...bearer, accept: 'application/json', 'stability-client-id': 'app'},
    {text_prompts: [{text: 'a cat', weight: 1}], samples: 1},
  ),
  post(
    'text-embeddings-inference',
    {...asEmbedding, key: null, custom_host: 'http://engine.test:8080/v1'},
    'http://engine.test:8080/v1/embeddings',
    JSON_TYPE,
  ),
  post('together-ai', asRerank, 'https://api.together.xyz/v1/rerank', bearer, {
    ...asRerank.body,
    return_documents: false,
  }),
  post(
    'tripo3d',
    {endpoint: 'proxy', path: '/task', body: {type: 'text_to_model'}},
    'https://api.tripo3d.ai/v2/openapi/task',
    bearer,
  ),
  post(
    'triton',
    {
      endpoint: 'complete',
      body: {model: 'm', prompt: 'Hi', max_tokens: 5},
      key: null,
      custom_host: 'http://engine.test:8000/v2/models/m',
    },
    'http://engine.test:8000/v2/models/m/generate',
    JSON_TYPE,
    {text_input: 'Hi', max_tokens: 5},
  ),
  post(
    'vertex-ai',
    {body: {...HI, model: 'gemini-2.5-flash'}, options: {vertex_project_id: 'p', vertex_region: 'europe-west4'}},
    'https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-flash:generateContent',
    bearer,
    geminiBody,
  ),
  post(
    'vertex-ai',
    {
      body: {...HI, model: 'anthropic.claude-sonnet-4@20250514', max_tokens: 100, stream: true},
      options: {vertex_project_id: 'p', vertex_region: 'global'},
    },
    'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4@20250514:streamRawPredict',
    bearer,
    {anthropic_version: 'vertex-2023-10-16', max_tokens: 100, messages: anthropicBody.messages, stream: true},
  ),
  post(
    'vertex-ai',
    {body: {...HI, model: 'meta.llama-4-scout'}, options: {vertex_project_id: 'p', vertex_region: 'us-east5'}},
    'https://us-east5-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-east5/endpoints/openapi/chat/completions',
    bearer,
    {...HI, model: 'meta/llama-4-scout'},
  ),
  post(
    'vertex-ai',
    {body: {...HI, model: 'mistralai.mistral-small-2503'}, options: {vertex_project_id: 'p'}},
    'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/mistralai/models/mistral-small-2503:rawPredict',
    bearer,
    {...HI, model: 'mistral-small-2503'},
  ),
  post(
    'vertex-ai',
    {body: {...HI, model: 'endpoints.123'}, options: {vertex_project_id: 'p'}},
    'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/endpoints/123/chat/completions',
    bearer,
    {...HI, model: ''},
  ),
  post(
    'vertex-ai',
    {
      endpoint: 'messagesCountTokens',
      body: {...HI, model: 'anthropic.claude-sonnet-4@20250514'},
      options: {vertex_project_id: 'p', vertex_region: 'us-east5'},
    },
    'https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models/count-tokens:rawPredict',
    bearer,
    {anthropic_version: 'vertex-2023-10-16', ...HI, model: 'claude-sonnet-4@20250514'},
  ),
  post(
    'vertex-ai',
    {
      endpoint: 'messages',
      body: {...HI, model: 'anthropic.claude-sonnet-4@20250514', max_tokens: 5, stream: true, service_tier: 'auto'},
      options: {vertex_project_id: 'p', vertex_region: 'global'},
    },
    'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4@20250514:streamRawPredict',
    bearer,
    {anthropic_version: 'vertex-2023-10-16', ...HI, max_tokens: 5, stream: true},
  ),
  post(
    'bedrock',
    {endpoint: 'messages', body: {...HI, model: 'anthropic.claude-sonnet-4-20250514-v1:0', max_tokens: 5}},
    'https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-20250514-v1%3A0/invoke',
    bearer,
    {anthropic_version: 'bedrock-2023-05-31', ...HI, max_tokens: 5},
  ),
  post(
    'vertex-ai',
    {
      endpoint: 'messagesCountTokens',
      body: {...HI, model: 'gemini-2.5-flash', system: 'S'},
      options: {vertex_project_id: 'p'},
    },
    'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google/models/gemini-2.5-flash:countTokens',
    bearer,
    {...geminiBody, systemInstruction: {parts: [{text: 'S'}]}},
  ),
  ...(
    [
      ['europe-west4', 'https://discoveryengine.googleapis.com/v1/projects/p/locations/global'],
      ['eu', 'https://eu-discoveryengine.googleapis.com/v1/projects/p/locations/eu'],
    ] as const
  ).map(([vertex_region, at]) =>
    post(
      'vertex-ai',
      {
        endpoint: 'rerank',
        body: {...asRerank.body, model: 'semantic-ranker-default@latest', documents: ['a', {title: 'B', text: 'b'}]},
        options: {vertex_project_id: 'p', vertex_region},
      },
      `${at}/rankingConfigs/default_ranking_config:rank`,
      bearer,
      {
        model: 'semantic-ranker-default@latest',
        query: 'q',
        records: [
          {id: '0', content: 'a'},
          {id: '1', title: 'B', content: 'b'},
        ],
        topN: 1,
        ignoreRecordDetailsInResponse: true,
      },
    ),
  ),
  post('voyage', asEmbedding, 'https://api.voyageai.com/v1/embeddings', bearer),
  post('voyage', asRerank, 'https://api.voyageai.com/v1/rerank', bearer, {
    model: 'm',
    query: 'q',
    documents: ['a', 'b'],
    top_k: 1,
  }),
  post(
    'workers-ai',
    {body: {...HI, model: '@cf/meta/llama-3.1-8b-instruct'}, options: {workers_ai_account_id: 'acct'}},
    'https://api.cloudflare.com/client/v4/accounts/acct/ai/run/@cf/meta/llama-3.1-8b-instruct',
    bearer,
    {...HI, stream: false},
  ),
  post(
    'byteplus',
    {body: chat, options: {byteplus_region: 'eu-west'}},
    'https://ark.eu-west.bytepluses.com/api/v3/chat/completions',
    bearer,
  ),
  post(
    'huggingface',
    {body: chat, options: {huggingface_base_url: 'https://x.endpoints.huggingface.cloud'}},
    'https://x.endpoints.huggingface.cloud/v1/chat/completions',
    bearer,
  ),
  get('fireworks-ai', {path: '/accounts/a/models'}, 'https://api.fireworks.ai/v1/accounts/a/models', {
    authorization: 'Bearer k',
  }),
]
