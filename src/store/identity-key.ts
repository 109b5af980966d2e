import type {Seal} from '../base/seal.ts'
import type {Store} from './database.ts'
import {readMeta} from './meta.ts'

const KEY = 'identity_key'
const PLACE = {table: 'meta', column: 'value', row: KEY, organisation_id: ''}

/**
 * The private key (PEM) that identity tokens are signed with where no setting gives one: made at first need, one for
 * all processes of a database.
 */
export async function keptIdentityKey(
  store: Pick<Store, 'db' | 'write'>,
  seal: Seal,
  make: () => Promise<string>,
): Promise<string> {
  const known = await readMeta(store.db, KEY)
  if (known !== undefined) return seal.open(Buffer.from(known, 'base64'), PLACE)
  const value = seal.close(await make(), PLACE).toString('base64')
  const kept = await store.write(async db => {
    await db
      .insertInto('meta')
      .values({key: KEY, value})
      .onConflict(conflict => conflict.column('key').doNothing())
      .execute()
    return readMeta(db, KEY)
  })
  return seal.open(Buffer.from(kept!, 'base64'), PLACE)
}
