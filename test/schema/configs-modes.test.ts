import {describe, expect, test} from 'vitest'
import {mapApiKeys, nodesOf, readConfig} from '../../src/schema/configs.ts'

type Options = Parameters<typeof readConfig>[1]

const good = (value: unknown, options: Options = {saved: true}) => {
  const read = readConfig(value, options)
  if ('issues' in read) throw new Error(JSON.stringify(read.issues))
  return read
}
const issues = (value: unknown, options: Options = {saved: true}) => {
  const read = readConfig(value, options)
  return 'issues' in read ? read.issues.map(({path, message}) => `${path}: ${message}`) : []
}
const warnings = (value: unknown, options?: Options) =>
  good(value, options).warnings.map(({path, message}) => `${path}: ${message}`)

const [a, b] = [{provider: '@a'}, {provider: '@b'}]
const fallback = (more: object = {}, targets: unknown[] = [a, b]) => ({strategy: {mode: 'fallback', ...more}, targets})
const loadbalance = (targets: unknown[] = [a, b], more: object = {}) => ({
  strategy: {mode: 'loadbalance', ...more},
  targets,
})
const conditional = (
  conditions: unknown,
  more: object = {},
  targets: unknown = [
    {name: 'a', ...a},
    {name: 'b', ...b},
  ],
) => ({
  strategy: {mode: 'conditional', conditions, ...more},
  targets,
})
const when = (then: unknown, query: unknown = {'metadata.x': 'y'}) =>
  Object.fromEntries([
    ['query', query],
    ['then', then],
  ])

describe('the normal form', () => {
  test.each<[string, unknown, unknown]>([
    ['a bare cache', {cache: 'simple'}, {cache: {mode: 'simple'}}],
    [
      'camelCase in rules',
      {retry: {attempts: 1, onStatusCodes: [429]}},
      {retry: {attempts: 1, on_status_codes: [429]}},
    ],
    [
      'the plural',
      {retry: {attempts: 1, use_retry_after_headers: true}},
      {retry: {attempts: 1, use_retry_after_header: true}},
    ],
    [
      'camelCase of the plural',
      {retry: {attempts: 1, useRetryAfterHeaders: true}},
      {retry: {attempts: 1, use_retry_after_header: true}},
    ],
    ['strictness', {strict_openai_compliance: false}, {strict_open_ai_compliance: false}],
    ['strictness in camelCase', {strictOpenAiCompliance: false}, {strict_open_ai_compliance: false}],
    [
      'settings of Azure without its name',
      {provider: '@a', resource_name: 'r', deploymentId: 'd', api_version: 'v'},
      {provider: '@a', azure_resource_name: 'r', azure_deployment_id: 'd', azure_api_version: 'v'},
    ],
    [
      'settings by letters of clouds',
      {provider: '@a', cloud_a_model_name: 'm', cloudBProjectId: 'p', cloud_c_region: 'r'},
      {provider: '@a', azure_model_name: 'm', vertex_project_id: 'p', aws_region: 'r'},
    ],
    ['a list of betas', {provider: '@a', anthropic_beta: ['one', 'two']}, {provider: '@a', anthropic_beta: 'one,two'}],
    [
      'a key file',
      {provider: '@a', vertex_service_account_json: {type: 'service_account'}},
      {provider: '@a', vertex_service_account_json: '{"type":"service_account"}'},
    ],
    ['retries switched off', {retry: {attempts: 0}}, {retry: {attempts: 0}}],
  ])('%s', (_, said, normal) => {
    expect(good(said)).toEqual({config: normal, warnings: []})
  })

  test('contents that are not ours stay as they are', () => {
    const said = {
      override_params: {someThing: {innerKey: 1}, __proto__: undefined},
      default_params: {maxTokens: 1},
      input_guardrails: [{'default.wordCount': {minWords: 1}, onFail: {}}, 'pg-1'],
      before_request_hooks: [{id: 'x', onSuccess: {feedback: {}}}],
      ...conditional([when('a', {'params.maxTokens': {$gt: 5}}), when('b')]),
    }
    expect(good(said).config).toEqual(said)
  })
})

