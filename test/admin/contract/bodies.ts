/** Bodies in which every field that is documented has a value. */
export const LIMITS = {
  usage_limits: {type: 'cost', credit_limit: 100, alert_threshold: 80, periodic_reset: 'monthly'},
  rate_limits: [{type: 'requests', unit: 'rpm', value: 60}],
}
export const EXPIRES = '2027-01-01T00:00:00.000Z'

const cloud = {
  azure_entra_tenant_id: 'tenant',
  azure_entra_client_id: 'client',
  azure_entra_client_secret: 'entra-secret-0123',
}
const aws = {
  aws_auth_type: 'accessKey',
  aws_region: 'eu-west-1',
  aws_access_key_id: 'AKIA0123456789',
  aws_secret_access_key: 'aws-secret-0123456789',
  aws_role_arn: 'arn:aws:iam::123456789012:role/models',
  aws_external_id: 'outside',
}
/** Kind of provider → settings, in the order of the reference's forms. */
export const CONFIGURATIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  openai: {
    openai_organization: 'org-1',
    openai_project: 'proj-1',
    custom_host: 'https://models.example.com/v1',
    custom_headers: {'x-team': 'a'},
  },
  'azure-openai': {
    azure_auth_mode: 'entra',
    azure_resource_name: 'resource',
    azure_deployment_config: [
      {
        alias: 'main',
        azure_api_version: '2024-10-21',
        azure_deployment_name: 'gpt',
        is_default: true,
        azure_model_slug: 'gpt-4o',
      },
    ],
    ...cloud,
    azure_managed_client_id: 'managed',
  },
  bedrock: aws,
  'vertex-ai': {
    vertex_auth_type: 'serviceAccount',
    vertex_region: 'europe-west1',
    vertex_project_id: 'project',
    vertex_service_account_json: {
      type: 'service_account',
      project_id: 'project',
      client_email: 'caller@project.example.com',
      private_key: 'private-key-0123456789',
    },
  },
  'azure-ai': {
    azure_auth_mode: 'default',
    azure_foundry_url: 'https://models.example.com',
    azure_api_version: '2024-10-21',
    azure_deployment_name: 'gpt',
  },
  'workers-ai': {workers_ai_account_id: 'account'},
  sagemaker: {
    ...aws,
    amzn_sagemaker_custom_attributes: 'a',
    amzn_sagemaker_target_model: 'b',
    amzn_sagemaker_target_variant: 'c',
    amzn_sagemaker_target_container_hostname: 'd',
    amzn_sagemaker_inference_id: 'e',
    amzn_sagemaker_enable_explanations: 'f',
    amzn_sagemaker_inference_component: 'g',
    amzn_sagemaker_session_id: 'h',
    amzn_sagemaker_model_name: 'i',
  },
  huggingface: {huggingface_base_url: 'https://models.example.com'},
  cortex: {snowflake_account: 'account'},
}

