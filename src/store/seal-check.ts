import {type Seal, SealFault} from '../base/seal.ts'
import type {Store} from './database.ts'
import {readMeta, writeMeta} from './meta.ts'

const KEY = 'seal_canary'
const PLACE = {table: 'meta', column: 'value', row: KEY, organisation_id: ''}

/**
 * Refuses (`SealFault`) a sealing key other than the one this database was first opened with; notes it on the first use
 * (core rule 22).
 */
export async function checkSeal(store: Store, seal: Seal): Promise<void> {
  const known = await readMeta(store.db, KEY)
  if (known === undefined) {
    await store.write(db => writeMeta(db, KEY, seal.close('canary', PLACE).toString('base64')))
    return
  }
  try {
    seal.open(Buffer.from(known, 'base64'), PLACE)
  } catch (cause) {
    throw new SealFault(
      `The sealing key is not the one this database was made with. Give that one as GATEWAY_SEALING_KEY. ${(cause as Error).message}`,
      {cause},
    )
  }
}
