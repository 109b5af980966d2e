import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {type GatewayConfig, mapApiKeys, readConfig, targetOf} from '../../src/schema/configs.ts'

const good = (value: unknown) => {
  const read = readConfig(value)
  if ('issues' in read) throw new Error(JSON.stringify(read.issues))
  return read
}
const issues = (value: unknown) => {
  const read = readConfig(value)
  return 'issues' in read ? read.issues.map(({path, message}) => `${path}: ${message}`) : []
}

describe('what a config may say', () => {
  test('a flat target is read as it is', () => {
    const said = {
      name: 'main',
      provider: '@openai-prod',
      api_key: 'sk-one',
      custom_host: 'https://models.example.com/v1',
      override_params: {model: 'gpt-4o', nested: {camelCase: 1}},
      request_timeout: 2000,
      strict_open_ai_compliance: false,
      openai_organization: 'org-1',
      openai_project: 'proj-1',
    }
    expect(good(said)).toEqual({config: said, warnings: []})
  })

  test('one target below a single strategy is read, and so is a target without any strategy', () => {
    const target = {provider: 'openai'}
    expect(good({strategy: {mode: 'single'}, targets: [target]}).config).toEqual({
      strategy: {mode: 'single'},
      targets: [target],
    })
    expect(good({targets: [target]}).config).toEqual({targets: [target]})
  })

  test('camelCase is turned to snake_case everywhere but in override_params', () => {
    expect(
      good({
        overrideParams: {maxTokens: 1},
        requestTimeout: 5,
        strictOpenAICompliance: true,
        virtualKey: '@mine',
        forwardHeaders: ['X-Tenant'],
      }),
    ).toEqual({
      config: {
        override_params: {maxTokens: 1},
        request_timeout: 5,
        strict_open_ai_compliance: true,
        virtual_key: 'mine',
        forward_headers: ['x-tenant'],
      },
      warnings: [],
    })
    expect(good({strictOpenaiCompliance: true}).config).toEqual({strict_open_ai_compliance: true})
  })

  test.each([{override_params: {model: '@a/b'}}, {request_timeout: 1}, {forward_headers: ['x-a']}, {virtual_key: 'a'}])(
    '%j alone is enough',
    config => {
      expect(good(config).config).toEqual(config)
    },
  )
})

describe('what is refused', () => {
  test.each<[unknown, string]>([
    [null, 'config: expected an object, found null'],
    ['pc-abc', 'config: expected an object, found a text'],
    [[], 'config: expected an object, found an empty list'],
    [{}, 'config: says nothing; expected a provider, a virtual_key, override_params or another key with an effect'],
    [
      {name: 'a'},
      'config: says nothing; expected a provider, a virtual_key, override_params or another key with an effect',
    ],
    [{provder: '@a'}, 'config.provder: is not known; did you mean provider?'],
    [{targets: [{providr: '@a'}]}, 'config.targets[0].providr: is not known; did you mean provider?'],
    [{options: []}, 'config.options: is the older form of a config and not known; write targets'],
    [{provider: '@a', virtualKey: 'a', virtual_key: 'b'}, 'config.virtual_key: is given twice, as virtual_key too'],
    [{provider: '@a/model'}, 'config.provider: expected a kind of provider, or @slug, found a text'],
    [{provider: 7}, 'config.provider: expected a kind of provider, or @slug, found a number'],
    [{api_key: 'two words'}, 'config.api_key: expected a key of visible ASCII characters, found a text'],
    [
      {request_timeout: 0},
      'config.request_timeout: expected a whole number of milliseconds from 1 to 2147483647, found 0',
    ],
    [
      {request_timeout: '5'},
      'config.request_timeout: expected a whole number of milliseconds from 1 to 2147483647, found a text',
    ],
    [{strict_open_ai_compliance: 'true'}, 'config.strict_open_ai_compliance: expected true or false, found a text'],
    [{override_params: []}, 'config.override_params: expected an object, found an empty list'],
    [
      {custom_host: 'ftp://a'},
      'config.custom_host: expected an http or https URL of at most 2048 characters, found a text',
    ],
    [{strategy: {mode: 'single'}, provider: '@a'}, 'config.targets: is required beside a strategy'],
    [
      {strategy: 'single', targets: [{provider: '@a'}]},
      'config.strategy: expected an object with a mode, found a text',
    ],
    [
      {strategy: {mode: 'singel'}, targets: [{provider: '@a'}]},
      'config.strategy.mode: expected one of single, loadbalance, fallback, conditional; did you mean single?',
    ],
    [
      {strategy: {mode: 'single', stickyy: {}}, targets: [{provider: '@a'}]},
      'config.strategy.stickyy: is not known; did you mean sticky?',
    ],
    [{targets: []}, 'config.targets: expected a list of targets, found an empty list'],
    [{targets: {provider: '@a'}}, 'config.targets: expected a list of targets, found an object'],
  ])('%j', (config, sentence) => {
    expect(issues(config)).toContain(sentence)
  })

  test.each([['X-Gateway-Forward-Headers'], ['Metadata-Flavor'], ['bad name'], [''], [7]])(
    'the header %s cannot be forwarded',
    name => {
      expect(issues({forward_headers: [name]})[0]).toMatch(
        /^config\.forward_headers\[0\]: expected the name of a header/,
      )
    },
  )

  test('a value never comes back in a sentence: it may be a secret', () => {
    expect(JSON.stringify(issues({provider: '@a', api_key: 'canary secret'}))).not.toContain('canary')
  })

  test('twenty issues are named, not thousands', () => {
    expect(issues(Object.fromEntries(Array.from({length: 5000}, (_, at) => [`zz${at}`, 1])))).toHaveLength(20)
  })

  test('targets within targets end at ten levels', () => {
    const deep = (levels: number): unknown => (levels ? {targets: [deep(levels - 1)]} : {provider: '@a'})
    expect(issues(deep(9))).toEqual([])
    expect(issues(deep(10))[0]).toMatch(/stands deeper than 10 levels$/)
    expect(issues(deep(5000))[0]).toMatch(/stands deeper than 10 levels$/)
  })

  test.each(['__proto__', 'constructor', 'prototype'])('the key %s, wherever it stands', key => {
    expect(issues(JSON.parse(`{"${key}":{"provider":"@a"},"provider":"@a"}`))).toHaveLength(1)
    expect(issues(JSON.parse(`{"provider":"@a","override_params":{"a":[{"${key}":1}]}}`))).toHaveLength(1)
  })
})

