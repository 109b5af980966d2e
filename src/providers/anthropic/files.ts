import {object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {StoredFile} from '../../schema/file-store.ts'
import {formOf} from '../jobs/form.ts'
import {fileObject, seconds, whole} from '../jobs/objects.ts'
import {listed} from '../jobs/pages.ts'
import {openUpload} from '../jobs/upload.ts'
import type {OperationInput, ProviderOperation} from '../operation.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../translation.ts'
import {batchAt, batchInput, batchOf, isBatch, resultsOf} from './batches.ts'

const BETA = 'files-api-2025-04-14'

/**
 * OpenAI's files ⇄ the Files API, a beta (platform.claude.com/docs, Files API). What is uploaded for a batch stays
 * here: Anthropic gives no uploaded file back, and wants a batch's rows with the batch. The output of a batch is a file
 * under the batch's own id.
 */
export const files: Partial<Record<EndpointName, ProviderOperation>> = {
  async uploadFile(input, {ask}) {
    const upload = await openUpload(input, {batch: batchInput})
    if (upload.purpose === 'batch') return {json: shelved(await input.shelf.put(upload))}
    const {headers, body} = formOf([{name: 'file', ...upload}])
    const file = await (await ask({method: 'POST', path: '/files', headers: {...headers, ...beta(input)}, body})).json()
    return {json: fileOf(file, upload.purpose)}
  },
  async listFiles(input, {ask}) {
    const kept = (await input.shelf.list()).map(shelved)
    const purpose = input.query.get('purpose')
    return listed(input, async (token, size) => {
      if (token === null)
        return {items: purpose === null || purpose === 'batch' ? kept : [], next: purpose === 'batch' ? null : ''}
      const after = token === '' ? '' : `&after_id=${uriPart(token)}`
      const {data, has_more, last_id} = await (
        await ask({method: 'GET', path: `/files?limit=${size}${after}`, headers: beta(input)})
      ).json()
      const items = (Array.isArray(data) ? data : []).map(each => fileOf(object(each)))
      return {items, next: has_more === true && typeof last_id === 'string' ? last_id : null}
    })
  },
  async retrieveFile(input, upstream) {
    const kept = await input.shelf.find(input.id)
    if (kept) return {json: shelved(kept)}
    if (isBatch(input.id)) {
      const {ended_at, created_at} = batchOf(await batchAt(input, upstream))
      const filename = `${input.id}_output.jsonl`
      return {
        json: fileObject({
          id: input.id,
          bytes: 0,
          created_at: ended_at ?? created_at ?? 0,
          filename,
          purpose: 'batch_output',
        }),
      }
    }
    return {
      json: fileOf(await (await upstream.ask({method: 'GET', path: pathOf(input.id), headers: beta(input)})).json()),
    }
  },
  async deleteFile(input, {ask}) {
    const kept = await input.shelf.find(input.id)
    if (kept) await input.shelf.remove(kept)
    else (await ask({method: 'DELETE', path: pathOf(input.id), headers: beta(input)})).drop()
    return {json: {id: input.id, object: 'file', deleted: true}}
  },
  async retrieveFileContent(input, upstream) {
    const kept = await input.shelf.find(input.id)
    if (kept) return {content: input.shelf.read(kept), content_type: 'application/octet-stream'}
    if (isBatch(input.id)) return resultsOf(input, upstream)
    const reply = await upstream.ask({method: 'GET', path: `${pathOf(input.id)}/content`, headers: beta(input)})
    return {content: reply.body, content_type: reply.headers['content-type'] ?? 'application/octet-stream'}
  },
}

/** The beta of the files beside those that the options name. */
function beta({context}: OperationInput): Record<string, string> {
  const names = (context.options.anthropic_beta ?? '').split(',').map(each => each.trim())
  return {'anthropic-beta': [...new Set([...names.filter(each => /^[\w.-]{1,64}$/.test(each)), BETA])].join(',')}
}

function fileOf(file: Json, purpose = 'user_data'): Json {
  const {id, filename, size_bytes, created_at} = file
  if (typeof id !== 'string') throw new InvalidResponseFault('expected the id of a file')
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
  if (!/^\w{1,128}$/.test(id)) throw new UnsupportedInputFault('id', 'expected the id of a file')
  return `/files/${id}`
}
