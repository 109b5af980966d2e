import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {requestOf} from '../../cli/connect.ts'
import type {AnyOperation} from '../../src/admin/operation.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {newId, newTimeId} from '../../src/base/ids.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import type {Person} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'
import {askedInFull} from './contract/asked.ts'
import {type Furnished, furnished, ownerOf} from './contract/rows.ts'
import {ASKED, type Asked} from './matrix-rows.ts'

/**
 * What owners and admins see of archived workspaces: their past, the filters they keep to look at it, and kept answers,
 * which stay until they are cleared. And invites, which stay to be seen once they are cancelled.
 */
const PAST =
  /^(logs|analytics|traces|spans|log_exports|saved_filters|feedback|invites|cache)\.|^(pricing\.unpriced|usage\.list)$/

describe.each(KINDS)('what is archived, on %s,', kind => {
  let admin: Admin
  let owner: Person
  let kept: Furnished
  let gone: Furnished
  beforeAll(async () => {
    admin = await startAdmin({kind})
    owner = await ownerOf(admin)
    kept = await furnished(admin, owner)
    gone = await furnished(admin, owner)
    // of a workspace that is deleted nothing must be left, and what is the organisation's is deleted itself
    const by_hand = [
      'integrations.delete',
      'deployments.delete',
      'members.remove',
      'users.delete',
      'mcp_integrations.delete',
      'secret_references.delete',
      'domains.delete',
      'scim_tokens.delete',
      'identities.delete',
      'mcp_oauth_clients.delete',
    ]
    const removals = OPERATIONS.filter(({id}) => by_hand.includes(id))
    for (const operation of removals.toSorted((a, b) => by_hand.indexOf(a.id) - by_hand.indexOf(b.id)))
      for (const asked of askedInFull(operation.id, gone))
        expect((await send(operation, asked)).status, operation.id).toBe(200)
    const removal = OPERATIONS.find(({id}) => id === 'workspaces.delete')!
    expect((await send(removal, askedInFull(removal.id, gone)[0]!)).status).toBe(200)
    const reference = OPERATIONS.find(({id}) => id === 'secret_references.delete')!
    expect((await send(reference, ASKED[reference.id]!(gone))).status).toBe(200)
  }, 60_000)
  afterAll(() => admin.close())

  const send = (operation: AnyOperation, {params = {}, query = {}, body}: Asked) => {
    const {method, path} = requestOf(operation, {params, query})
    return admin.send(owner.token, method, path, body)
  }
  const nowhere = (): Furnished => {
    const idOf = (name: string) => (name === 'log' ? newTimeId(0) : name === 'integrations' ? [newId()] : newId())
    return Object.fromEntries(Object.keys(kept).map(name => [name, idOf(name)])) as unknown as Furnished
  }
  const asked = (id: string, place: Furnished) => askedInFull(id, place)[0]!
  const named = OPERATIONS.filter(({id}) => !PAST.test(id)).map(each => [each.id, each] as const)

  test.each(named)('is not there: %s', async (id, operation) => {
    // what names no row is the same question anywhere
    if (plain(asked(id, gone)) === plain(asked(id, kept))) return
    const other = nowhere()
    const [here, there] = [await send(operation, asked(id, gone)), await send(operation, asked(id, other))]
    expect([here.status, there.status], here.text).toEqual([404, 404])
    // the first that is not there is named, which need not be the same one
    if (here.body.data.errorCode === 'AB08') expect(blind(here.text, gone)).toBe(blind(there.text, other))
  })
})

function plain(asked: Asked): string {
  return JSON.stringify(asked).replace(/[^"]*[@.]example\.com|Group [^"]*/g, '')
}

/** A reply with the ids that the caller sent left out. */
function blind(text: string, place: Furnished): string {
  return Object.values(place)
    .flat()
    .reduce((left: string, id: string) => left.replaceAll(id, '?'), text)
}
