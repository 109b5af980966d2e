import type {Provider} from './provider.ts'
import {vendorOperation} from './vendor-operations/find.ts'

/**
 * The model that runs when a call names none: `none`, as it reads, keeps or stops something; `indirect`, an object that
 * was made before names the model; `unknown`, the vendor's default.
 */
export type Execution = 'none' | 'indirect' | 'unknown'

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE'])

/** By the table of vendors' operations; `path` is the one after `/v1`, without its query. */
export function executionOf({slug}: Pick<Provider, 'slug'>, method: string, path: string): Execution {
  const operation = vendorOperation(slug, method, path)?.operation
  if (!operation) return READS.has(method) ? 'none' : 'unknown'
  if (operation.is_indirect) return 'indirect'
  return operation.models.length === 0 ? 'none' : 'unknown'
}
