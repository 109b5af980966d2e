import {checksKnown, loadChecks, whole} from '../../../src/admin/guardrail-checks.ts'
import {isObject} from '../../../src/base/json-object.ts'
import type {GuardrailActions, GuardrailCheck} from '../../../src/schema/guardrails.ts'
import {hasMask} from '../../../src/schema/secrets.ts'
import {TEXT} from '../fields.ts'
import {bodyOf, changesOf, eachOf, everyRow, type ResourceKind, specOf} from '../kind.ts'

const fields: ResourceKind['fields'] = {
  name: TEXT,
  target: {is_fixed: true, normal: value => (value === 'llm' ? undefined : value)},
  checks: {
    normal: value =>
      Array.isArray(value)
        ? value.map(each =>
            isObject(each) ? {...each, parameters: each.parameters ?? {}, is_enabled: each.is_enabled ?? true} : each,
          )
        : value,
  },
  actions: {normal: value => (isObject(value) ? whole(value as GuardrailActions) : value)},
}

/** Guardrails, of a workspace or of the organisation. */
export const guardrail: ResourceKind = {
  name: 'guardrail',
  folder: 'guardrails',
  lives_in: 'either',
  is_slug_unique: true,
  needs: ['workspace'],
  create: 'guardrails.create',
  fields,
  secrets: {
    below: ['checks'],
    isSecret: path => ['credentials', 'api_key', 'apiKey'].includes(String(path[3])) && path[2] === 'parameters',
  },
  async read({gateway, handleOf, knows}) {
    const rows = await everyRow(gateway, 'guardrails.list')
    return eachOf(rows, async ({id, slug, workspace_id}) => {
      knows(id, {kind: 'guardrail', workspace: workspace_id && handleOf(workspace_id), slug})
      const shown = await gateway.call('guardrails.get', {params: {guardrailId: id}})
      return {
        kind: 'guardrail',
        workspace: workspace_id && handleOf(workspace_id),
        slug,
        id,
        spec: specOf(fields, shown),
      }
    })
  },
  body: (resource, place) => ({
    ...bodyOf(resource, place),
    ...(resource.workspace === null && {organisation_id: 'own'}),
  }),
  async make(place, resource) {
    const organisation_id = resource.workspace === null ? (await place.gateway.call('organisation.get')).id : undefined
    await place.gateway.call('guardrails.create', {body: {...bodyOf(resource, place), organisation_id}})
    return undefined
  },
  async change({gateway}, {spec}, {id}, changed) {
    await gateway.call('guardrails.update', {params: {guardrailId: id}, body: changesOf(guardrail, spec, changed)})
  },
  async remove({gateway}, {id}) {
    await gateway.call('guardrails.delete', {params: {guardrailId: id}})
  },
  async faults({spec}) {
    await loadChecks()
    if (hasMask(spec)) return []
    return checksKnown()
      .faultsOf(spec.checks as GuardrailCheck[])
      .map(({path, message}) => `${path}: ${message}`)
  },
}
