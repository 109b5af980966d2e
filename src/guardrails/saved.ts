import {z} from 'zod'
import {GuardrailCheck} from '../schema/guardrails.ts'
import {hasMask, maskAll, restored} from '../schema/secrets.ts'
import type {Check} from './check.ts'
import {type HookFault, makeHook} from './hook.ts'
import {isObject} from './json.ts'
import {ALL_CHECKS, BUILT_IN} from './registry.ts'

/** The faults of checks that are to be saved, each at its path. */
export function faultsOf(checks: readonly GuardrailCheck[]): readonly HookFault[] {
  const faults: HookFault[] = []
  makeHook({checks}, {registry: BUILT_IN, path: '', id: 'saved', type: 'guardrail'}, faults)
  const masks = checks.flatMap(masksIn)
  return [
    ...masks.map(({path}) => ({path, message: 'is a mask: send the secret itself.'})),
    ...faults.map(({path, message}) => ({path: path.replace(/^\./, ''), message})),
  ]
}

/** The checks as they may be shown: each secret masked. */
export function shownChecks(checks: readonly GuardrailCheck[]): GuardrailCheck[] {
  return checks.map(each => {
    const {check, parameters} = known(each)
    if (!check || !parameters) return each
    return {...each, parameters: masked(check, '', parameters)}
  })
}

/** Parameters, or the members of one, with each secret masked. */
function masked(check: Check, before: string, parameters: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown = Object.entries(parameters).map(([name, value]) => {
    if (check.isSecret(before + name)) return [name, maskAll(value)]
    return [name, !before && isObject(value) ? masked(check, `${name}.`, value) : value]
  })
  return Object.fromEntries(shown)
}

/**
 * `given` with the secrets of the `kept` checks where their masks came back. A secret stays with the service that it
 * was given for: what asks another address gets none.
 */
export function withSecrets(given: readonly GuardrailCheck[], kept: readonly GuardrailCheck[]): GuardrailCheck[] {
  return given.map((each, index) => {
    const alike = [kept[index], ...kept].filter(one => one !== undefined && isAlike(one, each))
    const whole = alike.map(one => restored(each, one) as GuardrailCheck).find(made => !masksIn(made, index).length)
    return whole ?? each
  })
}

function isAlike(one: GuardrailCheck, other: GuardrailCheck): boolean {
  return known(one).check === known(other).check && placeOf(one) === placeOf(other)
}

/**
 * The destinations of a check's secrets: its addresses, and the members beside secrets in one parameter, such as a
 * host, a region or a tenant.
 */
function placeOf(each: GuardrailCheck): string {
  const leaves = leavesOf(each)
  const beside = new Set(
    leaves.flatMap(({path, is_secret}) => (is_secret && path.includes('.') ? [path.split('.', 1)[0]!] : [])),
  )
  const denied = leaves.filter(
    ({path, is_secret, is_address}) =>
      is_address || (!is_secret && path.includes('.') && beside.has(path.split('.', 1)[0]!)),
  )
  return JSON.stringify(denied.map(({path, value}) => [path.toLowerCase(), value]).sort())
}

/** The services that checks would ask, each with the path of its parameter. */
export function addressesOf(
  checks: readonly GuardrailCheck[],
): readonly {readonly path: string; readonly url: string}[] {
  return checks.flatMap((each, index) =>
    leavesOf(each).flatMap(({path, value, is_address}) =>
      is_address && typeof value === 'string' ? [{path: `checks[${index}].parameters.${path}`, url: value}] : [],
    ),
  )
}

interface Leaf {
  readonly path: string
  readonly value: unknown
  readonly is_secret: boolean
  readonly is_address: boolean
}

/** Parameters of a check, and the members of those that are objects and no secret as a whole. */
function leavesOf(each: GuardrailCheck): readonly Leaf[] {
  const {check, parameters = {}} = known(each)
  const leaf = (path: string, value: unknown): Leaf => ({
    ...{path, value},
    is_secret: check?.isSecret(path) ?? false,
    is_address: check?.isAddress(path) ?? false,
  })
  return Object.entries(parameters).flatMap(([name, value]) =>
    isObject(value) && !check?.isSecret(name)
      ? Object.entries(value).map(([key, member]) => leaf(`${name}.${key}`, member))
      : [leaf(name, value)],
  )
}

/** A check with its own parameters, for descriptions: any of those that are known. */
export const DescribedCheck = z.union(
  ALL_CHECKS.map(check =>
    GuardrailCheck.extend({
      id: z.literal(check.id).describe(check.about),
      parameters: check.parameters.safeParse({}).success ? check.parameters.optional() : check.parameters,
    }),
  ),
)

/** The places of masks that replace secrets. */
function masksIn(each: GuardrailCheck, index: number) {
  return leavesOf(each).flatMap(({path, value, is_secret}) =>
    is_secret && hasMask(value) ? [{path: `checks[${index}].parameters.${path}`}] : [],
  )
}

function known({id, parameters}: GuardrailCheck) {
  return {check: BUILT_IN.find(id), parameters}
}
