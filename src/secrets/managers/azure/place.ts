import {readBaseUrl} from '../../../base/egress/base-url.ts'

/** Clouds by the domain of their vaults. Source: Microsoft Learn, "Azure Key Vault DNS suffixes"; Entra endpoints. */
const CLOUDS: readonly (readonly [suffix: string, authority: string])[] = [
  ['vault.azure.net', 'https://login.microsoftonline.com'],
  ['vault.usgovcloudapi.net', 'https://login.microsoftonline.us'],
  ['vault.azure.cn', 'https://login.chinacloudapi.cn'],
]

/** A key vault: where it is, who gives tokens for it, and their scope. */
export interface AzureVault {
  readonly url: string
  readonly hostname: string
  readonly authority: string
  readonly scope: string
  /** True for a host of Azure itself. */
  readonly is_azures: boolean
}

/** `authority`: of the settings, in place of the cloud's own. */
export function azureVault(url: string, authority: string | null): AzureVault {
  const {hostname} = readBaseUrl(url)
  const cloud = CLOUDS.find(([suffix]) => hostname.endsWith(`.${suffix}`))
  const [suffix, of_cloud] = cloud ?? CLOUDS[0]!
  return {
    url: url.trim().replace(/\/$/, ''),
    hostname,
    authority: authority ?? of_cloud,
    scope: `https://${suffix}/.default`,
    is_azures: cloud !== undefined,
  }
}

/** The name of a secret, and its version where one is named; null for what no vault takes. */
export function azureSecret(path: string): {readonly name: string; readonly version: string | null} | null {
  const [, name, version = null] = /^([0-9A-Za-z-]{1,127})(?:\/([0-9a-f]{32}))?$/.exec(path) ?? []
  return name === undefined ? null : {name, version}
}