describe('what is refused in', () => {
  test.each<[string, unknown, string]>([
    ['retry', {retry: 3}, 'config.retry: expected an object, found a number'],
    ['retry', {retry: {attempts: 6}}, 'config.retry.attempts: expected a whole number from 0 to 5, found 6'],
    ['retry', {retry: {attemps: 2}}, 'config.retry.attemps: is not known; did you mean attempts?'],
    [
      'retry',
      {retry: {attempts: 1, on_status_codes: [1000]}},
      'config.retry.on_status_codes[0]: expected a whole number from 100 to 599, found 1000',
    ],
    ['cache', {cache: 'always'}, 'config.cache: expected an object, found a text'],
    ['cache', {cache: {mode: 'smple'}}, 'config.cache.mode: expected one of simple, semantic; did you mean simple?'],
    ['cache', {cache: {max_age: 60}}, 'config.cache.mode: is required: one of simple, semantic'],
    [
      'cache',
      {cache: {mode: 'simple', max_age: 59}},
      'config.cache.max_age: expected a whole number of seconds from 60 to 7776000, found 59',
    ],
    [
      'a timeout',
      {request_timeout: -1},
      'config.request_timeout: expected a whole number of milliseconds from 1 to 2147483647, found -1',
    ],
    [
      'a weight',
      loadbalance([{...a, weight: Number.NaN}]),
      'config.targets[0].weight: expected a number from 0 to 1000000, found NaN',
    ],
    [
      'a weight',
      loadbalance([{...a, weight: -1}]),
      'config.targets[0].weight: expected a number from 0 to 1000000, found -1',
    ],
    [
      'weights',
      loadbalance([
        {...a, weight: 0},
        {...b, weight: 0},
      ]),
      'config.targets: have no weight above 0; expected one at least',
    ],
    [
      'a strategy',
      {strategy: {}, targets: [a]},
      'config.strategy.mode: is required: one of single, loadbalance, fallback, conditional',
    ],
    ['a strategy', {targets: [a, b]}, 'config.strategy: is required beside several targets: an object with a mode'],
    [
      'a fallback',
      fallback({on_status_codes: []}),
      'config.strategy.on_status_codes: expected at least one in the list of status codes, found none',
    ],
    [
      'a fallback',
      fallback({on_statuscodes: [429]}),
      'config.strategy.on_statuscodes: is not known; did you mean on_status_codes?',
    ],
    [
      'sticky',
      loadbalance([a, b], {sticky: {hash_fields: ['metadata.u']}}),
      'config.strategy.sticky.enabled: is required: true or false',
    ],
    [
      'sticky',
      loadbalance([a, b], {sticky: {enabled: true}}),
      'config.strategy.sticky.hash_fields: is required: a list of fields such as metadata.user',
    ],
    [
      'sticky',
      loadbalance([a, b], {sticky: {enabled: true, hash_fields: ['user']}}),
      'config.strategy.sticky.hash_fields[0]: expected metadata.KEY or params.KEY, found a text',
    ],
    ['conditions', conditional(undefined), 'config.strategy.conditions: expected a list of conditions, found nothing'],
    [
      'conditions',
      {strategy: {mode: 'conditional'}, targets: [a]},
      'config.strategy.conditions: is required: a list of objects with a query and the name of a target in then',
    ],
    [
      'conditions',
      conditional([{query: {'metadata.x': 'y'}}]),
      'config.strategy.conditions[0].then: is required: the name of a target',
    ],
    [
      'conditions',
      conditional([when('aa'), when('b')]),
      'config.strategy.conditions[0].then: names no target beside it; did you mean a?',
    ],
    [
      'conditions',
      conditional([when('nobody')]),
      'config.strategy.conditions[0].then: names no target beside it; expected one of a, b',
    ],
    [
      'conditions',
      conditional([when('x')], {}, [a]),
      'config.strategy.conditions[0].then: names no target beside it; no target has a name',
    ],
    [
      'conditions',
      conditional([when('a')], {default: 'nobody'}),
      'config.strategy.default: names no target beside it; expected one of a, b',
    ],
    [
      'conditions',
      conditional([when('a')], {}, [
        {name: 'a', ...a},
        {name: 'a', ...b},
      ]),
      'config.targets[1].name: is the name of targets[0] too; a condition could mean either',
    ],
    [
      'a breaker',
      {...fallback(), cb_config: {cooldown_interval: 30_000}},
      'config.cb_config: never opens; expected failure_threshold or failure_threshold_percentage',
    ],
    [
      'a breaker',
      {...fallback(), cb_config: {failure_threshold: 1, cooldown_interval: 29_999}},
      'config.cb_config.cooldown_interval: expected a whole number of milliseconds from 30000 to 86400000, found 29999',
    ],
    [
      'a breaker',
      {...fallback({cb_config: {failure_threshold: 1}}), cb_config: {failure_threshold: 1}},
      'config.strategy.cb_config: is given twice, in the node too',
    ],
    [
      'paths',
      {drop_params: ['a', 'b..c']},
      'config.drop_params[1]: expected a path such as a.b, tools[0].x or messages[*].content[*].y, found a text',
    ],
    ['hooks', {before_request_hooks: ['pg-1']}, 'config.before_request_hooks[0]: expected an object, found a text'],
    [
      'guardrails',
      {input_guardrails: 'pg-1'},
      'config.input_guardrails: expected a list of guardrails, each a slug or an object, found a text',
    ],
    ['guardrails', {output_guardrails: [7]}, 'config.output_guardrails[0]: expected an object, found a number'],
    [
      'a model',
      {override_params: {model: 7}},
      'config.override_params.model: expected the name of a model, or @slug/model',
    ],
    [
      'parameters',
      {override_params: {a: [Number.NaN]}},
      'config.override_params.a[0]: expected a number that JSON has, found NaN',
    ],
    [
      'a login',
      {provider: '@a', aws_auth_type: 'accesKey'},
      'config.aws_auth_type: expected one of accessKey, assumedRole, serviceRole, apiKey; did you mean accessKey?',
    ],
    [
      'deployments',
      {provider: '@a', deployments: [{alias: 'x'}]},
      'config.deployments[0].deployment_id: is required: the name of a deployment',
    ],
    [
      'a key',
      {provider: '@a', aws_secret_acess_key: 'x'},
      'config.aws_secret_acess_key: is not known; did you mean aws_secret_access_key?',
    ],
    [
      'a key that is no word',
      {provider: '@a', 'bad key\n': 1},
      'config["bad key\\n"]: is not known; expected one of strategy, targets, name, provider, api_key, override_params, retry, cache, request_timeout, weight',
    ],
  ])('%s: %j', (_, config, sentence) => {
    expect(issues(config)).toContain(sentence)
  })

  test.each([
    'api_key',
    'aws_secret_access_key',
    'azure_entra_client_secret',
    'oracle_private_key',
    'vertex_service_account_json',
    'azure_ad_token',
  ])('%s comes back in no sentence, and its mask is not taken for it', key => {
    const said = issues({provider: '@a', [key]: 'canary sk-•••••6789'})
    expect(said).toHaveLength(1)
    expect(said[0]).toMatch(new RegExp(`^config\\.${key}: expected `))
    expect(said[0]).not.toMatch(/canary|•|6789/)
  })

  test('circles and depth', () => {
    const circle: Record<string, unknown> = {provider: '@a'}
    circle.override_params = {circle}
    expect(issues(circle)).toEqual(['config.override_params.circle.override_params: holds itself'])
    const targets: Record<string, unknown> = {strategy: {mode: 'fallback'}}
    targets.targets = [targets, targets]
    expect(issues(targets)[0]).toMatch(/stands deeper than 10 levels$|targets below one target of the root/)
    let deep: unknown = 1
    for (let level = 0; level < 5000; level++) deep = [deep]
    expect(issues({override_params: {deep}})[0]).toMatch(/stands deeper than 64 levels$/)
  })

  test('too many targets: of the root, of a conditional one, below one target of it', () => {
    const many = (count: number) => Array.from({length: count}, (_, at) => ({name: `t${at}`, provider: `@p${at}`}))
    const limits = {root: 3, conditional_root: 5, nested: 4}
    expect(issues(loadbalance(many(100)))).toEqual([])
    expect(issues(loadbalance(many(10_000)))).toEqual(['config.targets: has 10000 targets; expected at most 100'])
    expect(issues(loadbalance(many(3)), {limits})).toEqual([])
    expect(issues(loadbalance(many(4)), {limits})).toEqual(['config.targets: has 4 targets; expected at most 3'])
    const chosen = (count: number) =>
      conditional(
        Array.from({length: count}, (_, at) => when(`t${at}`, {'metadata.x': `${at}`})),
        {},
        many(count),
      )
    expect(issues(chosen(5), {limits})).toEqual([])
    expect(issues(chosen(6), {limits})).toEqual(['config.targets: has 6 targets; expected at most 5'])
    const nested = loadbalance([loadbalance([a, b]), loadbalance([loadbalance([a, b]), a])])
    expect(issues(nested, {limits})).toEqual([])
    expect(issues(loadbalance([loadbalance([loadbalance([a, b]), a, b])]), {limits})).toEqual([
      'config.targets[0].targets[0].targets: makes more than 4 targets below one target of the root; expected at most 4',
    ])
  })
})