/** A check of each form of the reference, in its order, with all of its parameters. */
export const CHECKS: readonly {readonly id: string; readonly parameters: Readonly<Record<string, unknown>>}[] = [
  {
    id: 'default.jwt',
    parameters: {
      jwksUri: 'https://id.example.com/keys',
      headerKey: 'authorization',
      cacheMaxAge: 60,
      clockTolerance: 5,
      maxTokenAge: '1d',
      algorithms: ['RS256'],
    },
  },
  {id: 'default.modelWhitelist', parameters: {models: ['gpt-4o']}},
  {id: 'default.regexMatch', parameters: {rule: 'secret', not: true}},
  {id: 'default.sentenceCount', parameters: {minSentences: 1, maxSentences: 9, not: false}},
  {id: 'default.wordCount', parameters: {minWords: 1, maxWords: 9, not: false}},
  {id: 'default.characterCount', parameters: {minCharacters: 1, maxCharacters: 9, not: false}},
  {id: 'default.jsonSchema', parameters: {schema: {type: 'object'}, not: false}},
  {id: 'default.jsonKeys', parameters: {keys: ['a'], operator: 'any'}},
  {id: 'default.contains', parameters: {words: ['a'], operator: 'none'}},
  {id: 'default.validUrls', parameters: {onlyDNS: true, not: false}},
  {id: 'default.containsCode', parameters: {format: 'SQL', not: false}},
  {
    id: 'default.webhook',
    parameters: {webhookURL: 'https://hooks.example.com', headers: {'x-team': 'a'}, timeout: 1000, failOnError: true},
  },
  {id: 'default.endsWith', parameters: {suffix: '.', not: false}},
  {id: 'default.alluppercase', parameters: {not: false}},
  {id: 'default.requiredMetadataKeys', parameters: {metadataKeys: ['team'], operator: 'all'}},
  {id: 'default.allowedRequestTypes', parameters: {allowedTypes: ['chatComplete'], blockedTypes: ['embed']}},
  {
    id: 'sydelabs.sydeguard',
    parameters: {prompt_injection_threshold: 0.5, toxicity_threshold: 0.5, evasion_threshold: 0.5, timeout: 1000},
  },
  {id: 'aporia.validateProject', parameters: {projectID: 'project'}},
  {id: 'pillar.scanPrompt', parameters: {scanners: ['pii']}},
  {id: 'gateway.pii', parameters: {redact: true}},
  {id: 'patronus.custom', parameters: {profile: 'patronus:is-polite'}},
  {id: 'gateway.moderateContent', parameters: {categories: ['hate']}},
  {id: 'gateway.language', parameters: {language: 'eng_Latn', not: false}},
  {id: 'mistral.moderateContent', parameters: {categories: ['sexual']}},
  {id: 'bedrock.guard', parameters: {guardrailVersion: '1', guardrailId: 'guard', redact: true}},
  {id: 'promptfoo.pii', parameters: {redact: true}},
  {
    id: 'acuvity.scan',
    parameters: {
      prompt_injection: true,
      prompt_injection_threshold: 0.5,
      toxic: true,
      toxic_threshold: 0.5,
      jail_break: true,
      jail_break_threshold: 0.5,
      malicious_url: true,
      malicious_url_threshold: 0.5,
      biased: true,
      biased_threshold: 0.5,
      harmful: true,
      harmful_threshold: 0.5,
      language: true,
      language_values: 'english',
      pii: true,
      pii_redact: true,
      pii_categories: ['email_address'],
      secrets: true,
      secrets_redact: true,
      secrets_categories: ['openai'],
    },
  },
  {id: 'azure.contentSafety', parameters: {blocklistNames: ['list'], apiVersion: '2024-09-01', severity: 2}},
  {id: 'azure.pii', parameters: {redact: true, domain: 'phi', modelVersion: 'latest', apiVersion: '2024-11-01'}},
  {id: 'panw-prisma-airs.intercept', parameters: {profile_name: 'profile', ai_model: 'gpt-4o', app_user: 'ada'}},
].map(check => ({...check, name: 'Kept', is_enabled: true}))
const feedback = (value: number) => ({feedback: {value, weight: 1, metadata: 'Judged'}})
export const ACTIONS = {deny: true, async: false, on_success: feedback(5), on_fail: feedback(-5)}

export const FILTERS = {
  time_of_generation_min: '2026-03-01T00:00:00.000Z',
  time_of_generation_max: '2026-03-31T00:00:00.000Z',
  total_units_min: 0,
  total_units_max: 1000,
  cost_min: 0,
  cost_max: 1000,
  ai_model: 'gpt-4o',
  prompt_token_min: 0,
  prompt_token_max: 1000,
  completion_token_min: 0,
  completion_token_max: 1000,
  status_code: '200',
  metadata: {team: 'blue'},
  ai_org_model: 'openai__gpt-4o',
  weighted_feedback_min: -10,
  weighted_feedback_max: 10,
  virtual_keys: 'none',
  trace_id: 'none',
  configs: 'none',
  prompt_slug: 'none',
  page_size: 10,
  current_page: 0,
}

