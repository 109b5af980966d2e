import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {Provider} from '../../providers/provider.ts'
import type {FieldValues} from '../../secrets/port.ts'
import type {Uses} from '../services.ts'
import type {Target, TargetSecrets} from './target.ts'

/** Targets with the values that they were filled with last, by the target that all calls share. */
const filled = new WeakMap<Target, Target>()

/**
 * A target with its fields that come from secret references: as it is where there are none. Refuses
 * (`secret.unresolvable`, `secret.late`) where they are not available.
 */
export function openTarget(target: Target, {secrets}: Uses<'secrets'>): MaybePromise<Target> {
  const mapped = target.secrets
  if (!mapped || mapped.values) return target
  const values = secrets.valuesOf(mapped.fields)
  return values instanceof Promise ? values.then(late => withValues(target, late)) : withValues(target, values)
}

function withValues(target: Target, values: FieldValues): Target {
  const before = filled.get(target)
  if (before?.secrets?.values === values) return before
  const made = target.secrets!.fill(values)
  filled.set(target, made)
  return made
}

/** The target with other values, at the routes that its engine was found to serve; null where they do not fit. */
export function filledAnew({fill}: TargetSecrets, values: FieldValues, provider: Provider): Target | null {
  try {
    return {...fill(values), provider}
  } catch {
    return null
  }
}

/**
 * Keeps a target that is not open from being called: a door that forgot to open it fails before anything leaves.
 */
export function assertOpen({secrets}: Pick<Target, 'secrets'>): void {
  if (secrets && !secrets.values) throw new Error('the secrets of a target were not opened')
}
