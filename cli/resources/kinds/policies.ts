import {createHash} from 'node:crypto'
import {isObject} from '../../../src/base/json-object.ts'
import {type Address, type Spec, sorted} from '../document.ts'
import {TEXT} from '../fields.ts'
import {
  type ApplyTarget,
  bodyOf,
  everyRow,
  NO_SECRETS,
  plainWrites,
  type ResourceKind,
  type SpecField,
  specOf,
} from '../kind.ts'

const FIXED: SpecField = {is_fixed: true}
const ENFORCEMENT: SpecField = {none: 'compatible', normal: value => (value === 'compatible' ? undefined : value)}
const TARGET: SpecField = {...FIXED, normal: value => (value === 'llm' ? undefined : value)}
const common: ResourceKind['fields'] = {
  ...{target: TARGET, conditions: FIXED, group_by: FIXED, type: FIXED},
  enforcement: ENFORCEMENT,
}

/** Budgets for the calls that meet conditions. */
export const usagePolicy: ResourceKind = policyKind(
  'usage-policy',
  'usage-policies',
  'usage_policies',
  'policyUsageLimitsId',
  {
    ...common,
    credit_limit: TEXT,
    alert_threshold: {none: null},
    periodic_reset: {none: null},
  },
)

/** Rates for the calls that meet conditions. */
export const ratePolicy: ResourceKind = policyKind(
  'rate-policy',
  'rate-policies',
  'rate_policies',
  'rateLimitsPolicyId',
  {
    ...common,
    unit: TEXT,
    value: TEXT,
  },
)

function policyKind(
  name: string,
  folder: string,
  noun: 'usage_policies' | 'rate_policies',
  param: string,
  fields: ResourceKind['fields'],
): ResourceKind {
  const kind: ResourceKind = {
    name,
    folder,
    lives_in: 'workspace',
    needs: ['workspace', 'guardrail', 'config', 'api-key'],
    remark:
      'Its slug is its name. Without a name it is `unnamed-` and twelve digits derived from its conditions and grouping. Conditions name API keys, configs and workspaces by slug.',
    create: `${noun}.create`,
    fields,
    secrets: NO_SECRETS,
    async read(place) {
      const rows = await everyRow(place.gateway, `${noun}.list`)
      return rows.map(row => {
        const spec = specOf(fields, {
          ...row,
          conditions: conditionsIn(row.conditions, (key, value) => wordFor(place, key, value)),
        })
        return {
          kind: name,
          workspace: place.handleOf(row.workspace_id),
          slug: row.name ?? markOf(spec),
          id: row.id,
          spec,
        }
      })
    },
    body({slug, workspace, spec}, place) {
      const {slug: _, ...body} = bodyOf({kind: name, slug, workspace, spec}, place)
      const conditions = conditionsIn(spec.conditions, (key, value) => idFor(place, workspace, key, value))
      return {...body, conditions, ...(!isUnnamed(slug) && {name: slug})}
    },
    ...plainWrites(noun, param, () => kind),
    async faults({slug, workspace, spec}, known) {
      const mark = markOf(specOf(fields, spec))
      const wrong =
        isUnnamed(slug) && slug !== mark
          ? [`the slug of a policy without a name is ${mark} here: call it so, or give it a name`]
          : []
      conditionsIn(spec.conditions, (key, value) => {
        const [of] = REFERS[key] ?? []
        const address = {kind: String(of), workspace: key === 'workspace_id' ? null : workspace, slug: value}
        if (of && value !== '*' && !UUID.test(value) && !known(address))
          wrong.push(`conditions: there is no ${of} ${value.slice(0, 80)}`)
        return value
      })
      return wrong
    },
  }
  return kind
}

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
const isUnnamed = (slug: string) => /^unnamed-[0-9a-f]{12}$/.test(slug)

/** The identity of a policy without a name: its target, its conditions and its grouping cannot change. */
function markOf({target, conditions, group_by, type}: Spec): string {
  const covered = JSON.stringify(sorted({...(target !== undefined && {target}), conditions, group_by, type}))
  return `unnamed-${createHash('sha256').update(covered).digest('hex').slice(0, 12)}`
}

/** The keys of conditions whose values are ids, and the kind of what they name. */
const REFERS: Readonly<Record<string, readonly [kind: string]>> = {
  api_key: ['api-key'],
  config: ['config'],
  workspace_id: ['workspace'],
}

function wordFor(place: ApplyTarget, key: string, value: string): string {
  if (key === 'workspace_id') return place.handleOf(value)
  return REFERS[key] ? place.named(value) : value
}

function idFor(place: ApplyTarget, workspace: string | null, key: string, value: string): string {
  const [kind] = REFERS[key] ?? []
  if (!kind || value === '*') return value
  if (kind === 'workspace') return place.slugOf(value)
  const address: Address = {kind, workspace, slug: value}
  return place.idOf(address) ?? value
}

/** Conditions with each value put through `change`. */
function conditionsIn(conditions: unknown, change: (key: string, value: string) => string): unknown {
  if (!Array.isArray(conditions)) return conditions
  return conditions.map(each => {
    if (!isObject(each)) return each
    const key = String(each.key)
    const one = (value: unknown) => (typeof value === 'string' ? change(key, value) : value)
    const all = (value: unknown) => (Array.isArray(value) ? value.map(one) : one(value))
    return {...each, value: all(each.value), ...(each.excludes !== undefined && {excludes: all(each.excludes)})}
  })
}
