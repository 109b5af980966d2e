import {object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {word} from '../gemini/read.ts'
import {seconds, whole} from '../jobs/objects.ts'
import type {ObjectStore, ObjectUri, StoredObject} from '../jobs/store.ts'
import type {Upstream} from '../operation.ts'
import type {Json} from '../translation.ts'

export const GCS = 'storage'

/**
 * Google Cloud Storage. Objects are written by the XML API, which takes a stream of unknown length ("Streaming
 * uploads", chunked transfer encoding) and keeps none that broke off; all else is the JSON API's (Objects: get, list,
 * delete).
 */
export function gcsStore({ask}: Upstream): ObjectStore {
  return {
    async put(place, {content, content_type}) {
      let bytes = 0
      const counted = async function* () {
        for await (const piece of content) {
          bytes += piece.length
          yield piece
        }
      }
      const {bucket, key} = place
      const path = `/${uriPart(bucket)}/${key
        .split('/')
        .map(part => uriPart(part))
        .join('/')}`
      const reply = await ask({
        side: GCS,
        method: 'PUT',
        path,
        headers: {'content-type': content_type},
        body: counted(),
      })
      reply.drop()
      return bytes
    },
    async head(place) {
      return storedOf(await (await ask({side: GCS, method: 'GET', path: pathOf(place)})).json())
    },
    async read(place) {
      return (await ask({side: GCS, method: 'GET', path: `${pathOf(place)}?alt=media`})).body
    },
    async remove(place) {
      ;(await ask({side: GCS, method: 'DELETE', path: pathOf(place)})).drop()
    },
    async list(bucket, prefix, token, size) {
      const query = new URLSearchParams({prefix, maxResults: String(size), ...(token && {pageToken: token})})
      const path = `/storage/v1/b/${uriPart(bucket)}/o?${query}`
      const {items, nextPageToken} = await (await ask({side: GCS, method: 'GET', path})).json()
      return {items: (Array.isArray(items) ? items : []).map(item => storedOf(object(item))), next: word(nextPageToken)}
    },
  }
}

function storedOf({name, size, timeCreated}: Json): StoredObject {
  return {key: word(name) ?? '', bytes: whole(size), created_at: seconds(timeCreated)}
}

function pathOf({bucket, key}: ObjectUri): string {
  return `/storage/v1/b/${uriPart(bucket)}/o/${uriPart(key)}`
}
