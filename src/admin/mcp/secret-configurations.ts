import {isSecretName} from '../audit.ts'

/** True for the way to a secret: below the name of one, however deep. Names of headers and claims are none. */
export function isSecretConfiguration(path: readonly (string | number)[]): boolean {
  const [key, member] = path
  if (key === 'forward_headers' || key === 'tool_prices') return false
  if (key === 'jwt_validation') return member === 'introspectClientSecret'
  return path.some(part => typeof part === 'string' && isSecretName(part))
}
