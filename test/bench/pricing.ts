import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {openCatalogue} from '../../src/pricing/catalogue.ts'
import {cost} from '../../src/pricing/cost.ts'
import {InstalledPrices} from '../../src/pricing/installed.ts'
import {PriceCache} from '../../src/pricing/price-cache.ts'
import {openPrices} from '../../src/pricing/prices.ts'
import {run} from './processes.ts'
import {gatewayCommand} from './subjects/gateway.ts'

/** Models of a sync, and the milliseconds that the whole command may take, from its start to its end. */
const MODELS = 3000
const MAX_MS = 2000
const PROVIDERS = ['openai', 'anthropic', 'bedrock', 'vertex-ai', 'groq', 'mistral-ai']
const COSTS = 1_000_000

const folder = mkdtempSync(join(tmpdir(), 'bench-pricing-'))
try {
  const gateway = [...gatewayCommand(process.argv.includes('--binary')), '--data-dir', join(folder, 'data')] as const
  mkdirSync(join(folder, 'prices'))
  await run([...gateway, 'init'])
  await timed(`gateway pricing sync of ${MODELS} models, all new`, () => sync(gateway, 0.0001))
  await timed('the same, all changed', () => sync(gateway, 0.0002))
  await timed('the same, nothing changed', () => sync(gateway, 0.0002))
  charge()
} finally {
  rmSync(folder, {recursive: true, force: true})
}

async function sync(gateway: readonly [string, ...string[]], cents: number) {
  const price = {
    pay_as_you_go: {
      request_token: {price: cents},
      response_token: {price: cents * 4},
      cache_read_input_token: {price: cents / 10},
    },
  }
  for (const [at, provider] of PROVIDERS.entries()) {
    const models = Array.from({length: MODELS / PROVIDERS.length}, (_, model) => [
      `bench-${at}-${model}`,
      {pricing_config: price},
    ])
    writeFileSync(join(folder, 'prices', `${provider}.json`), JSON.stringify(Object.fromEntries(models)))
  }
  return run([...gateway, 'pricing', 'sync', join(folder, 'prices'), '--quiet'])
}

/** What a call pays for its price: found and laid on its usage. */
function charge() {
  const catalogue = openCatalogue({
    as_of: '2026-01-01',
    sources: {},
    models: {p: {m: {source: 's', rates: {input: 2_500_000, output: 10_000_000}}}},
  })
  const kept = new InstalledPrices(Date.now)
  const prices = openPrices({layers: [kept.set], synced: kept.synced, catalogue, now_ms: Date.now})
  const memory = new PriceCache({...prices, span: at_ms => kept.span(at_ms)}, Date.now)
  const usage = {input_uncached_tokens: 800, output_text_tokens: 100}
  const at = Date.now()
  const began = performance.now()
  let sum = 0
  for (let count = 0; count < COSTS; count++) sum += cost(usage, memory.find('p', 'm', at), {at}).cost_nanousd
  console.log(`finding and laying a price on a call: ${(((performance.now() - began) / COSTS) * 1e6).toFixed(0)} ns`)
  if (sum !== COSTS * 3_000_000) throw new Error('the sum is wrong')
}

async function timed(what: string, work: () => Promise<unknown>) {
  const began = performance.now()
  await work()
  const ms = performance.now() - began
  console.log(`${what}: ${ms.toFixed(0)} ms (at most ${MAX_MS} ms)${ms > MAX_MS ? ': TOO SLOW' : ''}`)
  if (ms > MAX_MS) process.exitCode = 1
}
