import type {EndpointRequest} from '../provider.ts'

/**
 * A version of the Gemini API at the beginning of a path, once or, where a client's base has one too, several times.
 */
const VERSIONS = /^(?:\/v1(?:beta|alpha)?)*(\/v1(?:beta|alpha)?)(?=\/)/
const VERSION_AT_END = /\/v1(?:beta|alpha)?$/
/** Files go up and down below prefixes of their own, which hold the version. */
const TRANSFER = /^\/(?:upload|download)\//

/**
 * The path of a Gemini client below the API's host, which has no version in it: the client's own, the last where it
 * says several, else `v1beta`, which has all operations. A custom host may end in the version.
 */
export function googlePath({endpoint, path, query, base_path}: EndpointRequest): string | undefined {
  if (endpoint !== 'proxy' || TRANSFER.test(path)) return undefined
  const version = VERSIONS.exec(path)
  const bare = version ? path.slice(version[0].length) : path
  if (base_path !== undefined && VERSION_AT_END.test(base_path)) return bare + query
  return `${version?.[1] ?? '/v1beta'}${bare}${query}`
}
