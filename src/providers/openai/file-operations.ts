import {uriPart} from '../../base/uri-part.ts'
import type {ProviderOperations} from '../operation.ts'
import {UnsupportedInputFault} from '../translation.ts'
import {plainFault} from './fault.ts'

/** Operations that providers of OpenAI's format lack: the output of a batch by the batch's id (docs/files.md, Rows). */
export const openaiOperations: ProviderOperations = {
  endpoints: {
    async getBatchOutput({id}, {ask}) {
      const batch = await (
        await ask({method: 'GET', endpoint: 'retrieveBatch', path: `/batches/${uriPart(id)}`})
      ).json()
      const {output_file_id: output, error_file_id: errors, status} = batch
      const file = typeof output === 'string' && output !== '' ? output : errors
      if (typeof file !== 'string' || file === '')
        throw new UnsupportedInputFault('id', `the batch has no output: it is ${String(status)}`)
      const path = `/files/${uriPart(file)}/content`
      const {body} = await ask({method: 'GET', endpoint: 'retrieveFileContent', path})
      return {content: body, content_type: 'application/octet-stream'}
    },
  },
  fault: plainFault,
}