describe('what is known and has no effect', () => {
  test.each<[unknown, string]>([
    [
      fallback({}, [{...a, weight: 1}]),
      'config.targets[0].weight: has no effect here: it counts under the mode loadbalance alone',
    ],
    [
      loadbalance([a, b], {on_status_codes: [429]}),
      'config.strategy.on_status_codes: has no effect here: it counts under the mode fallback alone',
    ],
    [
      fallback({sticky: {enabled: false}}),
      'config.strategy.sticky: has no effect here: it counts under the mode loadbalance alone',
    ],
    [
      fallback({default: 'a'}),
      'config.strategy.default: has no effect here: it counts under the mode conditional alone',
    ],
    [
      fallback({conditions: [when('a')]}),
      'config.strategy.conditions: has no effect here: it counts under the mode conditional alone',
    ],
    [
      {strategy: {mode: 'single'}, targets: [a, b]},
      'config.targets[1]: has no effect: the mode single asks the first target alone',
    ],
    [{...fallback(), aws_region: 'eu-west-1'}, 'config.aws_region: has no effect beside targets, which name their own'],
    [
      fallback({}, [{...a, default_input_guardrails: ['pg-1']}]),
      'config.targets[0].default_input_guardrails: has no effect here: it counts at the root alone',
    ],
    [
      {provider: '@a', retry: {on_status_codes: [429]}},
      'config.retry: has no effect without attempts, which is 0 where it is not said',
    ],
    [
      {retry: {attempts: 0, useRetryAfterHeader: true}, ...a},
      'config.retry.useRetryAfterHeader: has no effect beside attempts of 0',
    ],
    [
      {...a, retry: {attempts: 1, on_status_codes: [500], use_retry_after_header: true}},
      'config.retry.use_retry_after_header: has no effect: it counts for 429 alone, which on_status_codes leaves out',
    ],
    [
      {...fallback(), cb_config: {failure_threshold: 1, minimum_requests: 5}},
      'config.cb_config.minimum_requests: has no effect without failure_threshold_percentage',
    ],
    [
      {...a, cb_config: {failure_threshold: 1}},
      'config.cb_config: has no effect here: no fallback or load balance asks it',
    ],
    [
      conditional([when('a'), when('b', {'params.n': 1})], {cb_config: {failure_threshold: 1}}),
      'config.strategy.cb_config: has no effect here: no fallback or load balance asks it',
    ],
    [conditional([when('a')]), 'config.targets[1]: has no effect: no condition names it, and it is not the default'],
    [
      conditional([when('a'), when('b')]),
      'config.strategy.conditions[1].query: has no effect: conditions[0] asks the same and comes first',
    ],
    [
      conditional([when('a', {'metadata.n': 5})], {default: 'b'}),
      'config.strategy.conditions[0].query["metadata.n"]: has no effect: values of metadata are texts; write it in quotes',
    ],
    [
      {override_params: {seed: 1}, drop_params: ['seed']},
      'config.override_params.seed: has no effect: drop_params takes it away',
    ],
    [
      {override_params: {seed: 1}, default_params: {seed: 2}},
      'config.default_params.seed: has no effect: override_params sets it',
    ],
    [{provider: '@a', virtual_key: 'b'}, 'config.provider: has no effect beside virtual_key, which names another'],
    [{provider: '@a', passthrough: true}, 'config.provider: has no effect beside passthrough'],
    [
      {provider: '@a', override_params: {model: '@b/m'}},
      'config.override_params.model: names a provider without effect: that of the target counts',
    ],
  ])('%j is a warning, and is left out', (config, sentence) => {
    expect(warnings(config)).toEqual([sentence])
  })

  test('a circuit breaker counts in a saved config', () => {
    const said = {...fallback(), cb_config: {failure_threshold: 1}}
    expect(good(said)).toEqual({config: said, warnings: []})
    expect(good(said, {})).toEqual({
      config: fallback(),
      warnings: [{path: 'config.cb_config', message: 'has no effect here: circuits are kept for saved configs alone'}],
    })
    const below = fallback({cb_config: {failure_threshold: 1}})
    expect(good(below).config).toEqual(below)
    expect(good(below, {}).config).toEqual(fallback())
    const inner = conditional([when('a')], {}, [{name: 'a', ...loadbalance()}])
    expect(warnings({...inner, cb_config: {failure_threshold: 1}})).toEqual([])
  })

  test.each<[unknown]>([
    [{provider: 'x', virtual_key: 'b'}],
    [{provider: '@a', override_params: {model: '@a/m'}}],
    [{provider: '@a', override_params: {}, drop_params: []}],
    [loadbalance([{...a, weight: 0}, b], {sticky: {enabled: false}})],
    [{request_timeout: 5, ...fallback({}, [{...a, request_timeout: 6}])}],
  ])('%j is none', config => {
    expect(warnings(config)).toEqual([])
  })
})

