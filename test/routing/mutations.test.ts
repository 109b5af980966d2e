import {readdirSync, readFileSync} from 'node:fs'
import {join, resolve} from 'node:path'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {compile} from '../../src/routing/compile.ts'
import {lint} from '../../src/routing/lint.ts'
import {KNOWN} from '../../src/schema/config-keys.ts'
import {type GatewayConfig, readConfig} from '../../src/schema/configs.ts'

type Json = {[key: string]: unknown}

const folder = resolve(import.meta.dirname, '../fixtures/configs')
const GOOD = readdirSync(folder).map(name => ({name, text: readFileSync(join(folder, name), 'utf8')}))

test.each(GOOD)('$name is a good config', ({text}) => {
  expect(lint(JSON.parse(text))).toMatchObject({ok: true, issues: []})
})

/** Whatever it begins with, the same numbers come again (mulberry32). */
function numbers(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (most: number) => Math.floor(next() * most)
  return {below, one: <T>(of: readonly T[]): T => of[below(of.length)]!}
}
type Numbers = ReturnType<typeof numbers>

/** A member of an object, or an element of a list, and where it stands. */
interface Site {
  readonly holder: Json | unknown[]
  readonly key: string | number
  readonly path: string
  /** `config`, `strategy.conditions.query`: the keys on the way, without indices. */
  readonly way: readonly string[]
}

/** Not ours to judge below these. */
const OPAQUE = /params$|hooks$|guardrails$|mutators$|json$/i

function sites(holder: unknown, path = 'config', way: readonly string[] = []): Site[] {
  if (typeof holder !== 'object' || holder === null) return []
  if (Array.isArray(holder)) {
    return holder.flatMap((value, key) => [
      {holder, key, path: `${path}[${key}]`, way},
      ...sites(value, `${path}[${key}]`, way),
    ])
  }
  return Object.entries(holder).flatMap(([key, value]) => {
    const at = member(path, key)
    const site = {holder: holder as Json, key, path: at, way: [...way, key]}
    const open = !OPAQUE.test(key) || /^drop/.test(key)
    return open ? [site, ...sites(value, at, site.way)] : [site]
  })
}

