/**
 * Why a host name is refused before anyone looks it up. `metadata`: a credentials or cluster service, always closed.
 * `borrowed`: a name that leads wherever its asker likes, or into the cluster; open when trusted by that name.
 * `internal`: a name of a private network; open when trusted.
 */
export type NameVerdict = 'metadata' | 'borrowed' | 'internal'

/** Why `hostname` (lower case, no trailing dot, not an address) is refused; null when it is an ordinary public name. */
export function judgeName(hostname: string): NameVerdict | null {
  if (METADATA.has(hostname) || hasSuffix(hostname, METADATA_SUFFIXES) || /^kubernetes\.default(\.|$)/.test(hostname))
    return 'metadata'
  if (hasSuffix(hostname, BORROWED_SUFFIXES)) return 'borrowed'
  return !hostname.includes('.') || hasSuffix(hostname, INTERNAL_SUFFIXES) ? 'internal' : null
}

/** True when `hostname` is a `suffix` or below it. The walk is by label, so its cost is the number of labels. */
export function hasSuffix(hostname: string, suffixes: ReadonlySet<string>): boolean {
  for (let at = 0; ; at = hostname.indexOf('.', at) + 1) {
    if (suffixes.has(hostname.slice(at))) return true
    if (hostname.indexOf('.', at) < 0) return false
  }
}

const METADATA: ReadonlySet<string> = new Set(['metadata', 'instance-data', 'kubernetes'])

const METADATA_SUFFIXES: ReadonlySet<string> = new Set([
  'metadata.google.internal',
  'metadata.gce.internal',
  'metadata.goog',
  'metadata.azure.com',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.internal',
  'internal.cloudapp.net',
  'ec2.internal',
  'compute.internal',
  'consul',
])

/**
 * Services that answer with the address written in the name or with loopback, and the names of a Kubernetes cluster.
 */
const BORROWED_SUFFIXES: ReadonlySet<string> = new Set([
  'nip.io',
  'sslip.io',
  'xip.io',
  'localtest.me',
  'lvh.me',
  'vcap.me',
  'lacolhost.com',
  'traefik.me',
  'localhost.run',
  'rbndr.us',
  '1u.ms',
  'cluster.local',
])

/** Never delegated in the public root, or reserved for one's own network (RFC 6761, RFC 8375, ICANN). */
const INTERNAL_SUFFIXES: ReadonlySet<string> = new Set([
  'local',
  'localdomain',
  'localhost',
  'internal',
  'intranet',
  'lan',
  'home',
  'home.arpa',
  'corp',
  'private',
  'test',
  'invalid',
  'onion',
])
