import {openExplaining} from '../../src/app/explain-services.ts'
import {createLog} from '../../src/base/log.ts'
import {createSeal} from '../../src/base/seal.ts'
import {bundledCatalogue} from '../../src/pricing/catalogue.ts'
import type {ImaginedCaller} from '../../src/schema/explanations.ts'
import type {LoggedCall} from '../../src/schema/replays.ts'
import {readSettings} from '../../src/settings/index.ts'
import {testStore} from '../support/stores.ts'

/**
 * Milliseconds that an explanation of a 50-target config may take, warm; and 10,000 decisions of a replay, without
 * reading the log.
 */
const MAX_MS = {explain: 5, replay: 60_000}
const TARGETS = 50
const ROUNDS = 300
const CALLS = 10_000

const CALLER: ImaginedCaller = {
  organisation_id: 'organisation',
  workspace_id: 'workspace',
  workspace_slug: 'main',
  metadata: {},
  config_id: null,
}

/** Fallbacks of ten load balances of five, half of them in other words, with a cache and parameters. */
const CONFIG = {
  strategy: {mode: 'fallback'},
  cache: {mode: 'simple'},
  override_params: {temperature: 0.2},
  targets: Array.from({length: TARGETS / 5}, (_, outer) => ({
    strategy: {mode: 'loadbalance'},
    targets: Array.from({length: 5}, (_, inner) => ({
      provider: ['openai', 'anthropic'][inner % 2],
      api_key: `key-${outer}-${inner}`,
      weight: inner + 1,
      override_params: {model: inner % 2 ? 'claude-sonnet-4-5' : 'gpt-4o-mini'},
    })),
  })),
}
const BODY = {
  model: 'gpt-4o-mini',
  messages: Array.from({length: 4}, (_, at) => ({role: at % 2 ? 'assistant' : 'user', content: 'word '.repeat(50)})),
}

const {store, close} = await testStore('sqlite')
try {
  const explaining = openExplaining({
    log: createLog('silent', 'test'),
    settings: readSettings({env: {}}).settings,
    store,
    seal: createSeal(Buffer.alloc(32, 7)),
    now: Date.now,
    prices: bundledCatalogue(),
  })
  const times: number[] = []
  for (let seed = 0; seed < ROUNDS; seed++) {
    const began = performance.now()
    await explaining.explain(
      {config: CONFIG, seed, request: {method: 'POST', path: '/v1/chat/completions', body: BODY}},
      CALLER,
    )
    times.push(performance.now() - began)
  }
  const warm = times.slice(ROUNDS / 3).sort((one, other) => one - other)
  say('explain, median', warm[warm.length >> 1]!, MAX_MS.explain)

  const replayer = await explaining.replay(JSON.stringify(CONFIG), CALLER)
  const began = performance.now()
  for (let index = 0; index < CALLS; index++) await replayer.decide(logged(index))
  say(`replay of ${CALLS} calls`, performance.now() - began, MAX_MS.replay)
} finally {
  await close()
}

function logged(index: number): LoggedCall {
  const targets = [{provider: '@main', model: 'gpt-4o-mini', status: 200}]
  const of = {
    method: 'POST',
    url: '/v1/chat/completions',
    metadata: {},
    model: 'gpt-4o-mini',
    is_stream: false,
    targets,
    body: null,
  }
  return {id: `row-${index}`, call_id: `call-${index}`, created_at_ms: index, ...of}
}

function say(what: string, ms: number, most_ms: number) {
  console.log(`${what}: ${ms.toFixed(2)} ms (at most ${most_ms} ms)${ms > most_ms ? ': TOO SLOW' : ''}`)
  if (ms > most_ms) process.exitCode = 1
}
