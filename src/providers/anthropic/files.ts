import {object} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {StoredFile} from '../../schema/file-store.ts'
import {formOf} from '../jobs/form.ts'
import {fileObject, seconds, whole} from '../jobs/objects.ts'
import {listed} from '../jobs/pages.ts'
import {openUpload} from '../jobs/upload.ts'
import type {OperationInput, ProviderOperation} from '../operation.ts'
import {InvalidResponse, type Json, UnsupportedInput} from '../translation.ts'
import {batchAt, batchInput, batchOf, isBatch, resultsOf} from './batches.ts'

const BETA = 'files-api-2025-04-14'

/**
 * OpenAI's files ⇄ the Files API, a beta (platform.claude.com/docs, Files API). What is uploaded for a batch stays here: Anthropic gives no
 * uploaded file back, and wants a batch's rows with the batch. The output of a batch is a file under the batch's own id.
 */
export const files: Partial<Record<EndpointName, ProviderOperation>> = {
  async uploadFile(asked, {ask}) {
    const upload = await openUpload(asked, {batch: batchInput})
    if (upload.purpose === 'batch') return {json: shelved(await asked.shelf.put(upload))}
    const {headers, body} = formOf([{name: 'file', ...upload}])
    const said = await (await ask({method: 'POST', path: '/files', headers: {...headers, ...beta(asked)}, body})).json()
    return {json: fileOf(said, upload.purpose)}
  },
  async listFiles(asked, {ask}) {
    const kept = (await asked.shelf.list()).map(shelved)
    const purpose = asked.query.get('purpose')
    return listed(asked, async (token, size) => {
      if (token === null) return {items: purpose === null || purpose === 'batch' ? kept : [], next: purpose === 'batch' ? null : ''}
      const after = token === '' ? '' : `&after_id=${encodeURIComponent(token)}`
      const {data, has_more, last_id} = await (
        await ask({method: 'GET', path: `/files?limit=${size}${after}`, headers: beta(asked)})
      ).json()
      const items = (Array.isArray(data) ? data : []).map(each => fileOf(object(each)))
      return {items, next: has_more === true && typeof last_id === 'string' ? last_id : null}
    })
  },
  async retrieveFile(asked, upstream) {
    const kept = await asked.shelf.find(asked.id)
    if (kept) return {json: shelved(kept)}
    if (isBatch(asked.id)) {
      const {ended_at, created_at} = batchOf(await batchAt(asked, upstream))
      const filename = `${asked.id}_output.jsonl`
      return {json: fileObject({id: asked.id, bytes: 0, created_at: ended_at ?? created_at ?? 0, filename, purpose: 'batch_output'})}
    }
    return {json: fileOf(await (await upstream.ask({method: 'GET', path: pathOf(asked.id), headers: beta(asked)})).json())}
  },
  async deleteFile(asked, {ask}) {
    const kept = await asked.shelf.find(asked.id)
    if (kept) await asked.shelf.remove(kept)
    else (await ask({method: 'DELETE', path: pathOf(asked.id), headers: beta(asked)})).drop()
    return {json: {id: asked.id, object: 'file', deleted: true}}
  },
  async retrieveFileContent(asked, upstream) {
    const kept = await asked.shelf.find(asked.id)
    if (kept) return {content: asked.shelf.read(kept), content_type: 'application/octet-stream'}
    if (isBatch(asked.id)) return resultsOf(asked, upstream)
    const reply = await upstream.ask({method: 'GET', path: `${pathOf(asked.id)}/content`, headers: beta(asked)})
    return {content: reply.body, content_type: reply.headers['content-type'] ?? 'application/octet-stream'}
  },
}

/** The beta of the files beside those that the options name. */
function beta({context}: OperationInput): Record<string, string> {
  const said = (context.options.anthropic_beta ?? '').split(',').map(each => each.trim())
  return {'anthropic-beta': [...new Set([...said.filter(each => /^[\w.-]{1,64}$/.test(each)), BETA])].join(',')}
}

function fileOf(said: Json, purpose = 'user_data'): Json {
  const {id, filename, size_bytes, created_at} = said
  if (typeof id !== 'string') throw new InvalidResponse('expected the id of a file')
  return fileObject({
    id,
    bytes: whole(size_bytes),
    created_at: seconds(created_at) ?? 0,
    filename: typeof filename === 'string' ? filename : '',
    purpose,
  })
}

function shelved({id, bytes, created_at, file_name, purpose}: StoredFile): Json {
  return fileObject({id, bytes, created_at, filename: file_name, purpose})
}

function pathOf(id: string): string {
  if (!/^\w{1,128}$/.test(id)) throw new UnsupportedInput('id', 'expected the id of a file')
  return `/files/${id}`
}
