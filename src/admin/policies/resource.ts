import type {PoliciesTable} from '../../store/tables/policies.ts'

/** How a kind of policy is called. */
export interface PolicyWords {
  readonly tag: string
  /** `/policies/${of}` is where it is found, and `${of}-policy` what the audit log calls it. */
  readonly of: 'usage-limits' | 'rate-limits'
  /** The parameter of its path that names one. */
  readonly param: string
  readonly update: string
  readonly entities: string
}

/**
 * The common parts of the operations of usage policies and rate policies: one resource, described once. An operation
 * adds its schemas and its handler: `operation({...parts.list, query, reply, handle})`.
 */
export function policyParts<Kind extends PoliciesTable['kind']>(
  kind: Kind,
  {tag, of, param, update, entities}: PolicyWords,
) {
  const all = `/policies/${of}`
  const one = `${all}/:${param}`
  const name = `${of.replace('-', ' ')} policy`
  const common = {tag, flag: 'policy'} as const
  const reads = (verb: 'list' | 'read') => ({...common, method: 'GET', scopes: [`policies.${verb}`]}) as const
  const writes = <Action extends 'create' | 'update' | 'delete'>(action: Action) =>
    ({...common, scopes: [`policies.${action}`], audit: {resource: `${of}-policy`, action}}) as const
  return {
    one,
    list: {id: `${kind}_policies.list`, ...reads('list'), path: all, summary: `List ${of.replace('-', ' ')} policies`},
    create: {
      id: `${kind}_policies.create`,
      ...writes('create'),
      method: 'POST',
      path: all,
      summary: `Create a ${name}`,
    },
    get: {id: `${kind}_policies.get`, ...reads('read'), path: one, summary: `Show a ${name}`},
    update: {id: `${kind}_policies.update`, ...writes('update'), method: 'PUT', path: one, summary: update},
    delete: {
      id: `${kind}_policies.delete`,
      ...writes('delete'),
      method: 'DELETE',
      path: one,
      summary: `Archive a ${name}: it holds no calls any more`,
    },
    list_entities: {id: `${kind}_policies.list_entities`, ...reads('read'), path: `${one}/entities`, summary: entities},
  } as const
}