function member(path: string, key: string) {
  return /^[\w$-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`
}

/** Nodes of a config: the root and all targets. */
function nodes(node: Json, path = 'config', parent: unknown = null): {node: Json; path: string; parent: unknown}[] {
  const {targets, strategy} = node as {targets?: Json[]; strategy?: Json}
  return [
    {node, path, parent},
    ...(targets ?? []).flatMap((target, at) => nodes(target, `${path}.targets[${at}]`, strategy?.mode ?? 'single')),
  ]
}

/** Makes one thing wrong in `config`, and says where; undefined when it has no place for it. */
type Mutation = (config: Json, random: Numbers) => string | undefined

const inQuery = ({way}: Site) => way.includes('query')
const asMember = ({holder}: Site) => !Array.isArray(holder)
const pick = (config: Json, random: Numbers, fits: (site: Site) => boolean) =>
  random.one(sites(config).filter(fits)) as Site | undefined
const put = ({holder, key}: Site, value: unknown) => {
  ;(holder as Json)[key] = value
}
const where = (config: Json, random: Numbers, fits: (node: Json, parent: unknown) => boolean) =>
  random.one(nodes(config).filter(({node, parent}) => fits(node, parent))) as {node: Json; path: string} | undefined
const modeOf = (node: Json) => (node.strategy as Json | undefined)?.mode

function misspelt(word: string, random: Numbers): string {
  const at = random.below(word.length)
  const letters = [...word]
  return [
    () => word.slice(0, at) + word.slice(at + 1),
    () => `${word.slice(0, at)}${word[at]}${word.slice(at)}`,
    () => `${word.slice(0, at)}q${word.slice(at + 1)}`,
    () =>
      at
        ? [...letters.slice(0, at - 1), letters[at]!, letters[at - 1]!, ...letters.slice(at + 1)].join('')
        : `${word}s`,
  ][random.below(4)]!()
}

/** What a key may not be. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  attempts: [6, -1, 1.5, '3'],
  request_timeout: [0, -5, 2.5, 1e12, '5000'],
  requestTimeout: [0, -1, null],
  weight: [-1, Number.NaN, Number.POSITIVE_INFINITY, '1', null],
  ttl: [0, -60, 1.5],
  max_age: [5, 1e9, '3600'],
  maxAge: [59],
  cooldown_interval: [1000, 29_999, -1],
  failure_threshold: [0, 1.5, '10'],
  failure_threshold_percentage: [0, 150, Number.NaN],
  minimum_requests: [0, -1],
  name: ['', 7, 'x'.repeat(256)],
  provider: ['two words', '@slug/model', '', 7],
  virtualKey: ['a/b'],
  custom_host: [
    'ftp://models.example.com',
    'models.example.com',
    'https://user:pass@models.example.com',
    'http://2130706433/v1',
  ],
  mode: ['random', 'Fallback ', '', null],
  aws_auth_type: ['key'],
  azure_auth_mode: ['password'],
  cache: ['always', true, {}],
  api_key: ['two words', '', 5],
  passthrough: ['true', 1],
  strict_open_ai_compliance: ['false', 0],
  enabled: ['true', null],
  vertex_service_account_json: ['not json', []],
}

/** What elements of a list may not be. */
const WRONG_ELEMENTS: Readonly<Record<string, readonly unknown[]>> = {
  on_status_codes: [99, 700, '429', 4.5],
  onStatusCodes: [42],
  failure_status_codes: [1000, null],
  forward_headers: ['bad header', 'X-Gateway-Forward-Headers', 'Metadata-Flavor', 7],
  drop_params: ['a..b', '[0]', 'a[x]', '', 7],
  hash_fields: ['user', 'metadata.a.b', 'url.pathname', ''],
  input_guardrails: [7, null, 'two words'],
  targets: [null, 'a', 7, []],
  before_request_hooks: ['pg-1', 7],
}

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'a misspelt key'(config, random) {
    const site = pick(config, random, at => asMember(at) && !inQuery(at))
    if (!site) return undefined
    const old = String(site.key)
    const key = misspelt(old, random)
    if (KNOWN.includes(key) || key === old || Object.hasOwn(site.holder, key)) return undefined
    const {[old]: value, ...rest} = site.holder as Json
    delete (site.holder as Json)[old]
    Object.assign(site.holder, {...rest, [key]: value})
    return member(site.path.slice(0, -old.length - 1), key)
  },
  'a misspelt operator'(config, random) {
    const site = pick(config, random, at => /^\$(?!and|or)/.test(String(at.key)))
    if (!site) return undefined
    const key = `${site.key}${random.one(['s', 'q', '_'])}`
    put({...site, key}, (site.holder as Json)[site.key])
    return `${site.path}${key.slice(String(site.key).length)}`
  },
  'a key of a query that nothing is known of'(config, random) {
    const site = pick(config, random, at => asMember(at) && at.way.at(-1) === 'query')
    if (!site) return undefined
    const key = random.one([
      'metdata.plan',
      'params',
      'header.x-team',
      'url.path',
      'metadata.a.b',
      'params.messages.0',
      '$not',
      '',
      'metadata.',
    ])
    ;((site.holder as Json).query as Json)[key] = 'x'
    return member(site.path, key)
  },
  'an operand of the wrong type'(config, random) {
    const site = pick(config, random, at => /^\$/.test(String(at.key)))
    if (!site) return undefined
    put(site, {x: 1})
    return site.path
  },
  'a pattern that cannot be matched'(config, random) {
    const site = pick(config, random, ({key}) => key === '$regex')
    if (!site) return undefined
    put(
      site,
      random.one([
        '(a',
        'a(?=b)',
        '(?<!a)b',
        '(a)\\1',
        '[z-a]',
        '*',
        'a{2000}',
        '((a{90}){90}){90}',
        '\\',
        '(?<n>a)\\k<n>',
      ]),
    )
    return site.path
  },
  'a value of the wrong type'(config, random) {
    const site = pick(
      config,
      random,
      at =>
        asMember(at) && !inQuery(at) && !/^(anthropic_beta|cache|vertex_service_account_json)$/.test(String(at.key)),
    )
    if (!site) return undefined
    const was = (site.holder as Json)[site.key]
    put(site, typeof was === 'object' ? random.one<unknown>(['x', 7, null, true]) : random.one<unknown>([[], {}, null]))
    return site.path
  },
  'a list for an object and an object for a list'(config, random) {
    const isNested = ({holder, key}: Site) => typeof (holder as Json)[key] === 'object' && key !== 'anthropic_beta'
    const site = pick(config, random, at => asMember(at) && !inQuery(at) && isNested(at))
    if (!site) return undefined
    put(site, Array.isArray((site.holder as Json)[site.key]) ? {x: 1} : [1])
    return site.path
  },
  'a value out of its range'(config, random) {
    const site = pick(config, random, at => asMember(at) && !inQuery(at) && Object.hasOwn(WRONG, String(at.key)))
    if (!site) return undefined
    const value = random.one(WRONG[String(site.key)]!)
    put(site, value)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? `${site.path}.mode` : site.path
  },
  'an element out of its range'(config, random) {
    const site = pick(config, random, at => Object.hasOwn(WRONG_ELEMENTS, at.key))
    const list = site && ((site.holder as Json)[site.key] as unknown[])
    if (!list?.length) return undefined
    const at = random.below(list.length)
    list[at] = random.one(WRONG_ELEMENTS[String(site!.key)]!)
    return `${site!.path}[${at}]`
  },
  'a weight where none is drawn'(config, random) {
    const place = where(config, random, (node, parent) => parent !== 'loadbalance' && !('weight' in node))
    if (!place) return undefined
    place.node.weight = random.one([1, 2.5, 0])
    return `${place.path}.weight`
  },
  'a key of another mode'(config, random) {
    const place = where(config, random, node => modeOf(node) !== undefined)
    if (!place) return undefined
    const others = {
      sticky: ['loadbalance', {enabled: true, hash_fields: ['metadata._user']}],
      on_status_codes: ['fallback', [429]],
      conditions: ['conditional', JSON.parse('[{"query":{"metadata.a":"b"},"then":"c"}]')],
      default: ['conditional', 'c'],
    } as const
    const [key, [, value]] = random.one(Object.entries(others).filter(([, [mode]]) => mode !== modeOf(place.node)))
    ;(place.node.strategy as Json)[key] = value
    return `${place.path}.strategy.${key}`
  },
  'a provider beside targets'(config, random) {
    const place = where(config, random, node => 'targets' in node)
    if (!place) return undefined
    const [key, value] = random.one(
      Object.entries({provider: '@x', api_key: 'sk-x', virtual_key: 'x', aws_region: 'eu-west-1', prompt_id: 'pp-1'}),
    )
    place.node[key] = value
    return `${place.path}.${key}`
  },
  'a key of the root below it'(config, random) {
    const place = where(config, random, (_, parent) => parent !== null)
    if (!place) return undefined
    const [key, value] = random.one(Object.entries({default_input_guardrails: ['pg-x'], fetch_integrated_models: true}))
    place.node[key] = value
    return `${place.path}.${key}`
  },
  'a circuit breaker that nothing heeds'(config) {
    if (JSON.stringify(config).match(/"(fallback|loadbalance)"/)) return undefined
    config.cb_config = {failure_threshold: 3}
    return 'config.cb_config'
  },
  'a circuit breaker that never opens'(config, random) {
    const place = where(config, random, (_, parent) => parent === 'fallback' || parent === 'loadbalance')
    if (!place) return undefined
    place.node.cb_config = random.one<Json>([{}, {cooldown_interval: 30_000}, {minimum_requests: 5}])
    return `${place.path}.cb_config`
  },
  'a name that no target has'(config, random) {
    const site = pick(config, random, ({key, way}) => key === 'then' || way.join() === 'strategy,default')
    if (!site) return undefined
    put(site, random.one(['nobody', 'paidd', 'EU', 'toString']))
    return site.path
  },
  'a name that two targets have'(config, random) {
    const place = where(config, random, node => modeOf(node) === 'conditional')
    const targets = place?.node.targets as Json[] | undefined
    if (!targets) return undefined
    targets.at(-1)!.name = targets[0]!.name
    return `${place!.path}.targets[${targets.length - 1}].name`
  },
  'a target that no condition reaches'(config, random) {
    const place = where(config, random, node => modeOf(node) === 'conditional')
    const targets = place?.node.targets as Json[] | undefined
    if (!targets) return undefined
    targets.push({name: 'spare', provider: '@spare'})
    return `${place!.path}.targets[${targets.length - 1}]`
  },
  'weights that are all zero'(config, random) {
    const place = where(config, random, node => modeOf(node) === 'loadbalance')
    if (!place) return undefined
    for (const target of place.node.targets as Json[]) target.weight = 0
    return `${place.path}.targets`
  },
  'a second target for the mode single'(config, random) {
    const place = where(config, random, node => modeOf(node) === 'single')
    if (!place) return undefined
    ;(place.node.targets as Json[]).push({provider: '@x'})
    return `${place.path}.targets[1]`
  },
  'what is required left out'(config, random) {
    const required = ['mode', 'conditions', 'query', 'then', 'targets', 'enabled', 'hash_fields', 'deployment_id']
    const site = pick(
      config,
      random,
      at => asMember(at) && required.includes(String(at.key)) && !inQuery({...at, way: at.way.slice(0, -1)}),
    )
    if (!site) return undefined
    const {holder, key} = site
    if (key === 'targets' && !(holder as Json).strategy) return undefined
    if (key === 'enabled' && !(holder as Json).hash_fields) return undefined
    delete (holder as Json)[key]
    return site.path
  },
  'several targets without a strategy'(config, random) {
    const place = where(config, random, node => modeOf(node) !== undefined && (node.targets as Json[]).length > 1)
    if (!place) return undefined
    delete place.node.strategy
    return `${place.path}.strategy`
  },
  'retries without a number of them'(config, random) {
    const place = where(config, random, node => !('retry' in node))
    if (!place) return undefined
    place.node.retry = random.one<Json>([{}, {on_status_codes: [429]}, {useRetryAfterHeader: true}])
    return `${place.path}.retry`
  },
  'a key in two spellings'(config, random) {
    const place = where(config, random, node => 'request_timeout' in node || 'override_params' in node)
    if (!place) return undefined
    const key = 'request_timeout' in place.node ? 'requestTimeout' : 'overrideParams'
    place.node[key] = key === 'requestTimeout' ? 5 : {}
    return `${place.path}.${key}`
  },
  'the older form'(config, random) {
    const place = where(config, random, () => true)
    if (!place) return undefined
    place.node.options = [{provider: 'openai'}]
    return `${place.path}.options`
  },
  'a parameter that is set and taken away'(config, random) {
    const place = where(config, random, node => !('targets' in node || 'overrideParams' in node))
    if (!place) return undefined
    place.node.override_params = {seed: 7}
    place.node.drop_params = ['user', 'seed']
    return `${place.path}.override_params.seed`
  },
  'too many targets'(config, random) {
    const place = where(config, random, node => modeOf(node) === 'loadbalance' || modeOf(node) === 'fallback')
    if (!place) return undefined
    place.node.targets = Array.from({length: 101}, (_, at) => ({provider: `@p${at}`}))
    return `${place.path}.targets`
  },
  'too deep'(config, random) {
    const place = where(config, random, (node, parent) => parent !== null && !('targets' in node))
    if (!place) return undefined
    let path = place.path
    let inner: Json = {provider: '@deep'}
    for (let depth = 0; depth < 100; depth++) inner = {targets: [inner]}
    const own = place.node
    for (const key of Object.keys(own)) if (key !== 'name') delete own[key]
    Object.assign(own, inner)
    for (let depth = path.split('targets[').length; depth < 10; depth++) path += '.targets[0]'
    return `${path}.targets`
  },
}

test('200 bad configs are refused, each at its place', () => {
  const random = numbers(20_260_301)
  const kinds = Object.entries(MUTATIONS)
  const wrong: unknown[] = []
  const counted = new Map<string, number>()
  for (let made = 0; made < 200; ) {
    const [kind, mutate] = kinds[(made + random.below(2)) % kinds.length]!
    const {name, text} = random.one(GOOD)
    const config = JSON.parse(text) as Json
    const path = mutate(config, random)
    if (path === undefined) continue
    made++
    counted.set(kind, (counted.get(kind) ?? 0) + 1)
    const {ok, issues} = lint(config)
    if (ok || !issues.some(issue => issue.path === path))
      wrong.push({kind, name, path, issues, config: JSON.stringify(config)})
  }
  expect(wrong).toEqual([])
  expect(counted.size).toBe(kinds.length)
})

/**
 * Reads as a saved config, and compiles what is taken; undefined when it is refused. It must end either way, and
 * without a throw.
 */
function taken(value: unknown) {
  const read = readConfig(value, {saved: true})
  if ('issues' in read) {
    expect(read.issues.length).toBeGreaterThan(0)
    return undefined
  }
  // The plan takes its config over and freezes it.
  return {...read, plan: compile(structuredClone(read.config), {config_id: 'c'})}
}

test('whatever JSON is sent, it is refused or compiles', () => {
  const word = fc.constantFrom(
    ...KNOWN,
    'mode',
    'conditions',
    'query',
    'then',
    '$or',
    '$eq',
    '$regex',
    'metadata.a',
    'on_status_codes',
    '__proto__',
  )
  const scalar = fc.oneof(
    fc.constantFrom('single', 'fallback', 'conditional', '@a', 'a', '(a+)+', null, true),
    fc.double(),
    fc.string(),
    fc.nat(600),
  )
  const {tree} = fc.letrec(tie => ({
    tree: fc.oneof(
      {depthSize: 'small', withCrossShrink: true},
      scalar,
      fc.array(tie('tree'), {maxLength: 3}),
      fc.dictionary(word, tie('tree'), {maxKeys: 4}),
    ),
  }))
  fc.assert(
    fc.property(tree, value => void taken(value)),
    {numRuns: 500},
  )
})

test('whatever is put anywhere into a good config, it is refused or compiles, and what was read reads the same again', () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.anything({maxDepth: 2}), {minLength: 1, maxLength: 3}), (seed, values) => {
      const random = numbers(seed)
      const config = JSON.parse(random.one(GOOD).text) as Json
      const all = sites(config)
      // One in four times what is put is a part of the config itself: a circle, or a target in two places.
      for (const value of values) put(random.one(all), random.below(4) ? value : random.one(all).holder)
      const read = taken(config)
      if (read) expect(readConfig(read.config, {saved: true})).toMatchObject({config: read.config})
    }),
    {numRuns: 500},
  )
})

/** A config of arbitrary keys in arbitrary places, each with a value of its own. */
function anyConfig(random: Numbers): Json {
  let used = 0
  const own = () => ++used
  const make: Readonly<Record<string, () => unknown>> = {
    provider: () => `@p${own()}`,
    virtual_key: () => `v${own()}`,
    api_key: () => `sk-${own()}`,
    aws_region: () => `region-${own()}`,
    openai_project: () => `project-${own()}`,
    prompt_id: () => `pp-${own()}`,
    custom_host: () => `https://h${own()}.example.com`,
    request_timeout: () => 1000 + own(),
    forward_headers: () => [`x-${own()}`],
    weight: () => 1 + own(),
    override_params: () => ({[`o${random.below(4)}`]: own()}),
    default_params: () => ({[`o${random.below(4)}`]: own()}),
    drop_params: () => [`o${random.below(4)}`, `d${own()}.x`],
    retry: () => {
      const rule = {
        attempts: 1 + random.below(4),
        on_status_codes: [random.one([429, 500]), 500 + (own() % 99)],
        use_retry_after_header: true,
      }
      return random.below(3) ? rule : {on_status_codes: rule.on_status_codes}
    },
    cache: () => ({mode: 'simple', max_age: 60 + own()}),
    cb_config: () => ({failure_threshold: own(), ...(random.below(2) && {minimum_requests: own()})}),
    input_guardrails: () => [`pg-${own()}`],
    after_request_hooks: () => [{id: `pg-${own()}`}],
    default_output_guardrails: () => [`pg-${own()}`],
    name: () => random.one(['a', 'b', 'c', 'd']),
  }
  const strategy = () => {
    const keys: Readonly<Record<string, () => unknown>> = {
      on_status_codes: () => [500 + (own() % 99)],
      sticky: () => ({enabled: true, hash_fields: [`metadata.k${own()}`], ttl: 10 + own()}),
      default: () => random.one(['a', 'b', 'c']),
      conditions: () =>
        Array.from({length: 1 + random.below(3)}, () =>
          JSON.parse(`{"query":{"params.k${own()}":1},"then":"${random.one(['a', 'b', 'c'])}"}`),
        ),
      cb_config: () => ({failure_threshold: own()}),
    }
    const mode = random.one(['single', 'fallback', 'loadbalance', 'conditional'])
    const always = mode === 'conditional' ? ['conditions'] : []
    const some = Object.keys(keys).filter(key => always.includes(key) || random.below(6) === 0)
    return {mode, ...Object.fromEntries(some.map(key => [key, keys[key]!()]))}
  }
  const node = (depth: number, rare: number): Json => {
    const some = Object.keys(make).filter(() => random.below(rare) === 0)
    const said = Object.fromEntries(some.map(key => [key, make[key]!()]))
    if (depth > 2 || random.below(3) === 0) return {provider: `@p${own()}`, ...said}
    return {
      ...said,
      strategy: strategy(),
      targets: Array.from({length: 1 + random.below(3)}, () => node(depth + 1, rare)),
    }
  }
  return node(1, 3 + random.below(8))
}

