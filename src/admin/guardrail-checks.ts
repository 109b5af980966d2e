import {readDestination} from '../base/egress/target.ts'
import {readTrusted} from '../base/egress/trust.ts'
import {Refusal} from '../base/errors.ts'
import type * as Coverage from '../guardrails/coverage.ts'
import type * as Saved from '../guardrails/saved.ts'
import type * as Texts from '../guardrails/texts.ts'
import type * as Trial from '../guardrails/trial.ts'
import type {GuardrailActions, GuardrailCheck} from '../schema/guardrails.ts'
import type {AdminServices} from './services.ts'
import {invalid} from './tenancy.ts'

type Known = typeof Saved &
  typeof Trial &
  Pick<typeof Coverage, 'coveredBy' | 'coveredRows' | 'OPERATIONS'> &
  Pick<typeof Texts, 'isGuarded'>
let loaded: Known | undefined

/** Loads all that is known of checks, which is much: for operations on guardrails alone. */
export async function loadChecks(): Promise<void> {
  if (loaded) return
  const [saved, trial, {isGuarded}, {coveredBy, coveredRows, OPERATIONS}] = await Promise.all([
    import('../guardrails/saved.ts'),
    import('../guardrails/trial.ts'),
    import('../guardrails/texts.ts'),
    import('../guardrails/coverage.ts'),
  ])
  loaded = {...saved, ...trial, isGuarded, coveredBy, coveredRows, OPERATIONS}
}

/** The known checks, once they are loaded. */
export function checksKnown(): Known {
  if (!loaded) throw new Error('an operation that reads checks did not say so (ready)')
  return loaded
}

const MAX_FAULTS = 5

/** Checks that may be saved: each one known, its parameters its own, the services that it calls allowed ones. */
export function checked({settings}: AdminServices, checks: readonly GuardrailCheck[]): GuardrailCheck[] {
  const {faultsOf, addressesOf} = checksKnown()
  const faults = faultsOf(checks)
  if (faults.length) {
    const sentences = faults.slice(0, MAX_FAULTS).map(({path, message}) => `${path}: ${message}`)
    const more = faults.length - sentences.length
    throw new Refusal('body.invalid', {issues: [...sentences, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')})
  }
  const trusted = readTrusted(settings.trusted_custom_hosts)
  for (const {path, url} of addressesOf(checks)) {
    try {
      readDestination(new URL(url).origin, {kind: 'caller'}, trusted)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      throw invalid(path, `may not be called: ${error.details.reason ?? 'its host is refused'}`)
    }
  }
  return checks.map(({id, name, parameters, is_enabled}) => ({
    id,
    ...(name !== undefined && {name}),
    parameters: parameters ?? {},
    is_enabled: is_enabled ?? true,
  }))
}

/** Actions with all that is left unsaid (docs/guardrails.md, Save a guardrail). */
export function whole({
  on_success,
  on_fail,
  onSuccess,
  onFail,
  deny,
  async,
  ...rest
}: GuardrailActions): GuardrailActions {
  const feedback = (given: GuardrailActions['on_fail'], value: number) => ({
    feedback: {value, weight: 1, metadata: '', ...given?.feedback},
  })
  return {
    deny: deny ?? false,
    async: async ?? false,
    ...rest,
    on_success: feedback(on_success ?? onSuccess, 5),
    on_fail: feedback(on_fail ?? onFail, -5),
  }
}
