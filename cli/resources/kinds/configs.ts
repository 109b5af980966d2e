import type {SavedGuardrail} from '../../../src/guardrails/attach.ts'
import {guardrailFaults, SOME_GUARDRAIL} from '../../../src/guardrails/config-faults.ts'
import {SECRET_KEYS} from '../../../src/schema/config-credentials.ts'
import {attachKeys} from '../../../src/schema/config-hooks.ts'
import {nodesOf, readConfig} from '../../../src/schema/configs.ts'
import {mapTexts} from '../document.ts'
import {TEXT} from '../fields.ts'
import {bodyOf, changesOf, eachOf, everyRow, type ResourceKind, specOf} from '../kind.ts'

const fields: ResourceKind['fields'] = {
  name: TEXT,
  isDefault: {none: 0, normal: value => (value ? 1 : undefined)},
  config: {
    normal: value => {
      const read = readMasked(value)
      return 'issues' in read ? value : swapped(read.config, STAND_IN, MASKED)
    },
  },
}

/**
 * The middle of a secret's mask, and its replacement while a config is read: no key has such letters, and so none is
 * read.
 */
const MASKED = '•••••'
const STAND_IN = '_-masked-_'

const swapped = (value: unknown, from: string, to: string) => mapTexts(value, text => text.replaceAll(from, to))
const readMasked = (value: unknown) => readConfig(swapped(value, MASKED, STAND_IN), {saved: true})

/** Saved configs. */
export const config: ResourceKind = {
  name: 'config',
  folder: 'configs',
  lives_in: 'workspace',
  is_slug_unique: true,
  needs: ['workspace', 'guardrail'],
  create: 'configs.create',
  fields,
  secrets: {below: ['config'], isSecret: path => SECRET_KEYS.some(key => key === path.at(-1))},
  async read({gateway, handleOf, knows, named}) {
    const rows = await everyRow(gateway, 'configs.list')
    return eachOf(rows, async ({id, slug, workspace_id}) => {
      knows(id, {kind: 'config', workspace: workspace_id && handleOf(workspace_id), slug})
      const {data} = await gateway.call('configs.get', {params: {slug: id}})
      const spec = specOf(fields, {...data, isDefault: data.is_default})
      const by_slug = mapTexts(spec, named) as typeof spec
      return {kind: 'config', workspace: handleOf(workspace_id), slug, id, spec: by_slug}
    })
  },
  async make(place, resource) {
    const {data} = await place.gateway.call('configs.create', {body: bodyOf(resource, place)})
    place.knows(data.id, resource)
    return undefined
  },
  async change({gateway}, {spec}, {id}, changed) {
    await gateway.call('configs.update', {params: {slug: id}, body: changesOf(config, spec, changed)})
  },
  async remove({gateway}, {id}) {
    await gateway.call('configs.delete', {params: {slug: id}})
  },
  async faults({spec, workspace}, known) {
    const read = readMasked(spec.config)
    if ('issues' in read) return read.issues.map(({path, message}) => `${path} ${message}`)
    const saved = (slug: string) => {
      const found = [workspace, null]
        .map(place => known({kind: 'guardrail', workspace: place, slug}))
        .find(each => each !== undefined)
      const {checks, actions} = (found?.spec ?? {}) as Partial<Pick<SavedGuardrail, 'checks' | 'actions'>>
      if (!found || !Array.isArray(checks)) return found && {...SOME_GUARDRAIL, slug}
      return {...SOME_GUARDRAIL, slug, checks, actions: actions ?? {}}
    }
    const nodes = nodesOf(read.config).filter(({node}) => Object.keys(attachKeys(node)).length > 0)
    return [...read.warnings, ...guardrailFaults(nodes, saved)].map(({path, message}) => `${path} ${message}`)
  },
}
