import type {z} from 'zod'
import {seeded} from '../base/seeded-random.ts'
import {CachePaired, CachePairs, type PairClass, type WrongPair} from '../schema/cache-evaluation.ts'
import {loggedPrompts} from './cache-prompts.ts'
import {type OperationCall, operation} from './operation.ts'
import {workspaceOf} from './tenancy.ts'

/** Pairs made of logged prompts, which try the gate on texts of the house. */
export const cachePairs = [
  operation({
    id: 'cache.pairs',
    tag: 'Cache',
    method: 'POST',
    path: '/cache/pairs',
    summary: 'Make pairs of logged prompts that differ in one thing, and say which the gate would serve',
    scopes: ['logs.view'],
    only_reads: true,
    body: CachePairs,
    reply: CachePaired,
    handle: paired,
  }),
] as const

const MAX_WRONG = 100

async function paired(
  call: OperationCall<undefined, undefined, typeof CachePairs>,
): Promise<z.input<typeof CachePaired>> {
  const {app, body} = call
  const workspace = await workspaceOf(call, body.workspace_id)
  const {pairsOf} = await import('../cache/semantic/pairs.ts')
  const {differs, featuresOf} = await import('../cache/semantic/gate/index.ts')
  const {featuresKey} = await import('../cache/semantic/features-key.ts')
  const {calls, without_body, prompts, next} = await loggedPrompts(call, workspace, body)
  const gate = app.settings.semantic_cache_gate
  const key = featuresKey(app.seal)
  const classes = new Map<string, PairClass>()
  const data: WrongPair[] = []
  const seen = new Set<string>()
  for (const {row, text} of prompts) {
    if (seen.has(text.text)) continue
    seen.add(text.text)
    // the seed and the text decide: the same prompt has the same pairs on any page
    for (const {kind, expected, a, b} of pairsOf(text.text, seeded(`${body.seed} ${text.text}`))) {
      const [one, other] = [featuresOf(a, key), featuresOf(b, key)]
      if (!one || !other) continue
      const is_served = differs(one, other, gate) === null
      const sum = classes.get(`${expected} ${kind}`) ?? {kind, expected, pairs: 0, served: 0}
      classes.set(`${expected} ${kind}`, {...sum, pairs: sum.pairs + 1, served: sum.served + (is_served ? 1 : 0)})
      if (is_served !== (expected === 'hit') && data.length < MAX_WRONG)
        data.push({kind, expected, log_id: row.id, a, b})
    }
    await new Promise<void>(done => setImmediate(done))
  }
  return {
    object: 'cache_pairs',
    gate,
    calls,
    prompts: seen.size,
    without_body,
    classes: [...classes.values()],
    data,
    next,
  }
}
