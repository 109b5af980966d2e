import {unchecked} from '../../client.ts'
import {CLEARED, TEXT} from '../fields.ts'
import {changesOf, eachOf, NO_SECRETS, plainWrites, type ResourceKind, specOf} from '../kind.ts'

const fields: ResourceKind['fields'] = {name: TEXT, string: TEXT, version_description: CLEARED}

/** Texts that prompts include, in their published version. */
export const partial: ResourceKind = {
  name: 'partial',
  folder: 'partials',
  lives_in: 'workspace',
  is_slug_unique: true,
  needs: ['workspace', 'collection'],
  remark: 'The content of its published version.',
  create: 'prompt_partials.create',
  fields,
  secrets: NO_SECRETS,
  async read({gateway, addressOf}) {
    const rows = await gateway.call('prompt_partials.list')
    return eachOf(rows, async ({id, slug, collection_id}) => {
      const shown = await gateway.call('prompt_partials.get', {params: {promptPartialId: id}})
      return {kind: 'partial', workspace: addressOf(collection_id)!.workspace, slug, id, spec: specOf(fields, shown)}
    })
  },
  ...plainWrites('prompt_partials', 'promptPartialId', () => partial),
  async change({gateway}, {spec}, {id}, changed) {
    const params = {promptPartialId: id}
    const {string, version_description = null} = spec
    const {name} = changesOf(partial, spec, changed)
    if (name !== undefined) await gateway.call('prompt_partials.update', {params, body: unchecked({name})})
    if (!changed.includes('string') && !changed.includes('version_description')) return
    const versions = () => gateway.call('prompt_partials.list_versions', {params})
    const same = (await versions()).find(each => each.string === string && each.description === version_description)
    const made =
      same ??
      (await gateway.call('prompt_partials.update', {
        params,
        body: unchecked({string, description: version_description}),
      }))
    const published = (await versions()).find(each => each.prompt_partial_version_id === made.prompt_partial_version_id)
    await gateway.call('prompt_partials.publish', {params, body: {version: Number(published!.version)}})
  },
}
