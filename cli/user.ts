import type {Gateway} from './connect.ts'
import {CommandFault, EXIT} from './fault.ts'

/** The id of the user of the organisation whose e-mail address or id is `user`. */
export async function userFor({call}: Gateway, user: string): Promise<string> {
  if (!user.includes('@')) return user
  const {data} = await call('users.list', {query: {email: user}})
  if (data[0]) return data[0].id
  throw new CommandFault(`No user of the organisation has the address ${user}.`, {
    exit: EXIT.not_found,
    code: 'user_not_found',
    next: 'gateway users list shows them; gateway invites create brings one in.',
  })
}

/** The id of the member of a workspace whose e-mail address or id is `user`. */
export async function memberFor({call}: Gateway, workspaceId: string, user: string): Promise<string> {
  if (!user.includes('@')) return user
  const {data} = await call('members.list', {params: {workspaceId}, query: {email: user}})
  if (data[0]) return data[0].id
  throw new CommandFault(`No member of the workspace has the address ${user}.`, {
    exit: EXIT.not_found,
    code: 'member_not_found',
    next: 'gateway members list shows them.',
  })
}
