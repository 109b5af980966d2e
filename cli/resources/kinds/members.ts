import {unchecked} from '../../client.ts'
import {type ApplyTarget, eachOf, everyRow, NO_SECRETS, type ResourceKind} from '../kind.ts'

/** Members of workspaces, by the e-mail addresses of users that the organisation has. */
export const member: ResourceKind = {
  name: 'member',
  folder: 'members',
  lives_in: 'workspace',
  needs: ['workspace'],
  remark: 'Its slug is the e-mail address of a user. Users come by invitation, by sign-in or by a directory.',
  create: 'members.update',
  fields: {role: {}},
  secrets: NO_SECRETS,
  async read({gateway, workspaces, slugOf}) {
    const lists = await eachOf(workspaces, async workspace => {
      const rows = await everyRow(gateway, 'members.list', {}, {workspaceId: slugOf(workspace)})
      return rows.map(({id, email, role}) => ({kind: 'member', workspace, slug: email, id, spec: {role}}))
    })
    return lists.flat()
  },
  body: ({spec}) => spec,
  async make(place, {workspace, slug, spec}) {
    const id = (await userOf(place, slug))!
    await place.gateway.call('members.add', {
      params: {workspaceId: place.slugOf(workspace!)},
      body: {users: [unchecked({id, role: spec.role})]},
    })
    return undefined
  },
  async change({gateway, slugOf}, {workspace, spec}, {id}) {
    await gateway.call('members.update', {
      params: {workspaceId: slugOf(workspace!), userId: id},
      body: unchecked({role: spec.role}),
    })
  },
  async remove({gateway, slugOf}, {workspace, id}) {
    await gateway.call('members.remove', {params: {workspaceId: slugOf(workspace!), userId: id}})
  },
  faults: async ({slug}, _, place) =>
    (await userOf(place, slug)) ? [] : [`the slug is the e-mail address of a user, and none has ${slug.slice(0, 80)}`],
}

async function userOf({users}: ApplyTarget, email: string): Promise<string | undefined> {
  return (await users()).emails.get(email.toLowerCase())
}