test('what services of inline guardrails are asked with is secret too', () => {
  const config = good({
    provider: 'x',
    input_guardrails: [
      'pg-saved',
      {
        webhook: {webhookURL: 'https://g.example', headers: {'x-key': 'one'}},
        deny: true,
        on_fail: {feedback: {value: -1}},
      },
      {'default.jsonSchema': {schema: {properties: {headers: {type: 'string'}}}}},
    ],
    after_request_hooks: [
      {checks: [{id: 'lakera.guard', parameters: {credentials: {apiKey: 'two', apiBase: 'https://l.example'}}}]},
    ],
  }).config
  const seen: Record<string, string> = {}
  const shown = mapApiKeys(config, (secret, path) => {
    seen[path] = secret
    return '•'
  })
  expect(seen).toEqual({
    'config.input_guardrails[1].webhook.headers.x-key': 'one',
    'config.after_request_hooks[0].checks[0].parameters.credentials.apiKey': 'two',
    'config.after_request_hooks[0].checks[0].parameters.credentials.apiBase': 'https://l.example',
  })
  expect(shown.input_guardrails).toEqual([
    'pg-saved',
    {webhook: {webhookURL: 'https://g.example', headers: {'x-key': '•'}}, deny: true, on_fail: {feedback: {value: -1}}},
    {'default.jsonSchema': {schema: {properties: {headers: {type: 'string'}}}}},
  ])
  expect(mapApiKeys(shown, (_, path) => seen[path])).toEqual(config)
  // One that was kept before it was sealed stays.
  expect(mapApiKeys(config, () => undefined)).toEqual(config)
})

