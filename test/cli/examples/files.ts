import {signer} from '../../support/tokens.ts'

const REQUEST = {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'Hi'}]}
const GUARDRAIL = {
  checks: [{id: 'default.contains', parameters: {words: ['internal'], operator: 'none'}}],
  actions: {deny: true},
}
const PRICE = {pricing_config: {pay_as_you_go: {request_token: {price: 0.0002}, response_token: {price: 0.0008}}}}
const SUITE = `config: main.json
cases:
  - name: it goes to the main provider
    request: {body: {model: gpt-4o, messages: [{role: user, content: Hi}]}}
    expect: {target: '@my-openai', status: 200}
`
const GREETING = {
  messages: [{role: 'user', content: 'Hi {{name}}'}],
  parameters: {},
  model: 'gpt-4o',
  provider: 'my-openai',
}
const LITELLM = `model_list:
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY}
`
const LOG_ROW = {
  request: {url: 'https://api.openai.com/v1/chat/completions', method: 'post', body: REQUEST},
  response: {status: 200, body: {}},
}

const KEY = signer('ES256')

const ABILITIES = {name: 'openai', description: '', default: {params: []}}

/** The files that examples name, by path. */
export const FILES: Readonly<Record<string, string>> = {
  'keys.json': JSON.stringify({keys: [KEY.jwk]}),
  'openai.key': 'sk-openai-0123456789',
  'secret.txt': 'secret-of-the-client\n',
  'password.txt': 'correct horse battery staple\n',
  'key.txt': 'sk-key-0123456789',
  'main.json': JSON.stringify({provider: '@my-openai'}),
  'plans.json': JSON.stringify({provider: '@my-openai'}),
  'change.json': JSON.stringify({name: 'Changed'}),
  'models.json': JSON.stringify({models: [{slug: 'gpt-5', enabled: true}], allow_all_models: false}),
  'guardrail.json': JSON.stringify(GUARDRAIL),
  'guardrail.yaml': JSON.stringify(GUARDRAIL),
  'request.json': JSON.stringify(REQUEST),
  'request.yaml': JSON.stringify({body: REQUEST}),
  'answer.json': JSON.stringify({
    choices: [{index: 0, message: {role: 'assistant', content: 'Hi'}, finish_reason: 'stop'}],
  }),
  'suite.yaml': SUITE,
  'login.yaml': 'vault_auth_type: token\nvault_addr: https://vault.example.com\nvault_token: hvs.0123456789\n',
  'headers.json': JSON.stringify({custom_headers: {authorization: 'Bearer 0123456789'}}),
  'greeting.yaml': JSON.stringify(GREETING),
  'variables.yaml': 'variables: {name: Ann}\n',
  'question.json': JSON.stringify({variables: {name: 'Ann'}}),
  'rules.txt': 'Be kind.',
  'price.json': JSON.stringify(PRICE.pricing_config),
  'litellm.yaml': LITELLM,
  'calls.json': JSON.stringify([LOG_ROW]),
  'capabilities/openai.json': JSON.stringify(ABILITIES),
  'capabilities/anthropic.json': JSON.stringify(ABILITIES),
  'prices/openai.json': JSON.stringify({'gpt-4o': PRICE}),
}
