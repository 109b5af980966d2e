import {object, parsedObject} from '../../base/json-object.ts'
import {LineTooLongFault, linesOf} from '../../base/lines.ts'
import {FormFault, readParts} from '../../base/multipart-stream.ts'
import {MAX_ROW_BYTES} from '../../providers/jobs/rows.ts'
import type {Call} from '../call/call.ts'
import {checkNamed} from '../call/model-access.ts'
import {modelFor, type Target} from '../targets/target.ts'

const MAX_PURPOSE_BYTES = 64

/**
 * Refuses (412) a file for batches of which a row names no model that the lists allow; gives the models of its rows.
 * Null for another file, and for one that cannot be read: no batch of it is run under a list.
 */
export async function modelsOfRows({body, incoming, caller}: Call, target: Target): Promise<readonly string[] | null> {
  if (body.kind !== 'form') return null
  const models = new Set<string>()
  let purpose = incoming.own.values['file-purpose'] ?? ''
  let is_read = true
  try {
    for await (const part of readParts(once(body.bytes), incoming.headers['content-type'] ?? '')) {
      if (part.name === 'purpose') purpose = await textOf(part.content)
      if (part.file_name === null) continue
      for await (const {bytes} of linesOf(part.content, MAX_ROW_BYTES)) {
        const row = parsedObject(bytes.toString())
        if (!row) is_read = false
        else {
          const {model} = object(row.body ?? row.params)
          models.add(typeof model === 'string' ? modelFor(target.provider, model) : '')
        }
        if (!is_read) break
      }
    }
  } catch (fault) {
    if (fault instanceof FormFault || fault instanceof LineTooLongFault) return null
    throw fault
  }
  if (purpose !== 'batch' || !is_read) return null
  for (const model of models) checkNamed(target, {caller}, model)
  return [...models]
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function textOf(content: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const piece of content) {
    text += piece.toString()
    if (text.length > MAX_PURPOSE_BYTES) break
  }
  return text.trim()
}