test('every secret is changed, by its path', () => {
  const config = good({
    request_timeout: 1,
    ...loadbalance([
      {provider: 'x', api_key: 'one'},
      {
        provider: 'y',
        aws_secret_access_key: 'two',
        aws_access_key_id: 'three',
        vertex_service_account_json: '{"a":1}',
        aws_region: 'r',
      },
    ]),
  }).config
  const seen: string[] = []
  const shown = mapApiKeys(config, (secret, path) => {
    seen.push(`${path}=${secret}`)
    return secret === 'three' ? undefined : '•'
  })
  expect(seen.toSorted()).toEqual([
    'config.targets[0]=one',
    'config.targets[1].aws_access_key_id=three',
    'config.targets[1].aws_secret_access_key=two',
    'config.targets[1].vertex_service_account_json={"a":1}',
  ])
  expect(shown.targets).toEqual([
    {provider: 'x', api_key: '•'},
    {provider: 'y', aws_secret_access_key: '•', vertex_service_account_json: '•', aws_region: 'r'},
  ])
  expect(config.targets?.[0]?.api_key).toBe('one')
})

test('nodes are told with their places', () => {
  expect(nodesOf(good(loadbalance([a, loadbalance([b])])).config).map(({path}) => path)).toEqual([
    'config',
    'config.targets[0]',
    'config.targets[1]',
    'config.targets[1].targets[0]',
  ])
})
