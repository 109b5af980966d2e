import {Refusal} from '../base/errors.ts'
import {BlobFault, type Blobs} from '../ports/blobs/index.ts'
import {type FindBodies, type FindManyBodies, fromObject} from '../store/bodies/index.ts'
import type {Db} from '../store/database.ts'
import {findLogObjects} from '../store/log-objects.ts'
import type {LogBodiesTable, LogObjectsTable} from '../store/tables/traffic.ts'

export interface StoredBodies {
  readonly find: FindBodies
  readonly findMany: FindManyBodies
}

const AT_ONCE = 16

/**
 * Bodies that wait here for the log store, and those that it has. Refuses with `log_store.failed` where it does not
 * answer; an object that is gone was not kept.
 */
export function storedBodies(here: StoredBodies, blobs: Pick<Blobs, 'get'>, db: Db): StoredBodies {
  const fetched = async ({log_id, key, created_at}: LogObjectsTable): Promise<LogBodiesTable | undefined> => {
    try {
      const object = await blobs.get(key)
      return object && fromObject(log_id, created_at, object)
    } catch (fault) {
      const reason = fault instanceof BlobFault ? fault.message : 'What it has there is no object of a gateway.'
      throw new Refusal('log_store.failed', {reason}, {cause: fault})
    }
  }
  return {
    async find(row) {
      const found = await here.find(row)
      if (found) return found
      const [object] = await findLogObjects(db, [row.id])
      return object && fetched(object)
    },
    async findMany(rows, found) {
      const left = new Set(rows.map(({id}) => id))
      await here.findMany(rows, row => {
        if (left.delete(row.log_id)) found(row)
      })
      const objects = await findLogObjects(db, [...left])
      let next = 0
      const work = async () => {
        while (next < objects.length) {
          const row = await fetched(objects[next++]!)
          if (row) found(row)
        }
      }
      await Promise.all(Array.from({length: AT_ONCE}, work))
    },
  }
}
