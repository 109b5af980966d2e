import type {EmbeddingAdmission} from '../../cache/semantic/embedder.ts'
import {NOTHING_SPENT, type Spent} from '../../schema/spent.ts'
import type {EntityLimit, Uses} from '../services.ts'

/**
 * Admits one request for an embedding that belongs to no call, as a call is admitted: it is one request of each rate,
 * budgets need room, and strict ones hold what it may use. Null where nothing limits it.
 */
export async function admitEmbedding(
  entities: readonly EntityLimit[],
  {id, first}: {readonly id: string; readonly first: Spent},
  {limits, now}: Uses<'limits' | 'now'>,
): Promise<EmbeddingAdmission | null> {
  const admission = await limits.admit(entities, id, now())
  if (!admission) return null
  const {counter_keys, strict_claims} = admission
  let hold: Awaited<ReturnType<typeof limits.hold>> | null
  try {
    hold = strict_claims && (await limits.hold(strict_claims, id, 1, first))
  } catch (refusal) {
    admission.release()
    throw refusal
  }
  const held_keys = hold?.keys ?? []
  return {
    counter_keys,
    held_keys,
    settle(actual) {
      hold?.settle(actual)
      admission.settle(NOTHING_SPENT)
      void limits.add(
        counter_keys.filter(key => !held_keys.includes(key)),
        actual,
      )
    },
    release() {
      hold?.settle(NOTHING_SPENT)
      admission.release()
    },
  }
}