describe('what is known and without effect', () => {
  test.each<[unknown, string]>([
    [{provider: '@a', weight: 2}, 'config.weight'],
    [
      {strategy: {mode: 'single', on_status_codes: [429]}, targets: [{provider: '@a'}]},
      'config.strategy.on_status_codes',
    ],
    [{provider: '@a', targets: [{provider: '@b'}]}, 'config.provider'],
  ])('%j is a warning', (config, path) => {
    expect(good(config).warnings.map(warning => warning.path)).toEqual([path])
  })
})

describe('the target of a config', () => {
  test('inherits the nearest timeout, host, headers and strictness, and the parameters laid over one another', () => {
    const config: GatewayConfig = {
      name: 'root',
      request_timeout: 2000,
      forward_headers: ['x-a'],
      strict_open_ai_compliance: false,
      override_params: {model: 'one', temperature: 0},
      targets: [{provider: '@a', request_timeout: 5000, override_params: {model: 'two'}}],
    }
    expect(targetOf(config)).toEqual({
      path: 'config.targets[0]',
      target: {
        provider: '@a',
        request_timeout: 5000,
        forward_headers: ['x-a'],
        strict_open_ai_compliance: false,
        override_params: {model: 'two', temperature: 0},
      },
    })
  })

  test('does not inherit provider, credentials or name', () => {
    expect(targetOf({provider: '@a', api_key: 'k', name: 'n', targets: [{request_timeout: 1}]}).target).toEqual({
      request_timeout: 1,
    })
  })

  test('is the config itself where there are no targets', () => {
    expect(targetOf({provider: '@a'})).toEqual({target: {provider: '@a'}, path: 'config'})
  })
})

test('keys are changed by the path of their target, and left out on undefined', () => {
  const config: GatewayConfig = {request_timeout: 1, targets: [{provider: 'x', api_key: 'secret'}]}
  expect(mapApiKeys(config, (key, path) => `${path}=${key}`)).toEqual({
    request_timeout: 1,
    targets: [{provider: 'x', api_key: 'config.targets[0]=secret'}],
  })
  expect(mapApiKeys(config, () => undefined)).toEqual({request_timeout: 1, targets: [{provider: 'x'}]})
})

test('whatever JSON comes, it is read or refused; what was read once reads the same again', () => {
  const key = fc.constantFrom(
    'provider',
    'virtualKey',
    'api_key',
    'targets',
    'strategy',
    'mode',
    'weight',
    'override_params',
    'requestTimeout',
    'x',
  )
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom('single', '@a', 'https://a.example'),
  )
  const {tree} = fc.letrec(tie => ({
    tree: fc.oneof(
      {depthSize: 'small'},
      leaf,
      fc.array(tie('tree'), {maxLength: 2}),
      fc.dictionary(key, tie('tree'), {maxKeys: 4}),
    ),
  }))
  fc.assert(
    fc.property(tree, value => {
      const read = readConfig(value)
      if ('issues' in read) return read.issues.length > 0
      expect(readConfig(read.config)).toMatchObject({config: read.config})
      return true
    }),
    {numRuns: 500},
  )
})
