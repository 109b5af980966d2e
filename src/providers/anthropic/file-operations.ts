import type {ProviderOperations} from '../operation.ts'
import {batches} from './batches.ts'
import {faultIn} from './errors.ts'
import {files} from './files.ts'

/** Files and message batches of Anthropic's own API. */
export const anthropicOperations: ProviderOperations = {endpoints: {...files, ...batches}, fault: faultIn}
