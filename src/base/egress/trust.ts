import {judge} from './address.ts'
import {type HostEntry, type HostList, hostList, readHostEntry} from './hosts.ts'
import {judgeName} from './names.ts'

/**
 * The hosts that TRUSTED_CUSTOM_HOSTS names, from its `entries`: host, `*.domain` (the domain and all below it), IP
 * address, CIDR range, or a URL, of which the host counts. `localhost` also names all below it. An entry that cannot be
 * read, and one that would open a metadata service, is an Error that quotes it: the gateway must not start with a wall
 * other than the configured one.
 */
export function readTrusted(entries: readonly string[]): HostList {
  return hostList(entries.filter(entry => entry.trim()).flatMap(readTrustedEntry))
}

function readTrustedEntry(text: string): HostEntry[] {
  const entry = readHostEntry(text)
  const quoted = `TRUSTED_CUSTOM_HOSTS: ${JSON.stringify(text.trim().slice(0, 100))}`
  if (!entry) {
    throw new Error(
      `${quoted} is not a host, *.domain, IP address, CIDR range or URL; for example models.lan,*.ai.example.com,10.20.0.0/16.`,
    )
  }
  if (isMetadata(entry))
    throw new Error(`${quoted} is a cloud metadata or cluster service, which no setting opens. Remove it.`)
  return 'name' in entry && entry.name === 'localhost' ? [{domain: 'localhost'}] : [entry]
}

/** A range that holds more than metadata addresses is allowed: those inside it stay closed when a socket is opened. */
function isMetadata(entry: HostEntry): boolean {
  if ('range' in entry) return !entry.text.includes('/') && judge(entry.text) === 'metadata'
  return judgeName('name' in entry ? entry.name : entry.domain) === 'metadata'
}
