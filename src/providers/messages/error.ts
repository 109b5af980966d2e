import type {Json, ProviderFault} from '../translation.ts'

/**
 * Error types by status (docs.anthropic.com, Errors). Other statuses: `api_error` from 500 on, `invalid_request_error`
 * below.
 */
const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}
const NAMES: ReadonlySet<string> = new Set(['invalid_request_error', 'api_error', ...Object.values(TYPES)])

/** An error with its status. */
export function messageError(status: number, {message}: ProviderFault): Json {
  return {
    type: 'error',
    error: {type: TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error'), message},
  }
}

/** An error inside a stream, where no status tells what it is: by what its type and code say. */
export function streamError({message, type, code}: ProviderFault): Json {
  return {type: 'error', error: {type: [type, code].map(typeOf).find(Boolean) ?? 'api_error', message}}
}

function typeOf(word: string | null): string | undefined {
  if (!word) return undefined
  if (NAMES.has(word)) return word
  if (/^\d{3}$/.test(word)) return TYPES[Number(word)]
  if (/rate_limit|quota|throttl/i.test(word)) return 'rate_limit_error'
  return /overload/i.test(word) ? 'overloaded_error' : undefined
}