/** All that a plan says, its functions apart. */
function shown(value: GatewayConfig | undefined): string {
  const read = value && taken(value)
  return JSON.stringify(read ? read.plan.root : null, (_, part) => (part instanceof Set ? [...part] : part))
}

/** What each leaf below has of its own is not given to it. */
function isCovered(node: Json, key: string): boolean {
  const targets = (node.targets as Json[] | undefined)?.slice(0, modeOf(node) === 'single' ? 1 : undefined)
  // A strategy's breaker is that of the targets below it.
  const hasOwn = (target: Json) => key in target || (key === 'cb_config' && key in ((target.strategy ?? {}) as Json))
  return targets?.every(target => hasOwn(target) || isCovered(target, key)) ?? false
}

/** The same of the key of a node that the path leads into. */
function isCoveredAt(config: Json, path: string): boolean {
  const owner = nodes(config).findLast(at => path.startsWith(`${at.path}.`))!
  const [key = '', inner = ''] = path.slice(owner.path.length + 1).split('.')
  return isCovered(owner.node, key === 'strategy' ? inner : key)
}

const RUNS = 500

test('a key that is said changes the plan, or is warned of, or every target below says its own', () => {
  let compared = 0
  fc.assert(
    fc.property(fc.nat(), seed => {
      const config = anyConfig(numbers(seed))
      const read = readConfig(config, {saved: true})
      // Of 20 warnings more may have been left out.
      if ('issues' in read || read.warnings.length >= 20) return
      const plan = shown(config as GatewayConfig)
      const warned = read.warnings.map(({path}) => path)
      for (const {holder, key, path} of sites(config)) {
        const is_usual = key === 'strategy' && (holder as Json).strategy && modeOf(holder as Json) === 'single'
        if (
          Array.isArray(holder) ||
          is_usual ||
          key === 'name' ||
          key === 'query' ||
          warned.some(at => path.startsWith(at))
        )
          continue
        const value = holder[key]
        delete holder[key]
        const without = readConfig(config, {saved: true})
        const same = !('issues' in without) && shown(config as GatewayConfig) === plan
        compared++
        holder[key] = value
        if (same && !isCoveredAt(config, path))
          expect.fail(`${path} has no effect and no warning in ${JSON.stringify(config)}`)
      }
    }),
    {numRuns: RUNS},
  )
  expect(compared).toBeGreaterThan(1000)
})