/** A template with a value for every member of a call that the reference names; `render` shows them all. */
export const CHAT_PARAMETERS = {
  frequency_penalty: 0.5,
  logit_bias: {'50256': -100},
  logprobs: true,
  top_logprobs: 2,
  max_tokens: 50,
  max_completion_tokens: 50,
  n: 1,
  presence_penalty: 0.5,
  response_format: {type: 'json_schema', json_schema: {name: 'reply', schema: {type: 'object'}}},
  seed: 7,
  stop: ['.'],
  stream: false,
  stream_options: {include_usage: true},
  thinking: {type: 'enabled', budget_tokens: 100},
  temperature: 0.5,
  top_p: 0.5,
  parallel_tool_calls: true,
  user: 'ada',
  function_call: {name: 'find'},
}
export const FUNCTION = {name: 'find', description: 'Finds', parameters: {type: 'object'}}
export const TOOL = {type: 'function', function: FUNCTION}
export const TOOL_CHOICE = {type: 'function', function: {name: 'find'}}
export const MESSAGES = [
  {role: 'user', name: 'ada', content: 'Hi {{name}}'},
  {
    role: 'assistant',
    content: null,
    tool_calls: [{id: 'call-1', type: 'function', function: {name: 'find', arguments: '{}'}}],
  },
  {role: 'tool', tool_call_id: 'call-1', content: '1'},
  {role: 'assistant', content: null, function_call: {name: 'find', arguments: '{}'}},
]
export const TEXT_PARAMETERS = {best_of: 1, echo: false, suffix: '.', max_tokens: 5}

export const SECRETS: readonly {
  readonly manager_type: string
  readonly auth_config: Readonly<Record<string, string>>
}[] = [
  {
    manager_type: 'aws_sm',
    auth_config: {
      aws_auth_type: 'accessKey',
      aws_access_key_id: 'AKIA0123456789',
      aws_secret_access_key: 'aws-secret-0123456789',
      aws_region: 'eu-west-1',
    },
  },
  {
    manager_type: 'aws_sm',
    auth_config: {
      aws_auth_type: 'assumedRole',
      aws_role_arn: aws.aws_role_arn,
      aws_external_id: 'outside',
      aws_region: 'eu-west-1',
    },
  },
  {manager_type: 'aws_sm', auth_config: {aws_auth_type: 'serviceRole', aws_region: 'eu-west-1'}},
  {
    manager_type: 'azure_kv',
    auth_config: {azure_auth_mode: 'entra', ...cloud, azure_vault_url: 'https://keys.vault.azure.net'},
  },
  {
    manager_type: 'azure_kv',
    auth_config: {
      azure_auth_mode: 'managed',
      azure_vault_url: 'https://keys.vault.azure.net',
      azure_managed_client_id: 'managed',
    },
  },
  {
    manager_type: 'azure_kv',
    auth_config: {azure_auth_mode: 'default', azure_vault_url: 'https://keys.vault.azure.net'},
  },
  {
    manager_type: 'hashicorp_vault',
    auth_config: {
      vault_auth_type: 'token',
      vault_addr: 'https://vault.example.com',
      vault_token: 'vault-token-0123',
      vault_namespace: 'a',
    },
  },
  {
    manager_type: 'hashicorp_vault',
    auth_config: {
      vault_auth_type: 'approle',
      vault_addr: 'https://vault.example.com',
      vault_role_id: 'role',
      vault_secret_id: 'vault-secret-0123',
      vault_namespace: 'a',
    },
  },
  {
    manager_type: 'hashicorp_vault',
    auth_config: {
      vault_auth_type: 'kubernetes',
      vault_addr: 'https://vault.example.com',
      vault_role: 'role',
      vault_namespace: 'a',
    },
  },
]

const price = {price: 0.001}
/** US cents for one token or unit. */
export const PRICES = {
  pay_as_you_go: {
    request_token: price,
    response_token: price,
    cache_write_input_token: price,
    cache_read_input_token: price,
    request_audio_token: price,
    response_audio_token: price,
    cache_read_audio_input_token: price,
    additional_units: {web_search: price},
    image: {standard: {'1024x1024': price}},
  },
  finetune_config: {pay_per_token: price, pay_per_hour: price},
}

/** A field that is filled from a secret reference. */
export const mapping = (secret_reference_id: string, target_field: string) => ({
  ...{target_field, secret_reference_id},
  ...{secret_key: 'key', value_format: 'string'},
})
