import {readFile} from 'node:fs/promises'
import {Counter, Gauge, type Registry} from 'prom-client'
import {after} from '../base/delay.ts'
import {readTrusted} from '../base/egress/trust.ts'
import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import type {SecretCounts} from '../secrets/notes.ts'
import type {OpenSecrets} from '../secrets/open.ts'
import type {MappedSecrets, ReferenceTest} from '../secrets/port.ts'
import type {TestedReference} from '../secrets/reference-test.ts'
import type {SecretServices} from '../secrets/services.ts'
import type {Settings} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import type {Remembered} from '../store/remembered.ts'
import {cloudIdentity, credentialOrigins} from './cloud-identity.ts'
import {openEgress} from './egress.ts'

export interface SecretParts {
  readonly settings: Settings
  readonly store: Pick<Store, 'db' | 'write'>
  readonly seal: Seal
  readonly log: Log
  /** The clock of the machine, by which others judge signatures and tokens. */
  readonly wall: () => number
  /** Null where nothing is counted. */
  readonly registry: Registry | null
}

/** The secrets of managers, for calls and for the administration. Nothing of it is loaded before the first use. */
export interface SecretManagers extends MappedSecrets {
  test(reference: TestedReference): Promise<ReferenceTest>
  readonly remembered: readonly Remembered[]
  close(): Promise<void>
}

const USUAL_AUTHORITY = 'https://login.microsoftonline.com'

export function openSecretManagers(parts: SecretParts): SecretManagers {
  let opened: (OpenSecrets & {close(): Promise<void>}) | null = null
  let opening: Promise<OpenSecrets> | null = null
  const counts = countsIn(parts.registry, () => opened?.values.oldest_ms() ?? 0)
  const open = () => {
    opening ??= load(parts, counts).then(loaded => {
      opened = loaded
      return loaded
    })
    return opening
  }
  const forget = (table: 'secret_references' | 'allowed_workspaces'): Remembered => ({
    of: new Set([table]),
    forget(ids) {
      for (const each of opened?.values.remembered ?? []) if (each.of.has(table)) each.forget(ids)
    },
  })
  return {
    valuesOf: mapped => opened?.fields.valuesOf(mapped) ?? open().then(({fields}) => fields.valuesOf(mapped)),
    refused: async (mapped, used) => (opened ? opened.fields.refused(mapped, used) : null),
    test: async reference => (await open()).test(reference),
    remembered: [forget('secret_references'), forget('allowed_workspaces')],
    async close() {
      await opening
      await opened?.close()
    },
  }
}

async function load({settings, store, seal, log, wall}: SecretParts, counts: SecretCounts) {
  const [{openSecrets}, {managerFetch}] = await Promise.all([
    import('../secrets/open.ts'),
    import('../secrets/fetch.ts'),
  ])
  const hosts = [...settings.trusted_custom_hosts, ...settings.secret_manager_hosts]
  const egress = openEgress(settings, {trusted: readTrusted(hosts)})
  const named = readTrusted(settings.secret_manager_hosts)
  const identity = cloudIdentity(settings)
  const container_url = identity.aws?.container?.url ?? null
  const fetch = managerFetch({egress, named: credentialOrigins(settings), container_url})
  const {azure_authority_host, aws_region, aws_default_region} = settings
  const services: SecretServices = {
    ...{store, seal, log, wall, after, fetch, identity, settings},
    random: Math.random,
    aws_domain: settings.aws_endpoint_domain,
    aws_region: aws_region ?? aws_default_region ?? null,
    azure_authority: azure_authority_host === USUAL_AUTHORITY ? null : azure_authority_host.replace(/\/$/, ''),
    pod_token: () => readFile(settings.vault_kubernetes_token_file, 'utf8'),
    isNamedHost: hostname => named.names(hostname),
  }
  return {
    ...openSecrets(services, counts),
    async close() {
      await fetch.close()
      await egress.destroy()
    },
  }
}

function countsIn(registry: Registry | null, oldest_ms: () => number): SecretCounts {
  if (!registry) return {fetched: () => undefined, servedStale: () => undefined}
  const registers = [registry]
  const fetches = new Counter({
    name: 'gateway_secret_fetches_total',
    help: 'Fetches from secret managers, by the kind of manager and their result.',
    labelNames: ['manager', 'result'],
    registers,
  })
  const stale = new Counter({
    name: 'gateway_secret_stale_served_total',
    help: 'Secrets that were used past their time, as their manager did not answer.',
    registers,
  })
  new Gauge({
    name: 'gateway_secret_age_seconds_max',
    help: 'How long ago the oldest secret in memory was fetched.',
    registers,
    collect() {
      this.set(oldest_ms() / 1000)
    },
  })
  return {
    fetched: (manager, result) => fetches.inc({manager, result}),
    servedStale: () => stale.inc(),
  }
}
