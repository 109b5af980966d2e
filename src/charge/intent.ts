import type {Intent} from '../schema/records.ts'

/** The managed provider that is called. */
export interface ChargedProvider {
  readonly id: string
  readonly slug: string
  readonly integration_id: string
}

/** The facts of work before it leaves. `managed` null: the client brought its own credentials. */
export interface OpenedWork
  extends Omit<
    Intent,
    | 'provider_id'
    | 'provider_slug'
    | 'integration_id'
    | 'attempt'
    | 'counter_keys'
    | 'held_keys'
    | 'hold_nanousd'
    | 'w3c'
  > {
  readonly managed: ChargedProvider | null
  readonly attempt?: number
  readonly counter_keys?: readonly string[]
  readonly held_keys?: readonly string[] | undefined
  readonly w3c?: Intent['w3c'] | undefined
  readonly hold_nanousd?: number
}

const NO_KEYS: readonly string[] = []

/**
 * The intent of work: the charged entity, and the least cost. Without `given`, nothing is claimed and the cost is
 * unknown.
 */
export function intent(given: OpenedWork): Intent {
  const {managed} = given
  return {
    kind: given.kind,
    call_id: given.call_id,
    attempt: given.attempt ?? 1,
    trace_id: given.trace_id,
    organisation_id: given.organisation_id,
    workspace_id: given.workspace_id,
    principal: given.principal,
    user_id: given.user_id,
    provider_id: managed ? managed.id : null,
    provider_slug: managed ? managed.slug : null,
    integration_id: managed ? managed.integration_id : null,
    config_id: given.config_id,
    provider: given.provider,
    model: given.model,
    endpoint: given.endpoint,
    admitted_at: given.admitted_at,
    counter_keys: given.counter_keys ?? NO_KEYS,
    held_keys: given.held_keys,
    w3c: given.w3c,
    hold_nanousd: given.hold_nanousd ?? 0,
  }
}

/**
 * The intent of work that continues behind the call of `begun`, and is charged when it has ended: a call id of its own,
 * the first attempt of it. The code that charges the work releases the call's own claims.
 */
export function deferredIntent(
  begun: Intent,
  {call_id, model, hold_nanousd}: Pick<Intent, 'call_id' | 'model' | 'hold_nanousd'>,
): Intent {
  return {...begun, call_id, attempt: 1, model, held_keys: undefined, hold_nanousd}
}
