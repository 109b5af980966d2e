import {TEXT} from '../fields.ts'
import {bodyOf, eachOf, everyRow, NO_SECRETS, plainWrites, type ResourceKind, specOf} from '../kind.ts'

/** The word for the collection that every workspace has, whatever its slug. */
export const DEFAULT_COLLECTION = 'default'

const fields: ResourceKind['fields'] = {name: TEXT, parent: {is_fixed: true}}

/** Collections: the folders of prompts. */
export const collection: ResourceKind = {
  name: 'collection',
  folder: 'collections',
  lives_in: 'workspace',
  is_slug_unique: true,
  needs: ['workspace'],
  remark: '`parent`: the slug of the enclosing collection. The default collection is in no file.',
  create: 'collections.create',
  fields,
  secrets: NO_SECRETS,
  async read({gateway, workspaces, slugOf, knows, named}) {
    const lists = await eachOf(workspaces, async workspace => {
      const rows = await everyRow(gateway, 'collections.list', {workspace_id: slugOf(workspace)})
      for (const {id, slug, is_default} of rows)
        knows(id, {kind: 'collection', workspace, slug: is_default ? DEFAULT_COLLECTION : slug})
      return rows
        .filter(({is_default}) => !is_default)
        .map(row => {
          const parent = row.parent_collection_id && named(row.parent_collection_id)
          const spec = specOf(fields, {...row, parent: parent === DEFAULT_COLLECTION ? undefined : parent})
          return {kind: 'collection', workspace, slug: row.slug, id: row.id, spec}
        })
    })
    return lists.flat()
  },
  body: ({spec: {parent, ...spec}, ...rest}, place) => ({
    ...bodyOf({...rest, spec}, place),
    ...(parent !== undefined && {parent_collection_id: parent}),
  }),
  ...plainWrites('collections', 'collectionId', () => collection),
  async faults({slug, workspace, spec}, known) {
    if (slug === DEFAULT_COLLECTION) return ['the slug must not be default, which is the one that every workspace has']
    const parent = spec.parent === undefined ? undefined : String(spec.parent)
    if (parent === undefined || known({kind: 'collection', workspace, slug: parent})) return []
    return [`parent: there is no collection ${parent.slice(0, 80)}`]
  },
  within: ({spec}) => (typeof spec.parent === 'string' ? [spec.parent] : []),
}
